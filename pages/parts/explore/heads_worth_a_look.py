"""The heads that do most with a text, found by measuring all of them, and the one that the large picture shows."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import streamlit as st

from model.measures.head_kinds import (
    CARDS,
    Finding,
    KindScores,
    Scores,
    Sides,
    best_of_heads,
    cards,
    cells_of,
    finding,
    kinds_in_text,
    sides_of,
)
from pages.parts.explore.cards import cards as card_row
from pages.parts.explore.explorer_panel import ShownAttention
from pages.parts.frame.theme import theme
from pages.parts.passes import edits_of, trace_of
from pages.parts.shared_cache import checkpoint_named
from pages.parts.state.session import choices, choose, current
from pages.parts.widgets.head_switches import one_head_on, only_head_on
from viz.explorer.attention_kinds import Kind
from viz.sentences.attention_curves import sentence_figure
from viz.text import head_findings, weight_sentences
from viz.tokens import markdown_text, position_name

LABEL = "Other heads worth a look"
NO_PATTERN = "None of the patterns that are looked for here stands out in it against chance."
SHARP = 1 / 2  # the mean of its queries' largest weights, from which a head does not spread its attention


class Heads(NamedTuple):
    """What was measured of one text's heads.

    first: the one to open on, if any is worth naming. others: the best of every other kind. best: what each head does
    most notably, by (layer, head). excess: by how much every head exceeds the null of each kind.
    """

    first: Finding | None
    others: tuple[Finding, ...]
    best: dict[tuple[int, int], Finding]
    excess: dict[str, Scores]


class OpeningHead(NamedTuple):
    """The head of the large picture; finding: what it does, if anything; others: those worth a look beside it."""

    layer: int
    head: int
    finding: Finding | None
    others: tuple[Finding, ...]


@st.cache_data(show_spinner=False, max_entries=64)
def notable_heads(name: str, attention: str, _shown: ShownAttention) -> Heads:
    """What every head does. name and attention say which numbers they are of."""
    selection = _shown.selection
    checkpoint = checkpoint_named(selection.checkpoint)
    edits = edits_of(selection, checkpoint)
    return heads_in(kinds_in_text(checkpoint, trace_of(selection, edits), attention, edits))


def heads_in(measured: KindScores) -> Heads:
    """What is worth knowing of the scores of a text."""
    first = finding(measured)
    excess = {kind: measured.scores[kind] - measured.nulls[kind] for kind in measured.scores}
    return Heads(first, cards(measured, first), best_of_heads(measured), excess)


def opening_of(attention: ShownAttention) -> OpeningHead:
    """The head that a visitor has chosen; else the one that was found."""
    return opening_among(attention, notable_heads(attention.name, attention.kind.name, attention))


def opening_among(attention: ShownAttention, heads: Heads) -> OpeningHead:
    """The same of heads that are measured."""
    worth = [each for each in (heads.first, *heads.others) if each is not None]
    first = (worth[0].layer, worth[0].head) if worth else (0, 0)
    place = chosen_place(attention) or first
    its_finding = next((each for each in worth if (each.layer, each.head) == place), heads.best.get(place))
    others = tuple(each for each in worth if (each.layer, each.head) != place)
    return OpeningHead(*place, its_finding, others[:CARDS])


def chosen_place(attention: ShownAttention) -> tuple[int, int] | None:
    """Layer and head that a visitor has chosen: as the only head of its layer that is on, or on the page Inside a head.

    There the first head is chosen as well where nothing names one, so that it counts here only where it is on alone.
    """
    view, heads, inside = attention.selection.view, attention.kind.heads, attention.selection.head
    alone = only_head_on(view, heads)
    head = inside if alone is None and inside in view.heads_on(heads)[1:] else alone
    return None if head is None else (view.layer, head)


def chosen_elsewhere(attention: ShownAttention, opening: OpeningHead) -> str:
    """Which heads the explorer shows where they were chosen and the picture's is none of them; "" where it is."""
    view, on = attention.selection.view, attention.selection.view.heads_on(attention.kind.heads)
    is_shown = opening.layer == view.layer and opening.head in on
    is_chosen = "layer" in choices() or len(on) < attention.kind.heads
    return "" if is_shown or not is_chosen or not on else head_findings.elsewhere(view.layer, on, attention.kind.heads)


def title_of(attention: ShownAttention, opening: OpeningHead) -> str:
    """What was found, in one line of Markdown; "" where nothing is worth naming and nothing was chosen."""
    if opening.finding is not None:
        return markdown_text(head_findings.title(opening.finding, attention.kind))
    return head_findings.ordinary(opening.layer, opening.head) if chosen_place(attention) else ""


def sentence_of(attention: ShownAttention, opening: OpeningHead) -> str:
    """The sentence under the title, Markdown."""
    if opening.finding is not None:
        return markdown_text(head_findings.sentence(opening.finding, attention.kind))
    return (
        look_of(attention.kind, opening)
        if chosen_place(attention)
        else markdown_text(head_findings.no_finding_sentence(attention.kind))
    )


def look_of(kind: Kind, opening: OpeningHead, by_chance: str = NO_PATTERN) -> str:
    """Where a head looks of which nothing stands out, and that this is nothing."""
    names = [position_name(place, token) for place, token in enumerate(kind.keys.tokens)]
    weights, one_text = kind.weights[opening.layer][opening.head], kind.queries is kind.keys
    sharpness = float(weights.max(axis=1).mean())
    if weight_sentences.where_it_looks(weights, names, one_text=one_text).share < SHARP <= sharpness:
        where = head_findings.sharp(opening.layer, opening.head, sharpness)
    else:
        layer, heads = opening.layer, (opening.head,)
        where = weight_sentences.sentence(weights, names, layer=layer, heads=heads, one_text=one_text)
    return f"{where} {by_chance}"


def how_chosen(opening: OpeningHead) -> str:
    """How the finding was chosen, and what it was measured against."""
    against = "" if opening.finding is None else f" {head_findings.against(opening.finding)}"
    return f"{head_findings.HELP}{against}"


def figure_of(attention: ShownAttention, opening: OpeningHead) -> dict:
    """What the large picture is drawn from."""
    selection = attention.selection
    trace = trace_of(selection, edits_of(selection, checkpoint_named(selection.checkpoint)))
    return figure_with(attention, opening, sides_of(trace, attention.kind.name))


def figure_with(attention: ShownAttention, opening: OpeningHead, sides: Sides) -> dict:
    """The same with what is known of the queries and keys."""
    kind, its_finding = attention.kind, opening.finding
    marked = np.zeros_like(sides.counted) if its_finding is None else cells_of(sides, its_finding)
    key = None if its_finding is None else its_finding.key
    return sentence_figure(kind, opening.layer, opening.head, marked, key=key, theme=theme())


def show_heads_worth_a_look(attention: ShownAttention, opening: OpeningHead) -> None:
    """One card for each other kind of head that this text has; a click shows that head alone."""
    show_cards(attention, opening, explained=head_findings.HELP, against=head_findings.against)


def show_cards(
    attention: ShownAttention, opening: OpeningHead, *, explained: str, against: Callable[[Finding], str]
) -> None:
    """The same. explained: how heads are measured; against: what a finding was measured against."""
    if not opening.others:
        return
    st.markdown(f"**{LABEL}**", help=explained)
    by_id = {each.kind: each for each in opening.others}
    listed = [head_findings.card(each, attention.kind) | {"explained": against(each)} for each in opening.others]
    card_row(listed, partial(take_card, by_id, attention.kind.heads), key="worth_a_look")


def take_card(by_id: dict[str, Finding], heads: int, name: str) -> None:
    """The head of a card, alone in its layer, with the key that it is about kept."""
    its_finding = by_id[name]
    choose(
        layer=its_finding.layer,
        query=its_finding.query,
        key=its_finding.key,
        **one_head_on(current(), its_finding.layer, its_finding.head, heads),
    )
