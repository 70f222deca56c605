"""Positions: how does the model know the order of words?"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.elements.lib.mutable_expander_container import ExpanderContainer

import pages
from model import Checkpoint
from model.edits import NO_EDITS
from model.measures.positions import schemes as measures
from model.measures.positions.swapped_order import TwoOrders, two_orders
from model.trace import StackTrace, Trace
from model.transformer import Stack
from pages.parts.explore.explorer_panel import name_of
from pages.parts.frame.downloads import button, download_name, files, share_bars
from pages.parts.frame.finding import picture, picture_alone, show_caveats, show_finding
from pages.parts.frame.page_links import next_page_link
from pages.parts.frame.theme import theme
from pages.parts.passes import provenance_of, trace_of
from pages.parts.positions.settings import (
    LONGEST,
    LONGEST_SCHEME,
    LONGEST_SHIFT,
    STACKS,
    TABLES,
    WIDEST,
    PositionsSettings,
    fitting_settings,
    misfits,
)
from pages.parts.shared_cache import checkpoint_named
from pages.parts.state.fields import address_text
from pages.parts.state.page_fields import CODEC
from pages.parts.state.selection import Selection
from pages.parts.state.session import (
    address_notice,
    changed_selection,
    choose,
    current,
    current_selection,
    remember,
    unusable,
)
from pages.parts.widgets.binding import bind, radio, select
from pages.parts.widgets.switch import switch
from viz.charts import position_charts as figures
from viz.export import data_files
from viz.text import position_sentences
from viz.theme import MOST_CURVES
from viz.tokens import markdown_text, position_name

LONGEST_PRODUCTS, LONGEST_BEYOND = 512, 2048
OWN = "own"
TABLE_NAMES = {"formula": "the formula", "own": "this checkpoint"}

QUESTION = "How does the model know the order of words?"
HOW_TO_READ_ORDERS = """
**How to read this**
- Two tokens, marked ⇄, change places, and the model reads both orders. A bar shows how far a token's vector after the
  last layer is from its vector in the other order, as a share of its length; 0 means that the model sees no difference.
- The two bars of a token belong to the same model with its positions and without them. They show how far a vector
  moves, not how well the model reads. The mask of a decoder also tells it the order, and its vectors may move further
  without positions.
"""
SUM, NO_SUM = "Token vector plus position vector", "Token vectors, without a position vector"
NO_SUM_HELP = "The vectors that enter the first layer: this checkpoint adds no vector for a position."
SUM_HELP = "The vectors that enter the first layer: each is the token's own vector plus the vector for its position."
HOW_TO_READ = """
- The picture shows numbers of the forward pass: each token's vector from the table of embeddings (times √width, where
  the architecture scales it){added} the first layer.
- A row of a heatmap is a position, a column one of its numbers: **orange** is below 0, **blue** above, and the colour
  of the page is 0. Point at a cell for its number.
{waves}- Tokens count from 1; positions and dimensions count from 0, as in the formula: token 1 stands at position 0.
"""
ADDED_READ = ", the vector that is added for its position, and the sum, which enters"
NOT_ADDED_READ = ". No vector is added for its position, so that this vector enters"
WAVES_READ = """\
- Dimensions 0 and 1 are the sine and the cosine of the shortest wave; every pair further right has a longer one.
  Together they tell positions apart as the hands of a clock tell times apart.
"""
NO_FORMULA = "No formula gives these vectors: training found them, one for each position."
NO_WAVES = (
    "The wavelengths and the shift below are those of the formula, not of this checkpoint: vectors that training "
    "found are not waves."
)
FORMULA_TEXT = (
    r"PE_{(pos,\,2i)} = \sin\!\left(pos / 10000^{2i/d}\right)",
    r"PE_{(pos,\,2i+1)} = \cos\!\left(pos / 10000^{2i/d}\right)",
)
TABLE_HELP = "The formula of the paper at any size, or the position vectors of the checkpoint above, if it has any."
LENGTH_HELP = f"How many positions, from 1 to {LONGEST:,}."
WIDTH_HELP = (
    f"How many numbers a position has: the width of the model, from 1 to {WIDEST:,}. A checkpoint has its own width."
)
DIMENSIONS_HELP = f"Which columns of the table the curves show, at most {MOST_CURVES}. They count from 0."
WAVES_HELP = "The number of positions after which a sine starts again: 2π · 10000^(2i/width)."
PRODUCTS_HELP = (
    "The dot product of two position vectors is the sum of the products of their numbers. A score is the dot product "
    "of a query and a key, so a product that falls with the distance lets a head attend to near tokens."
)
SHIFT_HELP = (
    "A pair of a sine and a cosine is like the hand of a clock. A shift by k positions rotates every hand by k times "
    "its own angle, wherever the hand stands. One matrix does this for all positions, so a head can learn to attend "
    "k words back."
)
BEYOND_HELP = (
    "For each position, the share of its numbers that lie outside the range of their dimension by more than 0.01. "
    "The range is that of all positions of the longest text that the checkpoint reads."
)
SCHEMES_HELP = (
    "Everything except the position is the same here: differences within a picture come only from the positions of "
    "query and key. Each picture has its own scale; the curve below it is the row of one query."
)
CAUSAL_HELP = "Shows a decoder's view: no query sees a later key. The paper on ALiBi covers only this case."
HEAD_HELP = (
    "One of eight heads, counted from 1. ALiBi and the relative bias differ from head to head; the other schemes do "
    "not."
)
TOKENS_HELP = f"How many positions each picture compares, from 2 to {LONGEST_SCHEME}."
PAIR_HELP = "Which sine and cosine, counted from 0: pair i holds dimensions 2i and 2i + 1."
POSITION_HELP = f"Where the shift starts, from 0 to {LONGEST_SHIFT:,}."
STEPS_HELP = f"By how many positions, from 0 to {LONGEST_SHIFT:,}."
VECTORS_HELP = "The vectors of all tokens as arrays, for numpy.load: token, position, segment, and the total."
NUMBERS_HELP = "This table, its products, their means by distance and the wavelengths, with all digits, for numpy.load."
SCHEMES_FILE_HELP = (
    "What each scheme adds, one (query, key) array for each scheme; NaN where a key is hidden. For numpy.load."
)
CSV_HELP = "Every position and dimension of this table, with all digits."
QUERY_HELP = "The query whose row is the curve below each picture. Queries count from 0."
STACK_HELP = "The encoder reads the text, the decoder writes; each adds positions to its own tokens."
SHOWN_HELP = "The token whose numbers the table lists, with all digits."


def show() -> None:
    """The page, from top to bottom."""
    selection = current_selection()
    pages.show_bar(selection)
    above, refused = st.container(), True
    with pages.plain_refusals(), st.spinner("Computing the vectors of every token"):
        fit_settings()
        title_and_sentence = finding()
        with above:
            show_finding(QUESTION, *title_and_sentence, explained=position_sentences.TWO_ORDERS_HELP)
            selection, checkpoint, _ = fitted_selection()
            show_caveats(checkpoint, trace_of(selection, NO_EDITS))
        if not picture_alone():
            pages.say_kept(selection)
            address_notice()
        show_orders()
        show_sum(answered=not title_and_sentence[0])
        refused = False
    if refused:
        with above:
            show_finding(QUESTION)
    if not picture_alone():
        show_vectors()
        show_beyond()
        show_schemes()
        if not refused:
            share_finding()
        next_page_link("positions")


def share_finding() -> None:
    """The picture to share: both numbers of the finding, if it has any."""
    selection, checkpoint, _ = fitted_selection()
    measured = orders()
    bars = [] if measured is None else position_sentences.bars(measured)
    share_bars(
        "positions", bars, position_sentences.BARS if bars else "", provenance_of(selection, checkpoint, NO_EDITS)
    )


def finding() -> tuple[str, str]:
    """What the order of two tokens matters to this model; the scheme alone where the text holds no two."""
    selection, checkpoint, name = fitted_selection()
    trace, measured = trace_of(selection, NO_EDITS), orders()
    if measured is None:
        return "", position_sentences.answer(checkpoint.config.positions)
    reads = name == "encoder" or trace.encoder is None
    return position_sentences.finding(measured, getattr(trace, name), selection.text if reads else None)


def orders() -> TwoOrders | None:
    """How much the order of two tokens of the text matters; None where the text holds no two, or is too long."""
    selection, checkpoint, name = fitted_selection()
    return measured_orders(name_of(selection, NO_EDITS), name, checkpoint, trace_of(selection, NO_EDITS))


@st.cache_data(show_spinner=False, max_entries=64)
def measured_orders(text: str, stack: str, _checkpoint: Checkpoint, _trace: Trace) -> TwoOrders | None:
    """How much the order matters; text and stack name the numbers."""
    return two_orders(_checkpoint, _trace, stack)


def offer_numbers(label: str, part: str, explained: str, arrays: Callable[[], dict[str, np.ndarray]]) -> None:
    """A file of numbers in full, made when it is asked for."""
    selection = current()
    source = provenance_of(selection, checkpoint_named(selection.checkpoint), NO_EDITS)

    def make() -> bytes:
        return data_files.npz(arrays(), provenance=source)

    with files(part):
        button(label, download_name("positions", "npz", part), make, explained)


def offer_table(table: np.ndarray, source: str) -> None:
    """The table of position vectors as a file."""
    selection = current()
    facts = {"table": source} | provenance_of(selection, checkpoint_named(selection.checkpoint), NO_EDITS).facts()
    with files("vectors"):
        name = download_name("positions", "csv", "table")
        button("Position vectors (CSV)", name, partial(figures.table_csv, table, facts), CSV_HELP)


def draw(figure: go.Figure, key: str) -> None:
    """One picture in the colours of the page."""
    st.plotly_chart(figure, theme=None, config=figures.CONFIG, key=key)


def fitted_selection() -> tuple[Selection, Checkpoint, str]:
    """The selection with settings that fit, its checkpoint, and the stack it looks at.

    The settings are kept, and in the address from now on.
    """
    selection = current()
    checkpoint = checkpoint_named(selection.checkpoint)
    settings = selection.of(PositionsSettings)
    stacks = [name for name in STACKS if getattr(checkpoint.model, name) is not None]
    tables = tables_of(checkpoint)
    is_own = settings.table == OWN and OWN in tables
    width = checkpoint.config.width if is_own else settings.width
    settings = fitting_settings(settings, stacks=stacks, tables=tables, width=width)
    selection = changed_selection(selection, **vars(settings))
    remember(selection)
    return selection, checkpoint, settings.stack or stacks[0]


def tables_of(checkpoint: Checkpoint) -> Sequence[str]:
    """Whose position vectors can be shown: a checkpoint that adds none has no table of its own."""
    adds = checkpoint.config.positions in position_sentences.ADDS
    return [name for name in TABLES if adds or name != OWN]


def fit_settings() -> None:
    """What of the settings the checkpoint or the text has no place for is put back and noted."""
    before = current().of(PositionsSettings)
    selection, _, stack = fitted_selection()
    settings = selection.of(PositionsSettings)
    if settings.token >= len(getattr(trace_of(selection, NO_EDITS), stack).ids):
        settings = replace(settings, token=0)
        remember(changed_selection(selection, token=0))
    for name in misfits(before, settings):
        unusable(name)


def setting(name: str, value: Any, first: int = 0) -> dict[str, Any]:
    """What makes a control show a setting and change it; ``first``: what the screen calls 0."""
    return {"key": bind(name, value, told=True), "on_change": take_control, "args": (name, first)}


def take_control(name: str, first: int) -> None:
    value: Any = st.session_state[name]
    with suppress(TypeError):  # an emptied field is left aside
        take_setting(name, tuple(value) if isinstance(value, list) else value - first if first else value)


def take_setting(name: str, value: Any) -> None:
    """Another value, unless it is one that no address may hold either: a browser can send any."""
    with suppress(ValueError):
        choose(steers=False, **{name: CODEC.parse(name, address_text(value))})


def section(name: str, title: str) -> ExpanderContainer:
    """A part of the page to unfold. What stands in it is made while it is open: a browser takes long for all charts."""
    chosen = fitted_selection()[0].of(PositionsSettings)
    key = bind(f"section_{name}", chosen.unfolded(name), told=True)
    return st.expander(title, key=key, on_change=take_fold, args=(name,))


def take_fold(name: str) -> None:
    """A section was opened or closed; what the browser says of it counts, for it may have been pressed twice."""
    chosen = current().of(PositionsSettings)
    if bool(st.session_state[f"section_{name}"]) != chosen.unfolded(name):
        choose(steers=False, sections=chosen.with_fold(name))


def stack_of(checkpoint: Checkpoint, name: str) -> Stack:
    return getattr(checkpoint.model, name)


# The visitor's own text


def show_orders() -> None:
    """What the title says as a picture: how far each token's vector moves when two tokens change places."""
    if (measured := orders()) is None:
        return
    selection, checkpoint, name = fitted_selection()
    stack: StackTrace = getattr(trace_of(selection, NO_EDITS), name)
    with picture():
        figure = figures.order_figure(
            position_sentences.changes_of(measured), stack.names(), measured.places, theme=theme()
        )
        st.plotly_chart(figure, theme=None, config={"displayModeBar": False}, key="orders")
    if not picture_alone():
        st.markdown(HOW_TO_READ_ORDERS)
        added = checkpoint.config.positions in position_sentences.ADDS
        st.subheader(SUM if added else NO_SUM, anchor=False, help=SUM_HELP if added else NO_SUM_HELP)


def show_sum(*, answered: bool) -> None:
    """Token vector, position vector and sum of every token.

    answered: the finding says how the order is known, for no two tokens could be swapped; this is the main picture.
    """
    selection, checkpoint, name = fitted_selection()
    if answered or not picture_alone():
        show_parts(main=answered)
    if picture_alone():
        return
    trace = trace_of(selection, NO_EDITS)
    stacks = {name: stack for name in STACKS if (stack := getattr(trace, name)) is not None}
    if len(stacks) > 1:
        radio("Stack", list(stacks), name, partial(take_setting, "stack"), key="stack", help=STACK_HELP)
    stack = stacks[name]
    st.markdown(" ".join(order_sentences(stack, checkpoint.config.positions, answered=answered)))
    waves = WAVES_READ if checkpoint.config.positions == "sinusoidal" else ""
    added = ADDED_READ if checkpoint.config.positions in position_sentences.ADDS else NOT_ADDED_READ
    st.markdown(f"**How to read this**\n{HOW_TO_READ.format(added=added, waves=waves)}")


def order_sentences(stack: StackTrace, scheme: str, *, answered: bool) -> Iterator[str]:
    """How this checkpoint knows the order, unless it is answered, and what becomes of a token that stands twice."""
    if not answered:
        yield position_sentences.answer(scheme)
    parts, twice = measures.parts(stack.embedding), measures.repeated_token(stack.ids)
    if parts.position is not None and twice and stack.tokens:
        before, after = (measures.apart(vectors, *twice) for vectors in (parts.token, parts.placed))
        yield position_sentences.twice(stack.tokens[twice[0]], *twice, before, after)


@st.fragment
def show_parts(*, main: bool) -> None:
    """The vectors of all tokens as pictures, those of one as a table. main: whether they are the main picture."""
    with pages.plain_refusals():
        selection, _, name = fitted_selection()
        stack: StackTrace = getattr(trace_of(selection, NO_EDITS), name)
        tokens = stack.names()
        parts = measures.parts(stack.embedding)
        with picture() if main else nullcontext():
            draw(figures.text_heatmaps(parts.names, tokens, theme=theme()), "sum")
        if picture_alone():
            return
        if parts.position is None:
            st.info(position_sentences.NOTHING_ADDED)
        with st.expander("The numbers of one token"):
            show_numbers(selection, parts, tokens)


def show_numbers(selection: Selection, parts: measures.Parts, tokens: Sequence[str]) -> None:
    """The vectors of one token as a table, those of all as a file."""
    places = range(len(tokens))
    place = min(selection.of(PositionsSettings).token, len(tokens) - 1)
    names = [position_name(at, token) for at, token in enumerate(tokens)]
    looks = {"format_func": names.__getitem__, "help": SHOWN_HELP}
    select("Numbers of the token", places, place, partial(take_setting, "token"), key="token", **looks)
    rows = pd.DataFrame({name: part[place] for name, part in parts.names.items()})
    numbers = {name: st.column_config.NumberColumn(format="%.9g") for name in parts.names}
    st.dataframe(rows.rename_axis("dimension"), column_config=numbers, height=248)
    offer_numbers("Token vectors (NPZ)", "tokens", VECTORS_HELP, lambda: measures.vectors(parts))


# The table of position vectors


@st.fragment
def show_vectors() -> None:
    """The table at a chosen size: curves, heatmap, wavelengths, products, and a shift in it."""
    show_table()
    show_products()
    show_waves()
    show_shift()


def show_table() -> None:
    """The formula of the table, its size, its curves and all its numbers."""
    with section("table", "The position vectors") as box, pages.plain_refusals():
        if not box.open:
            return
        with st.container():
            show_formula()
        choose_table()
        table, source = chosen_table()
        show_curves()
        st.markdown(
            f"All {table.shape[1]:,} dimensions of {table.shape[0]:,} positions, from {markdown_text(source)}."
            + figures.skipped_note(*table.shape)
        )
        draw(figures.position_heatmap(table, theme=theme()), "heatmap")
        offer_table(table, source)
        numbers = partial(measures.of_table, table, LONGEST_PRODUCTS)
        offer_numbers("Position vectors and products (NPZ)", "table", NUMBERS_HELP, numbers)


def show_formula() -> None:
    """The formula of the table, or that there is none."""
    if is_learned_table():
        st.markdown(NO_FORMULA)
        return
    for line in FORMULA_TEXT:
        st.latex(line)
    st.markdown(position_sentences.BESIDE_FORMULA[fitted_selection()[1].config.positions])


def is_learned_table() -> bool:
    """Whether the table is a checkpoint's, whose vectors are no waves."""
    selection, checkpoint, _ = fitted_selection()
    return selection.of(PositionsSettings).table == OWN and checkpoint.config.positions in ("learned", "counted")


def choose_table() -> None:
    """Whose vectors, and how many of them."""
    selection, checkpoint, _ = fitted_selection()
    settings = selection.of(PositionsSettings)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        looks = {"format_func": TABLE_NAMES.__getitem__, "help": TABLE_HELP}
        radio("Vectors of", tables_of(checkpoint), settings.table, partial(take_setting, "table"), key="table", **looks)
        own = settings.table == OWN
        length = setting("length", settings.length)
        width = setting("width", checkpoint.config.width if own else settings.width)
        st.number_input("Positions", 1, LONGEST, help=LENGTH_HELP, width=140, **length)
        st.number_input("Dimensions", 1, WIDEST, help=WIDTH_HELP, width=140, disabled=own, **width)


def chosen_table() -> tuple[np.ndarray, str]:
    """The table that the controls ask for, and whose it is."""
    selection, checkpoint, name = fitted_selection()
    settings = selection.of(PositionsSettings)
    if settings.table != OWN:
        return measures.sinusoidal_table(settings.length, settings.width), TABLE_NAMES[settings.table]
    length = min(settings.length, checkpoint.config.max_length)
    table = measures.own_table(stack_of(checkpoint, name), checkpoint.config, length)
    assert table is not None
    return table, f"the checkpoint {checkpoint.label}"


@st.fragment
def show_curves() -> None:
    """Chosen dimensions over the positions."""
    with pages.plain_refusals():
        table, dimensions = chosen_table()[0], fitted_selection()[0].of(PositionsSettings).dimensions
        st.multiselect(
            "Dimensions drawn as curves",
            range(table.shape[1]),
            max_selections=MOST_CURVES,
            help=DIMENSIONS_HELP,
            **setting("dimensions", list(dimensions)),
        )
        if dimensions:
            draw(figures.position_curves(table, dimensions, theme=theme()), "curves")
        else:
            st.info("Choose at least one dimension to draw.")


def show_products() -> None:
    """The product of every two positions, and what it is at each distance."""
    with section("products", "Near and far: products of position vectors") as box, pages.plain_refusals():
        if not box.open:
            return
        table, source = chosen_table()
        compared = table[:LONGEST_PRODUCTS]
        products = measures.products(compared)
        distances = measures.by_distance(products)
        cut = f" The first {LONGEST_PRODUCTS} positions are compared." if len(compared) < len(table) else ""
        st.markdown(
            f"The dot products of all pairs of position vectors from {markdown_text(source)}. "
            + position_sentences.same_products(distances.spread, float(products.max()))
            + cut,
            help=PRODUCTS_HELP,
        )
        left, right = st.columns(2, gap="large")
        with left:
            draw(figures.product_heatmap(products, theme=theme()), "products")
        with right:
            draw(figures.distance_curve(*distances, theme=theme()), "distances")


def show_waves() -> None:
    """How long every wave of the formula is."""
    with section("waves", "Wavelengths") as box, pages.plain_refusals():
        if not box.open:
            return
        if is_learned_table():
            st.info(NO_WAVES)
        width = chosen_table()[0].shape[1]
        waves = measures.wavelengths(width)
        st.markdown(position_sentences.waves(float(waves[0]), float(waves[-1]), width), help=WAVES_HELP)
        draw(figures.wavelength_figure(waves, theme=theme()), "waves")


@st.fragment
def show_shift() -> None:
    """A shift as a rotation of one pair, written out and checked on the numbers."""
    with section("shift", "A shift is a rotation") as box, pages.plain_refusals():
        if not box.open:
            return
        st.caption(SHIFT_HELP)
        if is_learned_table():
            st.info(NO_WAVES)
        width = chosen_table()[0].shape[1]
        settings = fitted_selection()[0].of(PositionsSettings)
        pair, position, shift = settings.pair_of, settings.position, settings.shift
        without = width < 2
        # Drawn without a pair too: left out, they would begin at 0 when they come back.
        with st.container(horizontal=True, vertical_alignment="bottom"):
            looks: dict[str, Any] = {"width": 140, "disabled": without}
            st.number_input("Pair", 0, max(width // 2 - 1, 0), help=PAIR_HELP, **looks, **setting("pair_of", pair))
            st.number_input("Position", 0, LONGEST_SHIFT, help=POSITION_HELP, **looks, **setting("position", position))
            st.number_input("Shift", 0, LONGEST_SHIFT, help=STEPS_HELP, **looks, **setting("shift", shift))
        if without:
            st.info("One dimension has no pair to rotate: choose at least 2.")
            return
        shifted = measures.rotation_shift(width, pair, position, shift)
        words, picture = st.columns(2, gap="large")
        with words:
            st.markdown(position_sentences.shift_words(pair, position, shift, shifted.angle))
            for line in position_sentences.shift_latex(shifted.matrix, shifted.before, shifted.rotated):
                st.latex(line)
            later = position_sentences.shift_check(
                position + shift, shifted.after, shifted.difference, shifted.largest, shifted.positions
            )
            st.markdown(later)
            exact = position_sentences.shift_exactly(shifted.matrix, shifted.before, shifted.rotated, shifted.after)
            st.code(exact, language=None, wrap_lines=True)
        with picture:
            names = (f"position {position}", f"position {position + shift}")
            draw(figures.rotation_figure(shifted.before, shifted.after, names, theme=theme()), "rotation")


# Longer texts, and other schemes


@st.fragment
def show_beyond() -> None:
    """What the scheme of the checkpoint has for positions that no text of its reaches."""
    with section("beyond", "Beyond the longest text") as box, pages.plain_refusals():
        if not box.open:
            return
        _, checkpoint, name = fitted_selection()
        config, stack = checkpoint.config, stack_of(checkpoint, name)
        longest = f"This checkpoint reads {config.max_length:,} tokens at most."
        st.markdown(f"{longest} {position_sentences.beyond(config.positions)}", help=BEYOND_HELP)
        if config.max_length > LONGEST_BEYOND:
            return
        table = measures.own_table(stack, config, 2 * config.max_length)
        if table is not None and len(table) > config.max_length:
            share = measures.unseen(table, config.max_length)
            st.markdown(position_sentences.new_numbers(float(share[-1]), len(share) - 1, config.max_length))
            draw(figures.unseen_figure(share, config.max_length, theme=theme()), "unseen")


@st.fragment
def show_schemes() -> None:
    """What each scheme adds to a score, as a function of the two positions."""
    with section("schemes", "Schemes side by side") as box, pages.plain_refusals():
        if not box.open:
            return
        selection, checkpoint, name = fitted_selection()
        settings = selection.of(PositionsSettings)
        st.markdown(position_sentences.SIDE_BY_SIDE, help=SCHEMES_HELP)
        causal = name == "decoder" if settings.causal is None else settings.causal
        choose_comparison(settings, causal=causal)
        of = (stack_of(checkpoint, name), checkpoint.config)
        parts = {
            scheme: measures.scheme_part(scheme, settings.compared, settings.of_head, causal=causal, of=of)
            for scheme in measures.SCHEMES
        }
        for column, (scheme, part) in zip(st.columns(len(parts)), parts.items(), strict=True):
            with column:
                row = min(settings.of_query, len(part.added) - 1)
                draw(figures.scheme_figure(part.added, row, position_sentences.TITLES[scheme], theme=theme()), scheme)
                number = position_sentences.number_of(scheme, part.own)
                st.markdown(f"{position_sentences.DOES[scheme]} {number} ({position_sentences.ORIGIN[scheme]})")
        added = {scheme: part.added for scheme, part in parts.items()}
        offer_numbers("Schemes (NPZ)", "schemes", SCHEMES_FILE_HELP, lambda: added)


def choose_comparison(settings: PositionsSettings, *, causal: bool) -> None:
    """How many positions, and which query and head of them."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        compared, query = setting("compared", settings.compared), setting("of_query", settings.of_query)
        st.number_input("Tokens", 2, LONGEST_SCHEME, help=TOKENS_HELP, width=140, **compared)
        last = settings.compared - 1
        st.number_input(f"Query, 0 to {last}", 0, last, help=QUERY_HELP, width=140, **query)
        head = setting("of_head", settings.of_head + 1, 1)
        st.number_input("Head", 1, measures.HEADS, help=HEAD_HELP, width=140, **head)
        switch("Hide keys after the query", CAUSAL_HELP, **setting("causal", causal))


pages.frame("positions")
show()
pages.freeze_imports("positions")
