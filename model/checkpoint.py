"""A trained model with its tokenizer and card: what people load, trace, classify and generate with."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from model import families
from model.config import Config
from model.decoding.generation import Writer, make_settings
from model.decoding.logits_processors import NO_PROCESSORS
from model.decoding.steps import Chosen, Decoder, Generation, likeliest, most_written, write
from model.decoding.stitched_trace import DecoderPass
from model.device import choose_device
from model.edits import NO_EDITS, Edits
from model.edits.checks import complaints, room
from model.errors import CheckpointError, InputError, printable
from model.loading import checkpoint_files
from model.tokenizer import Encoding, Tokenizer
from model.trace import StackTrace, Trace, map_tensors
from model.transformer import Transformer

CHECKPOINTS = Path(__file__).resolve().parent.parent / "checkpoints"
MOST_TOKENS = 512
TRACE_BYTES = 1 << 30


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
    def config(self) -> Config:
        """The model's sizes and parts."""
        return self.model.config

    @property
    def longest(self) -> int:
        """How many tokens a trace may have: the model's own limit, 512, or what fits the memory for a trace."""
        longest = min(self.config.max_length, MOST_TOKENS)
        while trace_bytes(self.config, longest) > TRACE_BYTES:
            longest //= 2
        return max(1, longest)

    def trace(
        self,
        text: str,
        pair: str | None = None,
        target: str | None = None,
        edits: Edits = NO_EDITS,
        *,
        logits: bool = True,
    ) -> Trace:
        """Everything the model computes for a text, without gradients, as float32 on the CPU.

        target: the decoder's text in an encoder-decoder; None: what greedy decoding says. A text that is too long
        is cut; ``dropped`` in the stack's trace says by how many tokens. Raises InputError for a text that cannot
        be used, for a pair, target or edit that this architecture has no place for.
        """
        if pair is not None and not self.config.segments:
            raise InputError(f"{self.name} reads one text, not a pair: leave the second text out.")
        source = self.tokenizer.encode(text, pair)
        kept = source.cut(self.longest)
        dropped = len(source.ids) - len(kept.ids)
        if not self.config.is_encoder_decoder:
            if target is not None:
                raise InputError(f"{self.name} has no decoder beside its encoder: leave the target out.")
            return self._described(self._of_encoding(kept, edits, logits), kept, dropped)
        if target is None:
            return self._described(self._of_greedy(kept.ids, edits, logits), kept, dropped)
        wanted = self._target(target)
        decoded = wanted.cut(self.longest)
        trace = self.trace_ids(kept.ids, decoded.ids, edits=edits, logits=logits)
        return self._described(trace, kept, dropped, decoded, len(wanted.ids) - len(decoded.ids))

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
        both = self.config.is_encoder_decoder
        if both != (target_ids is not None):
            wanted = "ids for its decoder" if both else "none, for it has no second stack"
            raise InputError(f"target_ids: {self.name} expects {wanted}.")
        source, target = self._ids(ids, "ids"), None if target_ids is None else self._ids(target_ids, "target_ids")
        self._check_edits(edits, **self._lengths(source, target))
        with torch.no_grad():
            trace = self.model(
                source,
                segments=None if type_ids is None else self._segments(type_ids, len(ids)),
                target_ids=target,
                edits=edits,
                logits=logits,
            )
        return self._named(map_tensors(trace, on_cpu))

    def _of_encoding(self, source: Encoding, edits: Edits, logits: bool) -> Trace:
        """The trace of a text's ids, each in its segment where the model knows two or more."""
        types = source.segments if self.config.segments > 1 else None
        return self.trace_ids(source.ids, type_ids=types, edits=edits, logits=logits)

    def _of_greedy(self, ids: tuple[int, ...], edits: Edits, logits: bool) -> Trace:
        """The trace of a pair whose target is what greedy decoding says: of one pass, the same to the bit each time."""
        start, most = self._start(ids), self._most(ids, 0, MOST_TOKENS, edits)
        decoder = self._decoder(ids, edits)
        found = list(write(decoder, start, most, likeliest, NO_PROCESSORS))
        return self._trace_written(decoder, ids, start, found, logits=logits)

    def classify(self, text: str, edits: Edits = NO_EDITS) -> dict[str, float]:
        """The probability of every label. Raises InputError where the model has no classifier."""
        return self.probabilities(self.trace(text, edits=edits))

    def probabilities(self, trace: Trace) -> dict[str, float]:
        """The probability of every label in a trace of this model."""
        if not self.config.labels or trace.logits is None:
            raise InputError(f"{self.name} has no classifier: it was not trained to choose between labels.")
        return dict(zip(self.config.labels, trace.logits.double().softmax(dim=-1).tolist(), strict=True))

    def likeliest(self, trace: Trace, position: int = -1) -> tuple[str, float]:
        """The token that a trace of this model finds likeliest at a position, and its probability.

        In a decoder that is the token after the position, in an encoder the one in its place. Raises InputError
        where the model does not predict tokens.
        """
        if trace.logits is None or trace.logits.ndim != 2:
            raise InputError(f"{self.name} does not predict tokens: it has no head for them.")
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
            raise InputError(f"{self.name} is an encoder: it reads text and cannot write any.")
        source = self.tokenizer.encode(text)
        kept = source.cut(self.longest)
        started = (*self._start(kept.ids), *written)
        for ids in (tuple(written), started):
            self._ids(ids or started, "written")
        width = settings.width if settings.method == "beam" else None
        longest = self._most(kept.ids, len(written), max_tokens, edits)
        decoder = self._decoder(kept.ids, edits, width, longest)

        def traced(found: Sequence[Chosen], rows: Sequence[int]) -> Trace:
            trace = self._trace_written(decoder, kept.ids, started, found, rows)
            return self._described(trace, kept, len(source.ids) - len(kept.ids))

        return Writer(
            decoder=decoder,
            tokenizer=self.tokenizer,
            settings=settings,
            started=started,
            longest=longest,
            to_trace=traced,
            earlier=len(written),
        ).stream()

    def _start(self, ids: tuple[int, ...]) -> tuple[int, ...]:
        """What a decoder reads before it produces anything: the text itself, or in a pair the start token."""
        return (int(self.config.start_id or 0),) if self.config.is_encoder_decoder else ids

    def _decoder(self, ids: tuple[int, ...], edits: Edits, rows: int | None = None, longest: int = 0) -> Decoder:
        """The decoder, in a pair with the memory of these ids, in so many rows of a batch or in none.

        longest: how many ids it may read and keep what it computes of them, where there is the memory for it.
        """
        both = self.config.is_encoder_decoder
        self._check_edits(edits, **({"encoder": len(ids)} if both else {}))
        encoder = memory = None
        if both:
            with torch.no_grad():
                encoder = self.model.encode(self._ids(ids, "ids"), edits=edits)
            memory = encoder.final if rows is None else encoder.final.expand(rows, -1, -1)
        taken = (rows or 1) * trace_bytes(self.config, max(longest, len(ids)))
        passes = list[DecoderPass]() if longest and taken <= TRACE_BYTES else None
        return Decoder(model=self.model, memory=memory, edits=edits, encoder=encoder, passes=passes)

    def _most(self, ids: tuple[int, ...], written: int, max_tokens: int, edits: Edits) -> int:
        """How many ids the decoder may have in all, ``written`` of which are there beside its start."""
        asked = len(self._start(ids)) + most_written(self.config, len(ids), written + max_tokens)
        return min(self.longest, asked, room(edits, self.config, "decoder"))

    def _trace_written(
        self,
        decoder: Decoder,
        ids: tuple[int, ...],
        started: tuple[int, ...],
        found: Sequence[Chosen],
        rows: Sequence[int] = (),
        *,
        logits: bool = True,
    ) -> Trace:
        """The trace of a decoder that has read its start and what it produced; in a pair all but the last of it.

        From what the decoder kept, in these rows of its passes where it made them in rows; else of a pass anew.
        """
        both = self.config.is_encoder_decoder
        read = (*started, *(chosen.token_id for chosen in found))
        read = read[: max(1, len(read) - 1)] if both else read
        if decoder.passes:
            said = [chosen.logits for chosen in found] if logits else None
            return self._named(map_tensors(decoder.trace(read, said, rows or [0] * len(decoder.passes)), on_cpu))
        source, target = (ids, read) if both else (read, None)
        return self.trace_ids(source, target, edits=decoder.edits, logits=logits)

    def _target(self, text: str) -> Encoding:
        """A target text as the decoder reads it: the start token, then the text, without the end that it predicts."""
        typed = self.tokenizer.encode(text)
        if typed.ids[-1] == self.config.end_id:
            typed = Encoding(**{name: values[:-1] for name, values in vars(typed).items()})
        start = int(self.config.start_id or 0)
        added = Encoding(
            ids=(start,),
            tokens=self.tokenizer.pieces([start]),
            spans=(None,),
            words=(None,),
            special=(True,),
            segments=(0,),
        )
        return Encoding(**{name: values + getattr(typed, name) for name, values in vars(added).items()})

    def _ids(self, ids: list[int] | tuple[int, ...], name: str) -> Tensor:
        """Checked ids as a tensor on the device."""
        values = list(ids)
        if not values:
            raise InputError(f"{name}: found none, expected one or more.")
        if len(values) > self.longest:
            raise InputError(f"{name}: found {len(values)}, expected at most {self.longest}.")
        for position, value in enumerate(values):
            if type(value) is not int or not 0 <= value < self.config.vocabulary:
                shown = printable(value, 20)
                raise InputError(f"{name}[{position}]: found {shown}, expected 0 to {self.config.vocabulary - 1}.")
        return torch.tensor(values, device=self.device)

    def _lengths(self, ids: Tensor, target: Tensor | None) -> dict[str, int]:
        """How many positions every stack has."""
        if target is not None:
            return {"encoder": len(ids), "decoder": len(target)}
        return {self.config.architecture: len(ids)}

    def _segments(self, type_ids: list[int] | tuple[int, ...], count: int) -> Tensor:
        """Checked segments as a tensor on the device."""
        known = self.config.segments
        if not known:
            raise InputError(f"{self.name} has no segments: leave type_ids out.")
        if len(type_ids) != count or any(type(one) is not int or not 0 <= one < known for one in type_ids):
            raise InputError(f"type_ids: expected {count} numbers from 0 to {known - 1}, one for every id.")
        return torch.tensor(type_ids, device=self.device)

    def _check_edits(self, edits: Edits, **lengths: int) -> None:
        """InputError where an edit names what the model does not have, or a position beyond these lengths of stacks."""
        for complaint in complaints(edits, self.config, lengths):
            raise InputError(f"edits: {self.name} {complaint}.")

    def _named(self, trace: Trace) -> Trace:
        """The trace with display pieces for its ids."""

        def named(stack: StackTrace | None) -> StackTrace | None:
            return None if stack is None else replace(stack, tokens=self.tokenizer.pieces(stack.ids.tolist()))

        return replace(trace, encoder=named(trace.encoder), decoder=named(trace.decoder))

    def _described(
        self, trace: Trace, source: Encoding, dropped: int, target: Encoding | None = None, target_dropped: int = 0
    ) -> Trace:
        """The trace with what is known of the text that its ids came from."""
        if trace.encoder is not None:
            trace = replace(trace, encoder=describe(trace.encoder, source, dropped))
        elif trace.decoder is not None and len(source.ids) == len(trace.decoder.ids):
            trace = replace(trace, decoder=describe(trace.decoder, source, dropped))
        if trace.encoder is not None and trace.decoder is not None:
            target = target or self.produced(trace.decoder.ids.tolist())
            trace = replace(trace, decoder=describe(trace.decoder, target, target_dropped))
        return trace

    def produced(self, ids: Sequence[int]) -> Encoding:
        """What is known of ids that the decoder of a pair has read: the start, then what it produced itself.

        The words are known where the text of the ids is cut into the same tokens again; else every token is its own.
        """
        start, *rest = ids
        text = self.tokenizer.decode(rest)
        again = self.tokenizer.encode(text) if text.strip() else None
        same = again is not None and list(again.ids[: len(rest)]) == rest
        return Encoding(
            ids=(start, *rest),
            tokens=self.tokenizer.pieces(list(ids)),
            spans=(None,) * len(ids),
            words=(None, *(again.words[: len(rest)] if again is not None and same else range(len(rest)))),
            special=(True, *(token_id == self.config.end_id for token_id in rest)),
            segments=(0,) * len(ids),
        )


def describe(stack: StackTrace, encoding: Encoding, dropped: int) -> StackTrace:
    """A stack's trace with the tokens, spans, words, special marks and segments of its text."""
    facts = {name: value for name, value in vars(encoding).items() if name != "ids"}
    return replace(stack, dropped=dropped, **facts)


def on_cpu(tensor: Tensor) -> Tensor:
    """The tensor on the CPU, in float32 if it is of floats."""
    tensor = tensor.detach()
    return (tensor.float() if tensor.is_floating_point() else tensor).cpu()


def trace_bytes(config: Config, length: int) -> int:
    """About how much memory a trace of so many tokens takes, in bytes of float32."""
    both = config.is_encoder_decoder
    sizes = [config, config.of_decoder(), config.of_decoder()] if both else [config]  # the third: cross-attention
    squares = sum(3 * one.layers * one.heads for one in sizes) * length**2  # products, scores, weights
    joined = config.heads * config.head_width
    rows = sum(one.layers * (4 * config.width + 4 * joined + one.hidden) for one in sizes) * length
    return 4 * (squares + rows + config.vocabulary * length)


def available_checkpoints(architecture: str | None = None) -> list[str]:
    """The names that ``load_checkpoint`` knows: the folders in checkpoints/ that hold a config.

    architecture: those of this one alone, as far as config.json and the names of the tensors tell.
    """
    names = sorted(folder.parent.name for folder in CHECKPOINTS.glob(f"*/{checkpoint_files.CONFIG}"))
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
    found = frozenset((name, state.st_ino, state.st_size, state.st_mtime_ns) for name, state in states.items())
    return _architecture_in(folder, found)


@lru_cache(maxsize=256)
def _architecture_in(folder: Path, _states: frozenset[tuple[str, int, int, int]]) -> str:
    """The same for files in these states: pages ask many times a run, and to read them takes milliseconds each time."""
    try:
        return checkpoint_files.read_parts(folder, checkpoint_files.read_config(folder))[2].architecture
    except CheckpointError:
        return ""


def load_checkpoint(name: str | Path, device: str = "auto") -> Checkpoint:
    """A bundled checkpoint by its name, or any by its folder.

    Raises CheckpointError where there is none of that name or its files cannot be used, InputError where this
    machine has no such device.
    """
    chosen = choose_device(device)
    folder = CHECKPOINTS / name if str(name) in available_checkpoints() else Path(name)
    if not is_folder(folder):
        known = ", ".join(available_checkpoints())
        raise CheckpointError(f"checkpoint: found no {printable(folder.name)!r}, expected a folder or one of {known}.")
    values = checkpoint_files.read_config(folder)
    model = checkpoint_files.read_model(folder, values)
    tokenizer = checkpoint_files.read_tokenizer(folder, model.config, foreign=families.is_foreign(values))
    card, family = checkpoint_files.read_card(folder), families.family_of(values)
    return Checkpoint(folder.name, model.to(chosen), tokenizer, card, chosen, family)


def is_folder(path: Path) -> bool:
    """Whether there is such a folder; no name is too odd to ask."""
    try:
        return path.is_dir()
    except OSError:  # a name that is too long, a folder above it that may not be read
        return False
