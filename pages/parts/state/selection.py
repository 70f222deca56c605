"""What every page shares of what is looked at: the text, the model, the place in it, and what is changed."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from model import Edits
from pages.parts.models.catalogue import checkpoint_names, is_hub_name
from pages.parts.models.watched_moments import is_moment
from pages.parts.state.fields import (
    OF_CHECKPOINT,
    OF_TEXT,
    Field,
    address_field,
    decimal,
    index,
    one_of,
    sites,
    switch,
    text_up_to,
)
from viz.explorer import View
from viz.explorer.view import CHOICES

EXAMPLES = (
    "The film was slow, but I loved it.",
    "I loved the film, but it was slow.",
    "The acting is not bad at all.",
    "I wanted to like it, but the plot makes no sense.",
    "Nobody who saw it with me was bored.",
    "It was never boring.",
)
LONGEST_TEXT = 2000  # characters
TEXTS = ("text", "pair", "target")
OF_ATTENTION = OF_CHECKPOINT | {"attention"}
# What names layers, heads and tokens: a file's are others than those of a text and a model.
PLACES = ("attention", "layer", "off", "query", "key", "head", "mute", "muted", "arrays.own")

Settings = TypeVar("Settings")


def an_available_checkpoint(text: str) -> str:
    """The name of a checkpoint that is here now, or of one that can be downloaded."""
    return text if is_hub_name(text) or is_moment(text) else one_of(checkpoint_names())(text)


def edits_text(text: str) -> str:
    """Edits, as ``Edits.to_text`` writes them."""
    return Edits.from_text(text_up_to(LONGEST_TEXT)(text)).to_text()


def edits_left(text: str, changed: Collection[str]) -> str:
    """The edits without single weights, whose positions are of one text as one model reads it."""
    return replace(Edits.from_text(text), overwritten=frozenset()).to_text() if "weight" in text else text


@dataclass(frozen=True, kw_only=True)
class Selection:
    """What a page shows: every field is a plain value, so that it can be a cache key and an address.

    settings: each page's own, a value of its dataclass; ``of`` gives one by its class.
    """

    text: str = address_field(EXAMPLES[0], str)
    pair: str = address_field("", str)  # the second text, for checkpoints that read two
    checkpoint: str = address_field("sentiment", an_available_checkpoint)
    target: str = address_field("", str, reset_by=OF_TEXT)  # the decoder's text, typed; "": the model's own
    mute: bool = address_field(False, switch, reset_by=OF_CHECKPOINT)  # whether the heads that are off are muted
    muted: frozenset[tuple[int, int]] = address_field(frozenset(), sites, reset_by=OF_ATTENTION)  # beside those
    head: int = address_field(0, index, reset_by=OF_CHECKPOINT)  # the one that is looked into, whichever are on
    edits: str = address_field(  # kept on the pages Break the formula and Edit, as Edits.to_text
        "", edits_text, reset_by=OF_TEXT | {"target"}, left=edits_left
    )
    view: View = field(default_factory=View)
    settings: tuple[Any, ...] = ()

    def of(self, kind: type[Settings]) -> Settings:
        """A page's own settings."""
        return next((settings for settings in self.settings if type(settings) is kind), None) or kind()


def choice(name: str) -> Callable[[str], str]:
    """One of a view's words."""
    return one_of(CHOICES[name])


# The view belongs to the explorer, which knows nothing of addresses.
VIEW_FIELDS = {
    "attention": Field(parse=choice("attention"), reset_by=OF_CHECKPOINT),
    "layer": Field(parse=index, reset_by=OF_ATTENTION),
    "off": Field(parse=sites, reset_by=OF_ATTENTION),
    "query": Field(parse=index, reset_by=OF_TEXT | OF_ATTENTION),
    "key": Field(parse=index, reset_by=OF_TEXT | OF_ATTENTION),
    "show": Field(parse=choice("show")),
    "special": Field(parse=choice("special")),
    "words": Field(parse=switch),
    "segments": Field(parse=choice("segments")),
    "threshold": Field(parse=decimal(0, 1)),
    "top": Field(parse=index),
    "scale": Field(parse=choice("scale")),
    "maximum": Field(parse=choice("maximum")),
    "colours": Field(parse=choice("colours")),
    "measure": Field(parse=choice("measure")),
    "order": Field(parse=choice("order")),
}


def typable(text: str) -> str:
    """The text as a browser can hold it: half of a surrogate pair becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")
