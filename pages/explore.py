"""Explore: which words does each head look at?"""

from collections.abc import Mapping, Set
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

import pages
from model import Checkpoint, Edits
from model.measures.one_weight import strongest
from model.trace import Trace
from pages.parts.components.sentence_picture import sentence_picture
from pages.parts.explore.chart_statistics import CHART_TITLES, chart_statistics, others_drawn
from pages.parts.explore.explorer_panel import (
    ShownAttention,
    heads_sentence,
    show_explorer,
    show_neighbours,
    shown_attention,
)
from pages.parts.explore.head_measures import chosen_measures, offer_measures, send_measures
from pages.parts.explore.heads_worth_a_look import (
    OpeningHead,
    chosen_elsewhere,
    figure_of,
    how_chosen,
    opening_of,
    sentence_of,
    show_heads_worth_a_look,
    title_of,
)
from pages.parts.explore.settings import Axes
from pages.parts.explore.three_changes import show_changes, swappable_side, take_swap
from pages.parts.frame.downloads import alone, downloads, files, selected_pass
from pages.parts.frame.finding import picture, picture_alone, show_caveats, show_finding
from pages.parts.frame.page_links import next_page_link, page_link
from pages.parts.frame.theme import theme
from pages.parts.heads.settings import HeadsSettings
from pages.parts.inside.opening_weight import is_small, pair_of
from pages.parts.models.head_scores import KINDS_HELP, kinds_said
from pages.parts.passes import edits_of, reads_typed, target_with_origin, trace_of
from pages.parts.prediction import prediction_of, verdict_of
from pages.parts.shared_cache import checkpoint_named, reads_pairs
from pages.parts.state.selection import Selection
from pages.parts.state.session import address_notice, choose, current, current_selection, forget, remember, run_again
from pages.parts.widgets.binding import bind, select, take
from pages.parts.widgets.head_switches import only_head_on
from pages.parts.widgets.switch import switch
from pages.parts.widgets.term_links import term_link
from viz.charts.head_statistics import CHOSEN, TITLES, chosen_heads, head_statistics
from viz.explorer import View
from viz.explorer.attention_kinds import Kind
from viz.explorer.view import positions_of
from viz.text import head_findings, weight_sentences
from viz.text.card_tables import is_untrained
from viz.text.causes.head_effects import ZERO_HERE
from viz.text.learn.model_answers import accuracy_of, doubt
from viz.text.token_table import token_table
from viz.tokens import counted, markdown_text, percent, position_name

HOW_TO_READ = """
- The model reads the text in {layers}, one after the other. Each layer has several {heads}, which work in parallel;
  each learned its own way of looking in training. The next layer works on their results.
- **Large picture**: the queries stand above, the keys below, and a curve runs from each query to the keys that it
  attends to. A larger weight has a wider and stronger curve; weights below a hundredth of the largest are not drawn.
  The curves that the title is about are coloured, all others grey. Keys are shaded by the weight that they receive.
- A {query} is a token that looks, a {key} one that is looked at: the query attends to the key. The {weight}, from 0
  to 1, is the share of the query's attention that goes to that key; the weights of a query add up to 1.
- **Grid**: every head of every layer; click one to see it alone, double-click to open it. **Lines** and **matrix** show
  the heads of the chosen layer that are on; the matrix shows their mean. **Text** is shaded by the weights.
- Point at a token in any of them, and all views show only what it attends to; click to keep it. "≈" marks a number read
  from the picture. Rest the pointer for a moment, and the exact number takes its place, where a cell stands for one
  query and one key.
- ␣ stands for a space, and a token that begins with ## continues a word. Names in brackets, such as [START] or [UNK],
  are special tokens: they mark the beginning, the end, or a piece of text that the vocabulary does not contain.
"""
MUTE_HELP = (
    "Runs the model again with the heads that are off muted: the context of each, the weighted sum of its values, is "
    "set to zero before the layer's output projection. The page then gives the prediction before and after."
)
INSIDE_HELP = (
    "Shows every step from the words to one weight, with its numbers: the weight of the query and key that are kept "
    "in the picture, or else the largest."
)
MATTERS_HELP = "Mutes this head and every other, one at a time, and shows how the answer changes."
ALIKE_HELP = (
    "Lists the heads that look where this one looks, over this text and examples, under a comparison of two texts."
)
MEAN_SAID = "**{}** attends to **{}** with {}, the mean of {} heads. Choose one of these heads:"
MOST_LINKS = 8
OUTPUT_HELP = "What the decoder writes when it takes the most probable token each time."
STATISTICS_HELP = (
    "Most numbers are of this sentence and this attention. Entropy says how widely a head spreads its attention: in "
    "bits, the mean over its queries; 0 where each query attends to one token alone. Distance is the mean number of "
    "tokens between query and key. The other numbers are shares of all the weight that the head gives. What says “many "
    "texts” is of the file of scores beside the model, and the same for every sentence: by how much the score of a "
    "kind of heads exceeds its null. The page Models has the kinds, the nulls and the texts."
)
STATISTICS_NOTE = (
    "Click a head in either part of the chart to choose it: the explorer shows the chosen heads and switches the "
    "others off. Another click removes the head from the choice, and a double click switches all heads on. Once a "
    "head is off, the heads that are on are outlined. In the lower part, a larger mark stands for a larger number."
)
ACTIONS = (226, 128)  # pixels: the widths of what acts on the heads that are on
ACTIONS_HEIGHT = 40
PREDICTION_HEIGHT = 76
PICTURE_HEIGHT, CHANGES_HEIGHT, CARDS_HEIGHT = 320, 96, 118
QUESTION = "Which words does each head look at?"
INTRODUCTION = "A Transformer reads your sentence; everything here is computed as you watch."
START = "New here? Start: twelve questions, half an hour"
START_HELP = (
    "Each question is about your own sentence: you guess, and then see what the model computes. The first asks where "
    "the model looks."
)
TOKENS_HELP = (
    "The model reads tokens: words, or pieces of words that its vocabulary does not contain. The id is the token's "
    "number in the vocabulary. Characters of the text count from 0; the end is not included."
)


def show() -> None:
    """The page, from top to bottom.

    A visitor's first sight of it is the text and the pictures alone: a browser that has to start all its controls,
    charts and tables first draws the picture a third later. They come as soon as it says that it has drawn it.
    """
    selection, whole, read = current_selection(), "_picture_sent" in st.session_state, False
    pages.show_bar(selection)
    above = st.container()
    pages.say_kept(selection)
    with pages.plain_refusals():
        with st.spinner("Computing the attention of every head"):
            remember(shown_attention().selection)
        address_notice(last=whole)
        read = True
        show_attention(whole, selection.text)
    if not read:
        with above:
            show_finding(QUESTION)
    if "_picture_sent" not in st.session_state and not picture_alone():
        st.session_state["_picture_sent"] = True  # it was refused: no picture will come, and the controls may help
        run_again()


@st.fragment
def show_attention(whole: bool, text: str) -> None:
    """What was found, the large picture, and all heads; this alone runs when the explorer is used.

    text: that of the page around it, which runs again where words were swapped in here.
    """
    if (not whole and "_picture_sent" in st.session_state) or st.session_state["_selection"].text != text:
        run_again()
    selection = current()
    with pages.plain_refusals():
        attention = shown_attention()
        selection = attention.selection
        opening = show_opening(attention, whole)
        if not picture_alone():
            show_all(attention, opening, whole)
    remember(selection)


def show_opening(attention: ShownAttention, whole: bool) -> OpeningHead | None:
    """The finding and the large picture of its head; None where the heads are not measured yet."""
    checkpoint = checkpoint_named(attention.selection.checkpoint)
    if not (whole or is_small(checkpoint) or picture_alone()):
        show_finding(QUESTION, sentence="The picture appears when every head is measured.")
        with picture():
            st.space(PICTURE_HEIGHT)
        return None
    opening = opening_of(attention)
    parts = (sentence_of(attention, opening), verdict(attention), chosen_elsewhere(attention, opening))
    sentence = " ".join(filter(None, parts))
    title = title_of(attention, opening)
    if title and is_untrained(checkpoint.card):
        title, sentence = head_findings.UNTRAINED, f"{title} {sentence}"
    show_finding(question() if title else QUESTION, title, sentence, explained=how_chosen(opening))
    show_caveats(checkpoint, trace_of(attention.selection, edits_of(attention.selection, checkpoint)))
    show_start()
    with picture():
        name = f"{attention.name} {attention.kind.name} {opening.layer} {opening.head}"
        sentence_picture(figure_of(attention, opening), name, swappable_side(attention), take_swap)
    return opening


def show_start() -> None:
    """Where somebody goes who has not seen any of this before."""
    if not picture_alone():
        with st.container(key="start"):
            page_link(START, "learn", START_HELP)


def question() -> str:
    """The page's question; the first page that anybody sees says what the app does, too."""
    return QUESTION if picture_alone() else f"{QUESTION} {INTRODUCTION}"


def verdict(attention: ShownAttention) -> str:
    """What the model says, with heads muted if any are. Markdown."""
    selection = attention.selection
    checkpoint = checkpoint_named(selection.checkpoint)
    edits = edits_of(selection, checkpoint)
    if typed := reads_typed(selection):  # the same target, whatever is muted
        return markdown_text(verdict_of(checkpoint, trace_of(selection, edits), typed=typed))
    sentence = verdict_of(checkpoint, trace_of(selection, edits))
    return markdown_text(sentence.replace(": ", " with heads muted: ", 1) if edits.muted else sentence)


def show_all(attention: ShownAttention, opening: OpeningHead | None, whole: bool) -> None:
    """Three changes, other heads worth a look, and every head of every layer in the explorer."""
    changes, muted, others = st.container(key="changes"), st.container(), st.container(key="worth", gap="xsmall")
    with muted:  # below the button that mutes, which stays where it is; there in any case, or all below is made anew
        say_muted(attention.selection)
    with others:
        if opening is not None:
            show_heads_worth_a_look(attention, opening)
        else:
            st.space(CARDS_HEIGHT)
    st.subheader("All heads", anchor=False)
    above = st.container()
    show_explorer(attention, awaited=not whole)  # sent before all that takes longer: it may be waited for
    st.session_state["_picture_sent"] = True
    with above:
        show_answer(attention, opening if whole else None)
    with changes:
        if whole and opening is not None:
            show_changes(attention, opening)
        else:
            st.space(CHANGES_HEIGHT)
    if whole:
        show_below(attention)
    if whole and opening is not None:
        show_next(attention, opening)


def show_next(attention: ShownAttention, opening: OpeningHead) -> None:
    """Where to go from here, and why: to the weight that is kept in the picture, or else to the one that was found."""
    view, (query, key) = (
        attention.selection.view,
        pair_of(opening.finding, attention.kind) if opening.finding else (None, None),
    )
    if is_on_screen(opening) and (view.query, view.key) != (None, None):
        query, key = view.query, view.key
    pair = {"query": query, "key": key}
    why = f"{head_findings.head_called(opening.layer, opening.head)}: every step from the words to one of its weights."
    next_page_link("explore", why, layer=opening.layer, head=opening.head, **pair)


def is_on_screen(opening: OpeningHead) -> bool:
    """Whether the explorer shows the layer of the large picture too."""
    return current().view.layer == opening.layer


def show_below(attention: ShownAttention) -> None:
    """How to read the explorer, and what is known of the sentence beside it."""
    st.markdown(f"**How to read this**\n{HOW_TO_READ.format(**term_links())}")
    st.page_link(pages.FOLDER / "evidence.py", label="How we know: all numbers checked")
    show_statistics(attention)
    show_tokens(attention.selection)
    show_neighbours(attention)
    send_measures(attention)


def term_links() -> dict[str, str]:
    """The words of the field that the list explains, each linked to the page Words."""
    named = {name: term_link(name) for name in ("query", "key", "weight")}
    return named | {"layers": term_link("layer", "**layers**"), "heads": term_link("head", "**heads**")}


def show_answer(attention: ShownAttention, opening: OpeningHead | None) -> None:
    """Where the heads that are on look, and what the model says, with what acts on that.

    opening: None leaves the places of the last two empty.
    """
    selection = attention.selection
    checkpoint = checkpoint_named(selection.checkpoint)
    trace = trace_of(selection, edits_of(selection, checkpoint))
    words, outcome = st.columns([5, 3])
    with words:
        st.markdown(over_all(heads_sentence(attention)), help=weight_sentences.HELP)
        with st.container(horizontal=True, gap="small"):  # there in any case, or all below is made anew
            show_questions(attention)
    with outcome:
        if opening is not None:
            show_prediction(checkpoint, selection, trace)
            show_actions(attention, opening)
        else:
            st.space(PREDICTION_HEIGHT)
            hold_actions()


def over_all(sentence: str) -> str:
    """The sentence of one head, with what it is a mean over: the finding above may be of some of the queries alone."""
    return f"Over all queries, {sentence[0].lower()}{sentence[1:]}" if sentence.startswith("Head ") else sentence


def show_questions(attention: ShownAttention) -> None:
    """What can be asked of the one head that is on."""
    view, kind = attention.selection.view, attention.kind
    if (head := only_head_on(view, kind.heads)) is not None:
        place = {"layer": view.layer, "head": head}
        page_link("What does this head do?", "heads", MATTERS_HELP, **place)
        page_link("Heads like this one", "compare", ALIKE_HELP, **place, alike=True)
        if said := kinds_said(attention.selection, kind.name, (view.layer, head)):
            st.caption(markdown_text(said), help=KINDS_HELP)


def show_actions(attention: ShownAttention, opening: OpeningHead) -> None:
    """What acts on the heads that are on, takes them away, or leads inside them."""
    selection, heads = attention.selection, attention.kind.heads
    with st.container(horizontal=True, vertical_alignment="center"):
        key = bind("mute", selection.mute, told=True)
        switch("Mute the heads that are off", MUTE_HELP, key=key, on_change=take, args=("mute",))
        with files():
            taken = selected_pass(selection, chosen_measures(attention))
            key_found = None if opening.finding is None else opening.finding.key
            snapshot = alone(taken, opening.layer, opening.head, key_found)
            downloads("explore", taken, any_head=bool(selection.view.heads_on(heads)), finding=snapshot)
            offer_measures(attention)
        show_links_inside(attention)


def hold_actions() -> None:
    """The places of the actions, which take two lines where there is no room for one."""
    with st.container(horizontal=True):
        for width in ACTIONS:
            st.container(width=width, height=ACTIONS_HEIGHT, border=False)


def show_links_inside(attention: ShownAttention) -> None:
    """To the number in the picture: inside the head that is on; of a mean, inside one of its heads."""
    view, kind = attention.selection.view, attention.kind
    on = view.heads_on(kind.heads)
    if not on:
        return
    weights = kind.weights[view.layer]
    mean = weight_sentences.mean_of_heads(weights, on)
    if (place := place_looked_at(mean, view, kind)) is None:
        return
    query, key = place
    if len(on) == 1:  # Inside finds the largest weight too, but among all tokens, those that the picture hides as well
        same = place == strongest(mean, view.query, view.key)
        page_link(
            "Inside this weight", "inside", INSIDE_HELP, head=on[0], **({} if same else {"query": query, "key": key})
        )
        return
    names = [position_name(place, text.tokens[place]) for place, text in ((query, kind.queries), (key, kind.keys))]
    with st.popover("Inside this weight", help=INSIDE_HELP):
        st.markdown(MEAN_SAID.format(*map(markdown_text, names), percent(float(mean[query, key]), 1), len(on)))
        with st.container(height=320 if len(on) > MOST_LINKS else "content", border=False):
            for head, weight in zip(on, weights[list(on), query, key].tolist(), strict=True):
                label = f"Head {counted(head)}: {percent(weight, 1)}"
                page_link(label, "inside", INSIDE_HELP, head=head, query=query, key=key)


def place_looked_at(mean: np.ndarray, view: View, kind: Kind) -> tuple[int, int] | None:
    """The query and key of the weight that the picture shows: those kept, or of the largest; None where all is hidden.

    mean: (query, key).
    """
    rows, columns = positions_of(kind.queries, view, 0), positions_of(kind.keys, view, 1)
    if not rows or not columns:
        return None
    query = rows.index(view.query) if view.query in rows else None
    key = columns.index(view.key) if view.key in columns else None
    row, column = strongest(mean[np.ix_(rows, columns)], query, key)
    return rows[row], columns[column]


def say_muted(selection: Selection) -> None:
    """The heads that are muted though they are on, what the model said before, and a way to give them back."""
    if selection.muted:
        heads = ", ".join(f"head {counted(head)} of layer {counted(layer)}" for layer, head in sorted(selection.muted))
        means = "A muted head still computes its weights; its context is set to zero."
        if elsewhere := ZERO_HERE[selection.of(HeadsSettings).baseline]:
            means += f" {elsewhere}"
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"Muted: {heads}. {means} {before_muting(selection)}", width="content")
            st.button(
                "Unmute" if len(selection.muted) == 1 else "Unmute all",
                key="give_back",
                on_click=choose,
                kwargs={"muted": frozenset()},
            )


def before_muting(selection: Selection) -> str:
    """ "Before muting: positive 93.9 %."; "" where the model says nothing, or only reads a target. Markdown."""
    if reads_typed(selection):
        return ""
    sentence = verdict_of(checkpoint_named(selection.checkpoint), trace_of(selection, Edits()))
    return markdown_text(f"Before muting: {sentence.partition(': ')[2]}") if sentence else ""


def show_statistics(attention: ShownAttention) -> None:
    """What every head does with this sentence, in numbers; choosing heads here shows them in the explorer."""
    selection, kind, statistics = attention.selection, attention.kind, chart_statistics(attention)
    st.subheader("Every head in numbers", anchor=False, help=STATISTICS_HELP)
    with st.container(horizontal=True):
        axes = [
            choose_axis("across", "Horizontal axis", selection.of(Axes).across, list(statistics)),
            choose_axis("up", "Vertical axis and colour", selection.of(Axes).up, list(statistics), place=1),
        ]
    drawn = {name: values for name, values in statistics.items() if name in TITLES or name in axes}
    on = frozenset(np.ndindex(kind.layers, kind.heads)) - selection.view.off if selection.view.off else frozenset()
    st.vega_lite_chart(
        chart_of((attention.name, kind.name, *axes, on, theme(), others_drawn(drawn)), drawn),
        theme=None,
        on_select=partial(take_chosen, kind.layers, kind.heads),
        selection_mode=[CHOSEN],
        key=chart_key(selection.view.off),
        alt=f"Scatter plot and strip: two statistics of {kind.layers} layers with {kind.heads} heads each.",
    )
    st.markdown(STATISTICS_NOTE)


def choose_axis(name: str, label: str, statistic: str, there: list[str], *, place: int = 0) -> str:
    """One axis of the chart; a statistic that this attention has not, as cross-attention no distance, gives way."""
    chosen = statistic if statistic in there else there[place]
    take_axis = partial(take_axis_named, name)
    select(label, there, chosen, take_axis, key=name, format_func=CHART_TITLES.__getitem__, width=320)
    return chosen


def take_axis_named(name: str, statistic: str) -> None:
    """Another statistic on an axis."""
    choose({name: statistic})


@st.cache_data(show_spinner=False, max_entries=64)
def chart_of(key: tuple[Any, ...], _statistics: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The chart of the statistics as Vega-Lite: to make it takes longer than all else in an answer.

    It is not checked against Vega-Lite's schema, which would take as long again; the tests do that.

    key: a name for the statistics, the attention, two axes, the heads that are on, the theme, and what is drawn
    that the text does not decide.
    """
    _, _, across, up, on, colours, _ = key
    return head_statistics(_statistics, across, up, on=on, titles=CHART_TITLES, theme=colours).to_dict(validate=False)


def chart_key(off: Set[tuple[int, int]]) -> str:
    """Another one whenever heads were switched elsewhere: what had been chosen in the chart is forgotten with it."""
    number, before = st.session_state.get("_chart", (0, None))
    st.session_state["_chart"] = (number if off == before else number + 1, off)
    return f"heads_chart_{st.session_state['_chart'][0]}"


def take_chosen(layers: int, heads: int) -> None:
    """Switch the heads chosen in the chart on, and all others off; none chosen is all. The last chosen is seen."""
    number, before = st.session_state["_chart"]
    chosen = chosen_heads(st.session_state[f"heads_chart_{number}"]["selection"][CHOSEN], (layers, heads))
    off = frozenset(np.ndindex(layers, heads)) - chosen if chosen else frozenset()
    st.session_state["_chart"] = (number, off)
    layers_of_new = {layer for layer, head in chosen if not before or (layer, head) in before}
    here = layers_of_new or {layer for layer, _ in chosen}
    layer = current().view.layer
    choose(off=off, layer=layer if layer in here or not here else min(here))
    forget("head")


def show_prediction(checkpoint: Checkpoint, selection: Selection, trace: Trace) -> None:
    """What the model says of the text, by the kind of its head, and what muting did to it."""
    if trace.encoder is not None and trace.decoder is not None:
        target = target_with_origin(selection, checkpoint, edits_of(selection, checkpoint))
        st.markdown("Output", help=OUTPUT_HELP) if target is None else st.markdown(f"Target: {target.by}")
        st.text(weight_sentences.text_line(checkpoint.tokenizer.decode(trace.decoder.ids.tolist())))
    prediction = prediction_of(checkpoint, trace)
    if prediction is None:
        return
    title, outcome, explained = prediction
    muted = edits_of(selection, checkpoint).muted
    if checkpoint.config.labels:
        answer, _ = weight_sentences.prediction(checkpoint.probabilities(trace))
        explained = f"{explained} {doubt(selection.text, answer, accuracy_of(checkpoint.card))}".strip()
    st.metric(f"{title} with heads muted" if muted else title, outcome, help=explained)
    if muted and (before := prediction_of(checkpoint, trace_of(selection, Edits()))):
        st.text(f"Before muting: {before[1]}")


def show_tokens(selection: Selection) -> None:
    """Every token with its id and the word that it is a piece of."""
    trace = trace_of(selection, Edits())
    stack = trace.text_stack
    st.subheader("Tokens", anchor=False, help=TOKENS_HELP)
    if stack.tokens is not None:
        pair = reads_pairs(selection.checkpoint) and selection.pair
        texts = [selection.text, selection.pair] if pair else [selection.text]
        ids, facts = stack.ids.tolist(), (stack.words, stack.spans, stack.segments)
        rows = token_table(texts, stack.tokens, ids, *facts)
        st.dataframe(pd.DataFrame(rows), hide_index=True)


pages.frame("explore")
show()
pages.freeze_imports("explore")
