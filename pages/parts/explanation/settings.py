"""What the page Is attention the explanation? shows: whether rollout counts the residual connection, and a token."""

from dataclasses import dataclass

from pages.parts.state.codec import PageState
from pages.parts.state.fields import address_field, one_of

ROLLOUTS = ("residual", "alone")


@dataclass(frozen=True, kw_only=True)
class ExplanationSettings:
    """rollout: whether the residual connection counts as one half of every layer, see ``attention_shares``."""

    rollout: str = address_field(ROLLOUTS[0], one_of(ROLLOUTS))


STATE = PageState(settings=ExplanationSettings, follows=True)
