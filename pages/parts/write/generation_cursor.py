"""Where a continued text stands: what has been read, what the model says next, and what changes it."""

from dataclasses import dataclass
from typing import Any

from model import Checkpoint, Edits
from model.decoding.generation import make_settings
from model.decoding.steps import Settings, Step, retaken, token_taker
from model.measures.logit_lens import token_probabilities
from model.trace import Trace
from model.tracing.description import cut
from pages.parts.explore.explorer_panel import name_under
from pages.parts.models.catalogue import checkpoint_names
from pages.parts.passes import edits_of
from pages.parts.shared_cache import bytes_of, check_lengths, checkpoint_key, traces
from pages.parts.state.selection import Selection
from pages.parts.state.session import changed_selection, choose, unusable
from pages.parts.write.settings import NOTHING_WRITTEN, Continuation


@dataclass(frozen=True, kw_only=True)
class GenerationCursor:
    """One step of a continuation: the text that has been read, and what the model makes of it."""

    selection: Selection
    checkpoint: Checkpoint
    checkpoint_key: tuple[object, ...]  # looked up where there is a session; files are made where there is none
    edits: Edits
    prompt: tuple[int, ...]  # ids
    dropped: int  # tokens of the prompt that did not fit

    @property
    def chosen(self) -> Continuation:
        """What has been written, and the settings."""
        return self.selection.of(Continuation)

    @property
    def written(self) -> tuple[int, ...]:
        """All ids written so far."""
        return self.chosen.written

    @property
    def at(self) -> int:
        """How many of them have been read at this step."""
        at = self.chosen.at
        return len(self.written) if at is None else at

    @property
    def read(self) -> tuple[int, ...]:
        """All ids that the model has read at this step."""
        return (*self.prompt, *self.written[: self.at])

    @property
    def key(self) -> tuple[object, ...]:
        """What decides all numbers of this step."""
        return self.checkpoint_key, self.read, self.edits

    @property
    def name(self) -> str:
        """A short name for the numbers of this step."""
        return name_under(self.key)

    @property
    def ended(self) -> bool:
        """Whether what has been read ends with the end token."""
        return self.at > 0 and self.read[-1] == self.checkpoint.config.end_id

    @property
    def full(self) -> bool:
        """Whether the model can read no token more."""
        return len(self.read) >= self.checkpoint.longest

    @property
    def settings(self) -> Settings:
        """How the next token is taken."""
        return make_settings(**self.options)

    @property
    def options(self) -> dict[str, Any]:
        """The same as ``Checkpoint.generate`` takes it."""
        chosen = self.chosen
        return {
            "method": chosen.method,
            "seed": chosen.seed,
            "repetition_penalty": chosen.penalty,
            "temperature": chosen.temperature,
            "top_k": chosen.top_k,
            "top_p": chosen.top_p,
        }

    def trace(self, ids: tuple[int, ...]) -> Trace:
        """The pass over these ids, from memory where it was made before."""
        key = (self.checkpoint_key, ids, self.edits)
        return traces().get(key, lambda: self.checkpoint.trace_ids(ids, edits=self.edits), bytes_of)

    def step(self) -> Step:
        """What the model says at this step, with the token that was taken, or that the settings take next."""
        logits = self.trace(self.read).logits
        assert logits is not None
        token_id = self.written[self.at] if self.at < len(self.written) else self.next_token()
        return Step(
            token_id=token_id,
            token=self.checkpoint.tokenizer.pieces([token_id])[0],
            logits=logits[-1],
            read=self.read,
            logits_processors=self.settings.logits_processors,
        )

    def next_token(self) -> int:
        """What the settings take at this step, whatever was taken."""
        logits, settings = self.trace(self.read).logits, self.settings
        assert logits is not None
        return token_taker(settings, self.at)(settings.logits_processors.applied(logits[-1], self.read))

    def probabilities(self) -> list[float]:
        """What the model gave every written token."""
        trace = self.trace((*self.prompt, *self.written))
        assert trace.logits is not None
        assert trace.decoder is not None
        return token_probabilities(trace.logits, trace.decoder.ids, len(self.prompt)).tolist()

    def by_hand(self) -> dict[int, int]:
        """The written tokens that the settings would not have taken, by their place."""
        ids = (*self.prompt, *self.written)
        logits = self.trace(ids).logits
        assert logits is not None
        own_choices = retaken(self.settings, logits, ids, len(self.prompt))
        return {
            place: own
            for place, (own, theirs) in enumerate(zip(self.written, own_choices, strict=True))
            if own != theirs
        }


def decoders() -> list[str]:
    """The checkpoints that continue a text."""
    return checkpoint_names("decoder")


def cursor_of(selection: Selection, checkpoint: Checkpoint) -> GenerationCursor:
    """Where the text stands. What of the written tokens cannot be is left out and noted; InputError for no text."""
    check_lengths(selection.text)
    text = cut(checkpoint.tokenizer.encode(selection.text), checkpoint.longest)
    prompt = text.encoding.ids
    chosen = selection.of(Continuation)
    fits = len(chosen.written) <= checkpoint.longest - len(prompt)
    if not fits or any(number >= checkpoint.config.vocabulary for number in chosen.written):
        unusable("written")
        selection = changed_selection(selection, **NOTHING_WRITTEN)
    chosen = selection.of(Continuation)
    if (chosen.at or 0) > len(chosen.written):
        unusable("at")
        selection = changed_selection(selection, at=None)
    edits = edits_of(selection, checkpoint)
    return GenerationCursor(
        selection=selection,
        checkpoint=checkpoint,
        checkpoint_key=checkpoint_key(selection.checkpoint),
        edits=edits,
        prompt=prompt,
        dropped=text.dropped,
    )


def go(cursor: GenerationCursor, at: int) -> None:
    last = len(cursor.written)
    at = min(max(at, 0), last)
    move(cursor, at=None if at == last else at)


def take_token(cursor: GenerationCursor, token_id: int) -> None:
    """Write this token at this step. Where it stands there already, what follows it stays."""
    if cursor.full or cursor.ended:
        return
    if cursor.written[cursor.at : cursor.at + 1] == (token_id,):
        go(cursor, cursor.at + 1)
    else:
        move(cursor, written=(*cursor.written[: cursor.at], token_id), at=None)


def move(cursor: GenerationCursor, **changes: Any) -> None:
    """Another step, of which the explorer shows the last token."""
    change(cursor, **{"query": None, "key": None} | changes)


def change(cursor: GenerationCursor, **changes: Any) -> None:
    """Change the selection; the text and the model on the screen are chosen from now on, and what is written stays."""
    on_screen = {"text": cursor.selection.text, "checkpoint": cursor.selection.checkpoint}
    choose(**on_screen | {name: getattr(cursor.chosen, name) for name in NOTHING_WRITTEN} | changes)
