"""What the page Models adds to the address: the model of the Hugging Face hub that was asked for."""

from dataclasses import dataclass

from pages.parts.state.codec import PageState
from pages.parts.state.fields import address_field, text_up_to

LONGEST_ID = 200  # characters that are read of an id; what the hub has is shorter


@dataclass(frozen=True, kw_only=True)
class Asked:
    """get: an id of the hub, with a revision or without, as it was typed; "": nothing was asked for."""

    get: str = address_field("", text_up_to(LONGEST_ID))


STATE = PageState(settings=Asked, follows=True)
