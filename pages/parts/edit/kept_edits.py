"""Where the edit of the page lives: in the address as far as one can hold it, else on this server, under its digest.

The address field ``edits`` is the one in which Break the formula keeps its edits too, so that the edit acts wherever
kept edits do. An edit that is too long for an address is held for all visitors under the digest of its text; it names
nothing but positions and weights. An address with a digest that this server does not hold any longer shows no edit.
"""

from typing import Any

import streamlit as st

from model import Edits, InputError
from model.measures.edited_weights import without_weights
from pages.parts.edit.history import History
from pages.parts.edit.settings import LONGEST_EDIT, EditSettings
from pages.parts.state.held_texts import held_text, hold
from pages.parts.state.selection import Selection
from pages.parts.state.session import choose, current

HISTORY = "_edit_history"  # in the session
LONGEST_HELD = 1_000_000  # characters of one edit
TOO_LONG = "An edit of {} weights is too large: at most about {} can be kept."


def edit_text(selection: Selection) -> str:
    """All that is edited, as ``Edits.to_text`` writes it."""
    return held_text(selection.of(EditSettings).held) or selection.edits


def is_lost(selection: Selection) -> bool:
    """Whether the address names an edit that this server does not hold."""
    digest = selection.of(EditSettings).held
    return bool(digest) and held_text(digest) is None


def is_held(selection: Selection) -> bool:
    """Whether the edit is too long for an address."""
    return bool(selection.of(EditSettings).held) and not is_lost(selection)


def changes_of(text: str) -> dict[str, Any]:
    """What ``choose`` has to be told for this edit. InputError where it is too long even to be held."""
    if len(text) <= LONGEST_EDIT:
        return {"edits": text, "held": ""}
    edits = Edits.from_text(text)
    if len(text) > LONGEST_HELD:
        count = len(edits.overwritten)
        raise InputError(TOO_LONG.format(count, count * LONGEST_HELD // len(text)))
    return {"edits": without_weights(edits).to_text(), "held": hold(text)}


def keep_edit(text: str, **changes: Any) -> None:
    """Have this edit in effect, and these other choices; for callbacks."""
    choose(changes | changes_of(text))


def history() -> History:
    """What was edited in this session."""
    made: History = st.session_state.setdefault(HISTORY, History())
    return made


def note_edit(selection: Selection) -> History:
    """The history with what is shown now."""
    subject = (selection.checkpoint, selection.text, selection.pair, selection.target)
    history().visit(subject, edit_text(selection))
    return history()


def undo() -> None:
    """Back by one edit."""
    if (text := history().before) is not None:
        keep_edit(text)


def redo() -> None:
    """The edit that was undone last."""
    if (text := history().after) is not None:
        keep_edit(text)


def undo_all() -> None:
    """No overwritten weight any longer; other kept edits stay."""
    keep_edit(without_weights(Edits.from_text(edit_text(current()))).to_text())
