"""What the heads of a training's snapshots do with one text, and what each snapshot takes to come next.

Every number is from ``Checkpoint.trace_ids`` of the snapshot's weights, as the app's other pages compute it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from model.errors import InputError, printable
from model.training.watched.characters import ids_of
from model.training.watched.history import History
from model.training.watched.tasks import FIRST_ID, MARK


class HeadPictures(NamedTuple):
    """Of one text, a row for every snapshot in the order of ``History.steps``.

    text: its characters, the positions. guesses: the id of the likeliest next token at each position.
    """

    text: str
    weights: Float[np.ndarray, "snapshot layer head query key"]
    guesses: Int[np.ndarray, "snapshot position"]

    @classmethod
    def joined(cls, text: str, pictures: Sequence["SnapshotPictures"]) -> "HeadPictures":
        """Those of several snapshots of one training."""
        weights, guesses = zip(*pictures, strict=True)
        return cls(text, np.stack(weights), np.stack(guesses))


class SnapshotPictures(NamedTuple):
    """The same of one snapshot."""

    weights: Float[np.ndarray, "layer head query key"]
    guesses: Int[np.ndarray, " position"]


def check_readable(history: History, text: str) -> None:
    """InputError for a text that is empty, longer than the model reads, or has characters that it never learned."""
    task = history.settings.task_to_learn()
    if not 1 <= len(text) <= task.length:
        raise InputError(f"This model reads 1 to {task.length} characters; the text has {len(text)}.")
    if strange := list(dict.fromkeys(character for character in text if character not in task.characters)):
        names = ["blank" if character == " " else f"character {printable(character)}" for character in strange]
        small = text.lower()
        hint = f" In small letters it can read this: {printable(small)}." if set(small) <= set(task.characters) else ""
        known = known_characters(task.characters)
        raise InputError(f"This model has no {', no '.join(names)}. It knows {known}.{hint}")


def known_characters(characters: str) -> str:
    """The characters of a model, in a few words."""
    if characters.startswith("abcdefghijklmnopqrstuvwxyz"):
        return f"the letters a to z and {characters[-1]}"
    blank = "the blank and " if " " in characters else ""
    return f"{blank}“{characters.strip()}”"


def head_pictures(history: History, text: str) -> HeadPictures:
    """The pictures of a text. InputError where ``check_readable`` raises it."""
    check_readable(history, text)
    return HeadPictures.joined(text, [snapshot_pictures(history, step, text) for step in history.steps])


def snapshot_pictures(history: History, step: int, text: str) -> SnapshotPictures:
    """Those of the snapshot of one step."""
    ids = ids_of(text, history.settings.task_to_learn().characters)
    trace = history.checkpoint(step).trace_ids(ids, edits=history.settings.edits)
    assert trace.logits is not None
    return SnapshotPictures(trace.text_stack.weights().numpy(), trace.logits.numpy().argmax(axis=-1))


def character_of(history: History, token_id: int) -> str:
    """The character of an id; "" for padding and the unknown."""
    characters = history.settings.task_to_learn().characters
    return characters[token_id - FIRST_ID] if token_id >= FIRST_ID else ""


def written_after(history: History, step: int, text: str, count: int) -> str:
    """What a snapshot writes after a text, the likeliest character each time: what comes next is not there to be seen.

    InputError where ``check_readable`` raises it.
    """
    checkpoint, characters = history.checkpoint(step), history.settings.task_to_learn().characters
    written = ""
    for _ in range(count):
        check_readable(history, text + written)
        logits = checkpoint.trace_ids(ids_of(text + written, characters), edits=history.settings.edits).logits
        assert logits is not None
        written += characters[int(logits[-1, FIRST_ID:].argmax())]
    return written


def right_answers(task: str, text: str) -> list[str | None]:
    """What each position of a text should take to come next, by the rule of the task; None where nothing can be known.

    task: a name in ``tasks.NAMES``.
    """
    if task == "text":
        return [*text[1:], None]
    if task == "induction":
        places = [text.rfind(letter, 0, place) for place, letter in enumerate(text)]
        return [None if place < 0 else text[place + 1] for place in places]
    letters, mark, _ = text.partition(MARK)
    answer = {"copy": letters, "reverse": letters[::-1], "sort": "".join(sorted(letters))}[task] if mark else ""
    answers = [None] * len(letters) + list[str | None](answer)
    return (answers + [None] * len(text))[: len(text)]
