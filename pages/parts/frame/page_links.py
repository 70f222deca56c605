"""Links from page to page: what is on the screen goes along, in the address that is opened."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

from model.measures.one_weight import WeightPath
from pages.parts.inside.opening_weight import place_to_keep
from pages.parts.models.catalogue import label_of
from pages.parts.state.page_fields import CODEC
from pages.parts.state.session import address_of, address_of_next, can_use, cannot, choose, current
from pages.parts.widgets.binding import bind
from pages.parts.widgets.head_switches import muted_heads, one_head_on, with_mute
from pages.parts.widgets.switch import switch
from viz.tokens import markdown_text

FOLDER = Path(__file__).parents[2]
EXPLORE_HELP = "Shows this head, query and key among all others of the sentence, on the page Explore."
EDIT_HELP = "Lets you set this weight, and shows every later layer and the answer change."
MUTE_HELP = (
    "Runs the model without this head: its context, the weighted sum of the values, is set to zero before the "
    "layer's output projection. Every number here then belongs to that run."
)


class NextPage(NamedTuple):
    """The page after another, and why one would go there."""

    page: str
    label: str
    why: str


# One round through all pages.
NEXT = {
    "explore": NextPage(
        "inside", "Next: inside this head", "Shows every step from the words to one of this head's weights."
    ),
    "inside": NextPage(
        "positions",
        "Next: Positions, how words get their order",
        "Attention alone does not know the order of words. Positions shows what tells the model.",
    ),
    "positions": NextPage(
        "break",
        "Next: Break the formula, one part at a time",
        "Takes out one part of the formula after another, positions among them, and shows how the answer changes.",
    ),
    "break": NextPage(
        "translate",
        "Next: Translate, attention between two texts",
        "Shows which words of one text a model looks at while it writes another.",
    ),
    "translate": NextPage(
        "write",
        "Next: Write, attention to what is written so far",
        "Shows what a model that continues a text looks at, and which tokens it chooses from at every step.",
    ),
    "write": NextPage(
        "heads",
        "Next: Heads that matter, which ones the answer needs",
        "Mutes every head of the model once and shows how the answer changes.",
    ),
    "heads": NextPage(
        "explanation",
        "Next: Is attention the explanation?",
        "Compares where the model looks with what its answer depends on, word by word.",
    ),
    "explanation": NextPage(
        "compare",
        "Next: Compare, two texts or two models",
        "Shows where every head looks in this text and in another, and what carries the difference.",
    ),
    "compare": NextPage(
        "edit",
        "Next: Edit, have a head look elsewhere",
        "Lets you drag a weight of one head, and shows every later layer and the answer change.",
    ),
    "edit": NextPage(
        "watch",
        "Next: Watch it learn, how heads come to be",
        "Plays a training from random weights on, with the step at which a head forms.",
    ),
    "watch": NextPage(
        "evidence",
        "Next: How we know, all numbers checked",
        "Compares every kind of number that the app draws with an independent computation.",
    ),
    "evidence": NextPage(
        "checkpoints",
        "Next: Models, what these are and where more are",
        "Describes every model: its data, its training and its measured results.",
    ),
    "checkpoints": NextPage(
        "arrays",
        "Next: Your arrays, attention of other programs",
        "Opens attention that another program saved, and draws it as Explore does.",
    ),
    "arrays": NextPage(
        "explore",
        "Next: Explore, from the beginning",
        "Shows which words each head looks at, in any sentence you type.",
    ),
}


def page_link(label: str, page: str, explained: str, **changes: Any) -> None:
    """A link to another page, which shows there what is on the screen here, with these changes.

    A link and not a button: a button that changes page and address makes two entries in the browser's history.
    """
    link_to(page, label, address_of(page, **changes), explained)


def next_page_link(page: str, why: str = "", **changes: Any) -> None:
    """The last link of a page, to the one after it in the round, and under it why one would go there.

    A page that cannot use the model on the screen opens with its own, and the sentence says so.

    why: plain text, in place of what the round says.
    """
    after, checkpoint = NEXT[page], current().checkpoint
    sentence = why or after.why
    if not can_use(after.page, checkpoint):
        own = CODEC.opening(after.page)["checkpoint"]
        names = label_of(own), label_of(checkpoint)
        sentence += f" That page opens with {names[0]}, because {names[1]} {cannot(after.page)}."
    with st.container(key="next_page", gap="xxsmall"):
        link_to(after.page, after.label, address_of_next(after.page, **changes))
        st.caption(markdown_text(sentence))


def link_to(page: str, label: str, address: Mapping[str, str], explained: str | None = None) -> None:
    st.page_link(
        FOLDER / f"{page}.py",
        label=label,
        icon=":material/arrow_forward:",
        help=explained,
        query_params=dict(address),
    )


def links_of_weight(path: WeightPath) -> None:
    """From a weight: to its place among the others, and what is left without its head."""
    page_link("See it in Explore", "explore", EXPLORE_HELP, **alone(path))
    place = {name: getattr(path.site, name) for name in ("attention", "layer", "head", "query", "key")}
    page_link("Edit this weight", "edit", EDIT_HELP, **place)
    muted = place_of(path) in muted_heads(current())
    key = bind("inside_mute", muted, told=True)
    switch("Mute this head", MUTE_HELP, key=key, on_change=take_mute, args=(path,))


def place_of(path: WeightPath) -> tuple[int, int]:
    return path.site.layer, path.site.head


def alone(path: WeightPath) -> dict[str, Any]:
    """The weight's head as the only one of its layer that is on, with its query and key kept."""
    on = one_head_on(current(), path.site.layer, path.site.head, path.module.heads)
    return on | {"layer": path.site.layer, "query": path.site.query, "key": path.site.key}


def take_mute(path: WeightPath) -> None:
    """Mute the head beside those that are muted, or give it back."""
    muted = bool(st.session_state["inside_mute"])
    choose(place_to_keep(path.site) | with_mute(current(), place_of(path), path.module.heads, muted=muted))
