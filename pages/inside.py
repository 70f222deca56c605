"""Inside a head: where does this one number come from?"""

import streamlit as st

import pages
from model import Checkpoint
from model.measures.one_weight import STEPS, Quantities, WeightPath
from model.measures.score_parts import score_parts, why_not
from pages.parts.explore.explorer_panel import trace_and_kinds
from pages.parts.frame.finding import picture, picture_alone, show_caveats, show_finding
from pages.parts.frame.page_links import links_of_weight, next_page_link
from pages.parts.frame.theme import theme
from pages.parts.inside.arrow_keys import arrow_keys
from pages.parts.inside.looking_reasons import show_reasons
from pages.parts.inside.opening_weight import opening_selection
from pages.parts.inside.settings import DEPTHS, WHOLE, WalkSettings
from pages.parts.inside.weight_walk import (
    choose_step,
    choose_weight,
    chosen_path,
    go,
    name_step,
    offer_files,
    recheck_end,
    recheck_weight,
)
from pages.parts.inside.whole_view import show_row, show_whole, show_whole_code
from pages.parts.shared_cache import checkpoint_named
from pages.parts.state.selection import Selection
from pages.parts.state.session import address_notice, choose, current, current_selection, fit, remember
from pages.parts.widgets.architecture_map import show_map
from pages.parts.widgets.binding import radio
from pages.parts.widgets.switchboard import reading
from pages.parts.widgets.term_links import term_link
from viz.architecture.places import boxes_of_step
from viz.explorer.attention_kinds import Kind
from viz.formula import Site, formula, has_step, with_step
from viz.tokens import markdown_text
from viz.walkthrough import step_sentences
from viz.walkthrough.answer_sentences import STEPS_TO_ANSWER, no_term
from viz.walkthrough.recheck_table import rows_of_answer, rows_of_weight
from viz.walkthrough.source_excerpts import code_of
from viz.walkthrough.step_charts import part_bars, spec, unchecked
from viz.walkthrough.step_layout import alternative, specs

QUESTION = "Where does this one number come from?"
HOW_TO_READ = """
- A strip is a vector, a token's list of numbers. Each cell is one **coordinate**: **blue** above 0, **orange** and
  marked with a dash below 0; a deeper colour is further from 0. Point at a cell or a bar for its number.
- **Previous**, **Next** and the arrow keys follow the weight from the words to the answer of the model. The first
  steps concern the query and the key alone; from the product on, all keys appear, because they share the query's
  attention; from the output projection on, the query's vector is followed.
- A {query} is a token that looks, a {key} one that is looked at. The {stream} is a token's vector on its way
  through the layers; each layer adds something to it.
"""
READ_WHOLE = """
- The matrices are laid out as they are multiplied: a row of Q and a column of Kᵀ cross at their product in QKᵀ, and a
  row of weights and a column of V cross at a number of the context.
- Weights run from the page's own colour at 0 over blue to what stands out most from the page at 1. All other numbers
  are **blue** above 0 and **orange** below 0, where large cells carry a dash; a deeper colour is further from 0. A
  hatched grey cell is masked.
- Click a weight to choose it for the steps that follow. With the keyboard, press Tab until the picture is marked, then
  the arrow keys and Enter. **Next** leads to the first of the steps that compute the weight.
"""
DEPTH_NAMES = {"idea": "The idea", "numbers": "Every number"}
DEPTH_HELP = (
    "“The idea” gives a sentence and a picture for each step; “Every number” adds the formula, the code and all "
    "numbers."
)
PARTS_HELP = (
    "In layer 1 each vector is the sum of a word's vector and a position's vector, and the product of two sums is a "
    "sum of products. “word → position” is the product of the query's word and the key's position. The last part "
    "holds all terms with a learned bias. Where the sum was normed, each part is divided by the same number as the "
    "whole."
)
RECHECK_HELP = (
    "Computes the whole path again in NumPy, with 64-bit numbers, from the token ids and the stored weights. It "
    "shares no code with the model. The difference comes from the rounding of the model's 32-bit numbers."
)
CODE_HELP = (
    "The lines of this program that ran, read from its files. The names `interventions`, `without` and `normed` mark "
    "where an edit would act, such as a norm left out; without edits, the lines do what the formula says."
)
STEPS_BEFORE_SOFTMAX = ("product", "scale", "mask")
WITH_REASONS = (WHOLE, *STEPS_BEFORE_SOFTMAX, "softmax")
MOST_PRINTED, MOST_IN_SIGHT = 1024, 64  # numbers of one quantity


def show() -> None:
    """The page, from top to bottom."""
    selection = current_selection()
    pages.show_bar(selection)
    above = st.container()
    with pages.plain_refusals(), st.spinner("Computing every step"):
        _, kinds = trace_and_kinds(selection, checkpoint_named(selection.checkpoint))
        remember(fit(selection, kinds))
        show_walk()
        return
    with above:
        show_finding(QUESTION)


@st.fragment
def show_walk() -> None:
    """The weight, the step and what is known of it; this alone runs when a control of it is used."""
    selection = current()
    with pages.plain_refusals():
        checkpoint = checkpoint_named(selection.checkpoint)
        trace, kinds = trace_and_kinds(selection, checkpoint)
        selection = fit(selection, kinds)
        opened, step = opening_selection(selection, kinds), selection.of(WalkSettings).step
        path = chosen_path(opened, checkpoint)
        show_finding(
            QUESTION, step_sentences.title(path), step_sentences.answer(path), explained=step_sentences.in_full(path)
        )
        show_caveats(checkpoint, trace)
        if picture_alone():
            arrow_keys(go)
            show_view(path, kinds, step, named=True)
        else:
            pages.say_kept(selection)
            address_notice()
            choose_step(step)
            # The whole head takes the width, and its controls stand below.
            around, side = (st.container(), st.container()) if step == WHOLE else st.columns([5, 2], gap="medium")
            with around:
                show_view(path, kinds, step)
            with side:
                show_controls(opened, kinds, path)
            show_more(opened, checkpoint, path, kinds)
    remember(selection)


def show_view(path: WeightPath, kinds: dict[str, Kind], step: str, *, named: bool = False) -> None:
    """The whole head, or one step. named: with its name above."""
    with picture(), st.container(gap="small"):
        if named:
            name_step(step)
        if step == WHOLE:
            show_whole(path, kinds[path.site.attention])
        else:
            show_step(path, step)


def show_step(path: WeightPath, step: str) -> None:
    """What happens, in a sentence and its charts."""
    quantities = STEPS[step](path)
    with st.container(gap="small"):
        st.markdown(step_sentences.idea(path, step, quantities))
        for row in specs(path, step, quantities, theme=theme()):
            for place, (title, chart) in zip(st.columns(len(row)), row, strict=True):
                with place.container(gap="xsmall"):
                    if title:
                        st.markdown(title)
                    said = alternative(path, title, chart)  # Streamlit logs each chart that has a description as well
                    bare = {name: value for name, value in chart.items() if name != "description"}
                    st.vega_lite_chart(bare, theme=None, alt=said)


def show_controls(selection: Selection, kinds: dict[str, Kind], path: WeightPath) -> None:
    """Which weight, how much of it, and what can be done with it."""
    choose_weight(kinds, path.site)
    radio(
        "Depth",
        DEPTHS,
        selection.of(WalkSettings).depth,
        lambda depth: choose(depth=depth),
        key="depth",
        format_func=DEPTH_NAMES.__getitem__,
        help=DEPTH_HELP,
    )
    offer_files(selection)
    links_of_weight(path)


def show_more(selection: Selection, checkpoint: Checkpoint, path: WeightPath, kinds: dict[str, Kind]) -> None:
    """What stands below the picture: how it is read, and what else is known of the weight."""
    walk = selection.of(WalkSettings)
    if walk.step in WITH_REASONS:
        show_reasons(path, checkpoint, path.trace, kinds)
    if walk.step in STEPS_BEFORE_SOFTMAX and can_be_apart(path):
        show_parts(path)
        if walk.depth == "numbers" and why_not(path) is None:
            st.code(step_sentences.parts_as_python(score_parts(path)), language=None, wrap_lines=True)
    if walk.step != WHOLE:
        show_formula(path, walk.step)
    show_place(selection, checkpoint, path)
    terms = {"query": term_link("query"), "key": term_link("key"), "stream": term_link("residual stream", "**stream**")}
    st.markdown(f"**How to read this**\n{READ_WHOLE if walk.step == WHOLE else HOW_TO_READ.format(**terms)}")
    show_recheck(selection, checkpoint, path)
    if walk.depth == "numbers":
        show_every_number(path, walk.step)
    next_page_link("inside")


def can_be_apart(path: WeightPath) -> bool:
    """Whether there is something to say of content and position: in the first layer of self-attention, or elsewhere."""
    return why_not(path) is None or (path.site.layer == 0 and path.site.attention != "cross")


def show_parts(path: WeightPath) -> None:
    """Content and position apart, where they can be told apart; else why they cannot."""
    st.subheader("Where this score comes from", anchor=False, help=PARTS_HELP)
    reason = why_not(path)
    if reason is not None:
        st.markdown(reason)
        return
    parts = score_parts(path)
    st.markdown(step_sentences.parts_sentence(parts))
    named, colours = step_sentences.names_of_parts(parts), theme()
    chart = spec(unchecked(lambda: part_bars(named, theme=colours)))
    st.vega_lite_chart(chart, theme=None, alt="Bars: the parts of the score and their sum.")


def show_recheck(selection: Selection, checkpoint: Checkpoint, path: WeightPath) -> None:
    """The number from the trace beside the same computed along another path."""
    to_the_answer = selection.of(WalkSettings).step in STEPS_TO_ANSWER
    what = "this weight and the answer" if to_the_answer else "this weight"
    if st.button(f"Recheck {what}", key="recheck", help=RECHECK_HELP):
        with st.spinner(f"Computing {what} again from the stored weights"):
            rows = rows_of_weight(path, recheck_weight(selection, checkpoint, path))
            rows += rows_of_answer(path, recheck_end(path)) if to_the_answer else []
        st.table(rows)
    st.page_link(pages.FOLDER / "evidence.py", label="How we know: all numbers checked")


def show_formula(path: WeightPath, step: str) -> None:
    """The formula of the whole model, the terms of the present step marked."""
    st.subheader("Where this step stands in the formula", anchor=False)
    site = path.site
    whole = formula(path.model.config, Site(attention=site.attention, layer=site.layer, head=site.head))
    groups = with_step(whole, site.attention, step)
    reading(groups, key="inside_formula")
    if not has_step(groups):
        st.markdown(no_term(path, step))


def show_every_number(path: WeightPath, step: str) -> None:
    """Formula, code and numbers."""
    if step == WHOLE:
        st.subheader("Formula and code", anchor=False, help=CODE_HELP)
        show_whole_code()
        st.subheader("Every number", anchor=False)
        show_row(path)
    else:
        show_code(path, step)
        show_numbers(STEPS[step](path))


def show_place(selection: Selection, checkpoint: Checkpoint, path: WeightPath) -> None:
    """The map of the whole model, the boxes of the present step marked."""
    step = selection.of(WalkSettings).step
    st.subheader(f"Where this {'head' if step == WHOLE else 'step'} stands in the model", anchor=False)
    trace, _ = trace_and_kinds(selection, checkpoint)
    show_map(checkpoint, trace, boxes_of_step(path.site.attention, step), small=True)


def show_code(path: WeightPath, step: str) -> None:
    """This step's own formula, and the lines of the model that ran."""
    st.subheader("Formula and code", anchor=False, help=CODE_HELP)
    st.markdown(rf"$\displaystyle {step_sentences.formula(path, step)}$")
    st.markdown(step_sentences.symbols(path, step))
    for excerpt in code_of(path, step):
        st.markdown(markdown_text(excerpt.place))
        st.code(excerpt.code, language=None, wrap_lines=True)


def show_numbers(quantities: Quantities) -> None:
    """Every quantity with its shape, to be copied in full."""
    st.subheader("Every number", anchor=False)
    for name, quantity in quantities.items():
        size = quantity.values.size
        st.markdown(f"{step_sentences.LABELS[name]} · {step_sentences.shape(quantity)}")
        if size > MOST_PRINTED:
            st.text(f"{size:,} numbers; the file of this step, under Download at the top, holds them all.")
        else:
            with st.container(height=150 if size > MOST_IN_SIGHT else "content", border=False):
                st.code(step_sentences.exactly(quantity.values), language=None, wrap_lines=True)


pages.frame("inside")
show()
pages.freeze_imports("inside")
