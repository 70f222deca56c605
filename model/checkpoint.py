"""A trained model with its tokenizer and card: what people load, trace, classify and generate with."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from model import families
from model.config import Config
from model.decoding.generation import Writer, make_settings
from model.decoding.logits_processors import NO_PROCESSORS
from model.decoding.prompt import decoder_of, most_ids, start_ids, written_trace
from model.decoding.steps import ChosenToken, Generation, likeliest, write
from model.device import choose_device
from model.edits import NO_EDITS, Edits
from model.errors import CheckpointError, InputError, printable
from model.loading import checkpoint_files, hub
from model.tokenizer import Tokenizer
from model.trace import Trace
from model.tracing.description import CutText, cut, produced_target, typed_target, with_texts, with_tokens
from model.tracing.forward_pass import checked_ids, forward_pass
from model.tracing.limits import MOST_TOKENS, longest_trace
from model.transformer import Transformer

CHECKPOINTS = Path(__file__).resolve().parent.parent / "checkpoints"


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A model on its device, in evaluation mode. ``card`` says how it was made and what was measured.

    family: the kind of checkpoint that its files are of.
    """

    name: str
    model: Transformer
    tokenizer: Tokenizer
    card: dict[str, Any]
    device: torch.device
    family: families.Family = families.OWN

    @property
    def label(self) -> str:
        """What sentences call it: a model of the hub without the commit, which its name ends with."""
        return self.name.partition("@")[0]

    @property
    def config(self) -> Config:
        """The model's sizes and parts."""
        return self.model.config

    @property
    def longest(self) -> int:
        """How many tokens a trace may have: the model's own limit, 512, or what fits the memory for a trace."""
        return longest_trace(self.config)

    def trace(
        self,
        text: str,
        pair: str | None = None,
        target: str | tuple[int, ...] | None = None,
        edits: Edits = NO_EDITS,
        *,
        logits: bool = True,
    ) -> Trace:
        """Everything the model computes for a text, without gradients, as float32 on the CPU.

        target: the decoder's text in an encoder-decoder, or the ids of one that it produced, the last of which it does
        not read; None: what greedy decoding says. A text that is too long is cut; ``dropped`` in the stack's trace says
        by how many tokens. Raises InputError for a text that cannot be used, for a pair, target or edit that this
        architecture has no place for.
        """
        if pair is not None and not self.config.segments:
            raise InputError(f"{self.label} reads one text, not a pair: leave the second text out.")
        source = cut(self.tokenizer.encode(text, pair), self.longest)
        ids = source.encoding.ids
        if not self.config.is_encoder_decoder:
            if target is not None:
                raise InputError(f"{self.label} has no decoder beside its encoder: leave the target out.")
            types = source.encoding.segments if self.config.segments > 1 else None
            return with_texts(self.trace_ids(ids, type_ids=types, edits=edits, logits=logits), source)
        if isinstance(target, str):
            typed = cut(typed_target(target, self.tokenizer, self.config), self.longest)
            trace = self.trace_ids(ids, typed.encoding.ids, edits=edits, logits=logits)
            return with_texts(trace, source, typed)
        if target is None:
            trace = self._greedy_trace(ids, edits, logits=logits)
        else:
            trace = self.trace_ids(ids, (*start_ids(self.config, ids), *target[:-1]), edits=edits, logits=logits)
        return self._with_produced(trace, source)

    def trace_ids(
        self,
        ids: list[int] | tuple[int, ...],
        target_ids: list[int] | tuple[int, ...] | None = None,
        type_ids: list[int] | tuple[int, ...] | None = None,
        edits: Edits = NO_EDITS,
        *,
        logits: bool = True,
    ) -> Trace:
        """The trace of ids taken verbatim: nothing is added, nothing cut.

        Raises InputError for ids outside the vocabulary, too many of them, or none; for type_ids (the segment of
        every id; None: 0) where the model has no segments.
        """
        trace = forward_pass(self.model, ids, target_ids, type_ids, edits, logits=logits, name=self.label)
        return with_tokens(trace, self.tokenizer)

    def trace_again(self, trace: Trace, edits: Edits = NO_EDITS) -> Trace:
        """The tokens of a trace through the model once more; the decoder of a pair reads what it read before."""
        ids, *target = [stack.ids.tolist() for stack in (trace.encoder, trace.decoder) if stack is not None]
        types = trace.encoder.segments if trace.encoder is not None and self.config.segments > 1 else None
        return self.trace_ids(ids, target[0] if target else None, type_ids=types, edits=edits)

    def _greedy_trace(self, ids: tuple[int, ...], edits: Edits, *, logits: bool) -> Trace:
        """The trace of a pair whose target is what greedy decoding says: of one pass, the same to the bit each time."""
        start, most = start_ids(self.config, ids), most_ids(self.config, ids, edits, MOST_TOKENS)
        decoder = decoder_of(self.model, ids, edits, name=self.label)
        written = list(write(decoder, start, most, likeliest, NO_PROCESSORS))
        trace = written_trace(decoder, ids, start, written, name=self.label, logits=logits)
        return with_tokens(trace, self.tokenizer)

    def _with_produced(self, trace: Trace, source: CutText) -> Trace:
        """The trace with the facts of its text and, in a pair, of what its decoder produced."""
        if not self.config.is_encoder_decoder or trace.decoder is None:
            return with_texts(trace, source)
        target = produced_target(trace.decoder.ids.tolist(), self.tokenizer, self.config)
        return with_texts(trace, source, CutText(encoding=target))

    def classify(self, text: str, edits: Edits = NO_EDITS) -> dict[str, float]:
        """The probability of every label. Raises InputError where the model has no classifier."""
        return self.probabilities(self.trace(text, edits=edits))

    def probabilities(self, trace: Trace) -> dict[str, float]:
        """The probability of every label in a trace of this model."""
        if not self.config.labels or trace.logits is None:
            raise InputError(f"{self.label} has no classifier: it was not trained to choose between labels.")
        return dict(zip(self.config.labels, trace.logits.double().softmax(dim=-1).tolist(), strict=True))

    def likeliest(self, trace: Trace, position: int = -1) -> tuple[str, float]:
        """The token that a trace of this model finds likeliest at a position, and its probability.

        In a decoder that is the token after the position, in an encoder the one in its place. Raises InputError
        where the model does not predict tokens.
        """
        if trace.logits is None or trace.logits.ndim != 2:
            raise InputError(f"{self.label} does not predict tokens: it has no head for them.")
        probability, token_id = trace.logits[position].double().softmax(dim=-1).max(dim=-1)
        return self.tokenizer.pieces([int(token_id)])[0], float(probability)

    def generate(
        self,
        text: str,
        max_tokens: int = 40,
        method: str = "greedy",
        edits: Edits = NO_EDITS,
        written: Sequence[int] = (),
        **options: Any,
    ) -> Generation:
        """Continue a text (decoder) or produce its target (encoder-decoder): the last that ``stream`` yields."""
        *_, last = self.stream(text, max_tokens, method, edits, written, **options)
        return last

    def stream(
        self,
        text: str,
        max_tokens: int = 40,
        method: str = "greedy",
        edits: Edits = NO_EDITS,
        written: Sequence[int] = (),
        **options: Any,
    ) -> Iterator[Generation]:
        """What ``generate`` has after every token; whoever stops asking keeps the last, which is complete in itself.

        written: ids to go on after, as if they had been produced, by the same seed in sampling. options: the fields
        of ``Settings`` (width, length_penalty, seed) and of ``LogitsProcessors`` (temperature, top_k, top_p,
        repetition_penalty).

        It ends with the end token, after ``max_tokens``, where the model can read no further, and in a pair after
        twice the source's tokens and 30 more. No token is forced or forbidden, whatever a checkpoint from elsewhere
        asks for (``forced_bos_token_id``, ``bad_words_ids`` …), and its first end token is the only one. Raises
        InputError where there is no decoder, for a text that cannot be used, and for options out of range.
        """
        settings = make_settings(max_tokens=max_tokens, method=method, **options)
        if not self.config.has_decoder:
            raise InputError(f"{self.label} is an encoder: it reads text and cannot write any.")
        source = cut(self.tokenizer.encode(text), self.longest)
        ids = source.encoding.ids
        started = (*start_ids(self.config, ids), *written)
        for read in (tuple(written) or started, started):
            checked_ids(self.model, read, "written")
        longest = most_ids(self.config, ids, edits, len(written) + max_tokens)
        rows = settings.width if settings.method == "beam" else None
        decoder = decoder_of(self.model, ids, edits, name=self.label, rows=rows, longest=longest)

        def to_trace(chosen: Sequence[ChosenToken], rows: Sequence[int]) -> Trace:
            trace = written_trace(decoder, ids, started, chosen, rows, name=self.label)
            return self._with_produced(with_tokens(trace, self.tokenizer), source)

        return Writer(
            decoder=decoder,
            tokenizer=self.tokenizer,
            settings=settings,
            started=started,
            longest=longest,
            to_trace=to_trace,
            earlier=len(written),
        ).stream()


def available_checkpoints(architecture: str | None = None) -> list[str]:
    """The names that ``load_checkpoint`` knows: the folders in checkpoints/ that hold a config.

    architecture: those of this one alone, as far as config.json and the names of the tensors tell.
    """
    if not CHECKPOINTS.is_dir():
        return []
    with os.scandir(CHECKPOINTS) as entries:  # Path.glob takes longer, and every run of a page asks often
        names = sorted(entry.name for entry in entries if Path(entry.path, checkpoint_files.CONFIG).exists())
    if architecture is None:
        return names
    return [name for name in names if architecture_of(CHECKPOINTS / name) == architecture]


def architecture_of(folder: Path) -> str:
    """The architecture of the checkpoint in a folder, without its weights; "" where it cannot be used."""
    try:
        with os.scandir(folder) as entries:
            states = {entry.name: entry.stat(follow_symlinks=entry.is_file()) for entry in entries}
    except OSError:
        return ""
    file_states = frozenset((name, state.st_ino, state.st_size, state.st_mtime_ns) for name, state in states.items())
    return _architecture_in(folder, file_states)


@lru_cache(maxsize=256)
def _architecture_in(folder: Path, _states: frozenset[tuple[str, int, int, int]]) -> str:
    """The same for files in these states: pages ask many times a run, and to read them takes milliseconds each time."""
    try:
        return checkpoint_files.read_parts(folder, checkpoint_files.read_config(folder))[2].architecture
    except CheckpointError:
        return ""


def load_checkpoint(name: str | Path, device: str = "auto", *, revision: str | None = None) -> Checkpoint:
    """A bundled checkpoint by its name, any by its folder, or a model of the Hugging Face hub by its id.

    revision: of a model of the hub, a branch, a tag or a commit; as good as "org/name@revision". What was downloaded
    before is opened without asking the hub; anything else is downloaded under a progress bar.

    Raises CheckpointError where there is none of that name or its files cannot be used, InputError where this
    machine has no such device.
    """
    chosen = choose_device(device)
    folder = None if revision is not None else local_folder(name)
    if folder is None:
        hub_name = name_on_hub(name, revision)
        try:
            folder = hub.obtained(hub_name)
        except (hub.NotOnHub, hub.Offline) as error:
            if "/" in str(hub_name) or revision is not None:
                raise
            offline = isinstance(error, hub.Offline)
            raise no_such(name, offline=offline) from None  # a bundled name that is misspelt, most likely
        return read_checkpoint(folder, chosen, name=f"{hub_name.repo}@{folder.name}")
    return read_checkpoint(folder, chosen, name=folder.name)


def read_checkpoint(folder: Path, device: torch.device, *, name: str) -> Checkpoint:
    """The checkpoint in a folder, under a name."""
    values = checkpoint_files.read_config(folder)
    model = checkpoint_files.read_model(folder, values)
    tokenizer = checkpoint_files.read_tokenizer(folder, model.config, foreign=families.is_foreign(values))
    card, family = checkpoint_files.read_card(folder), families.family_of(values)
    return Checkpoint(name, model.to(device), tokenizer, card, device, family)


def local_folder(name: str | Path) -> Path | None:
    """The folder of a bundled checkpoint, or the folder that is named itself; None where there is neither."""
    if str(name) in available_checkpoints():
        return CHECKPOINTS / name
    return Path(name) if is_folder(Path(name)) else None


def name_on_hub(name: str | Path, revision: str | None) -> hub.HubName:
    """What is no folder as a name on the hub; CheckpointError where it cannot be one."""
    try:
        if isinstance(name, Path):
            raise ValueError("a path")
        return hub.parse_hub_name(name if revision is None else f"{name}@{revision}")
    except ValueError:
        raise no_such(name) from None


def no_such(name: str | Path, *, offline: bool = False) -> CheckpointError:
    """The refusal of a name that stands for nothing, or for a model of the hub, which does not answer."""
    kinds = f"a folder, the id of a model on the Hugging Face hub, or one of {', '.join(available_checkpoints())}"
    hint = "; the hub cannot be reached" if offline else ""
    return CheckpointError(f"checkpoint: found no {printable(Path(name).name)!r}, expected {kinds}{hint}.")


def is_folder(path: Path) -> bool:
    """Whether there is such a folder; no name is too odd to ask."""
    try:
        return path.is_dir()
    except OSError:  # a name that is too long, a folder above it that may not be read
        return False
