"""What the page Edit shows beside the shared selection: an edit that no address can hold, and a head that it moved."""

from dataclasses import dataclass

from pages.parts.state.codec import PageState
from pages.parts.state.fields import OF_CHECKPOINT, OF_TEXT, address_field, one_of, whole_numbers, word_like

LONGEST_EDIT = 1900  # characters of an edit in an address; some programs cut addresses at 2,000
DIGEST = "[0-9a-f]{16}"


@dataclass(frozen=True, kw_only=True)
class EditSettings:
    """held: the digest of an edit too long for an address, which this server holds; "": the edit is in ``edits``.

    moved, moved_in: the layer and head, and the attention, that are compared below; none: those that moved most.
    """

    held: str = address_field("", word_like(f"({DIGEST})?"), reset_by=OF_TEXT | {"target"})
    moved: tuple[int, ...] = address_field((), whole_numbers(2, 9999), reset_by=OF_CHECKPOINT | {"moved_in"})
    moved_in: str = address_field("", one_of(("", "encoder", "decoder", "cross")), reset_by=OF_CHECKPOINT)


STATE = PageState(settings=EditSettings, follows=True)
