"""Heads that matter: which heads does this answer depend on?"""

from collections.abc import Sequence

import numpy as np
import streamlit as st

import pages
from model import Edits
from pages.parts.frame.downloads import button, download_name, files, share_bars
from pages.parts.frame.finding import picture, picture_alone, show_caveats, show_finding
from pages.parts.frame.page_links import next_page_link, page_link
from pages.parts.frame.theme import theme
from pages.parts.heads.answer_logit import direct_part, show_answer_logit, show_lens
from pages.parts.heads.head_effects import (
    AT_ONCE,
    Curve,
    HeadEffects,
    curve_of,
    head_effects,
)
from pages.parts.heads.settings import BASELINES, HeadsSettings
from pages.parts.passes import edits_of, provenance_of, trace_of
from pages.parts.prediction import change_of, no_prediction
from pages.parts.shared_cache import checkpoint_named
from pages.parts.state.selection import Selection
from pages.parts.state.session import (
    address_notice,
    choices,
    choose,
    current,
    current_selection,
    fit,
    remember,
    run_again,
)
from pages.parts.widgets.binding import radio
from pages.parts.widgets.charts import chart_spec, show_chart
from pages.parts.widgets.head_switches import muted_heads, one_head_on, with_mute
from viz.charts.head_effects import CHOSEN, effect_grid
from viz.charts.head_statistics import chosen_heads
from viz.charts.lines import line_chart
from viz.explorer.attention_kinds import TITLES, kinds_of
from viz.text import head_effects as sentences
from viz.tokens import markdown_text

QUESTION = "Which heads does this answer depend on?"
HOW_TO_READ = """
**How to read this**
- Each cell is a head; the first layer is at the bottom. Its number is by how many percentage points the probability of
  the answer changes when that head alone is muted: **orange** and negative where the answer needs the head, **blue**
  where the head works against it. The deepest colour is that of the largest effect, and never of less than 5 points.
- A muted head still computes its weights; what it would pass on, its context, is replaced before the output projection.
  A head with large weights may matter little, and one with small weights much: compare with Explore.
- Effects do not add up. Where two heads do the same, muting one of them changes little: mute several and look at the
  answer below the picture.
"""
READ_STREAM = """
**How to read this**
- Each cell is a head; the first layer is at the bottom. Its number is by how many percent of their length the last
  vectors move when that head alone is muted; the deepest colour is that of the largest, and never of less than 5 %.
  This model predicts nothing for the text, so that there is no answer to follow.
- A muted head still computes its weights; what it would pass on, its context, is replaced before the output projection.
- Effects do not add up. Where two heads do the same, muting one of them changes little.
"""
CHOSEN_BY = (
    "Every head is muted alone, and the rest of the model is computed again. The title names the head without which "
    "the answer changes most; the sentence compares it with the others. “Enough” goes by this order: heads are muted "
    "one after the other, that with the smallest effect first, and what counts is the most of them with which the "
    "answer is still the same."
)
BASELINE_NAMES = {"zero": "zero", "mean": "its mean in this text", "reference": "its mean over the examples"}
BASELINE_HELP = (
    "Zero is what “muted” means everywhere else in the app. A head may also add much the same to every token, which "
    "later layers count on: its mean over the tokens of this text, or over all tokens of the example texts, takes away "
    "only what differs from token to token (Wang et al. 2022)."
)
ATTENTION_HELP = "Each attention has heads of its own."
MEASURING = "Muting one head after the other: {layers} to go."
MUTE_HELP = "Runs the model without this head, beside those that are muted already."
EXPLORE_HELP = "Shows where this head looks in the text."
INSIDE_HELP = "Shows every step of the computation of this head."
CURVE_TITLE = "The fewest heads that keep the answer"
CURVE_HELP = (
    "Heads are muted one after the other, that with the smallest effect first, on the model's own answer. A better "
    "choice of heads may keep the answer with fewer."
)
DIRECT_HELP = (
    "The logit is the score from which the answer's probability is made. It is the sum of what the embedding, every "
    "head and every feed-forward layer add to the stream, if every norm divides by what it divides by in this pass "
    "(direct logit attribution)."
)
CSV_HELP = "Every head with the answer's probability without it, with all digits."


def show() -> None:
    """The page, from top to bottom."""
    selection = current_selection()
    pages.show_bar(selection)
    top, effects = st.container(), None
    with pages.plain_refusals(), st.spinner("Muting every head"):
        selection, effects = measured(selection)
        remember(selection)
    with top:
        title, sentence = ("", "") if effects is None or effects.layers_left else found(selection, effects)
        show_finding(QUESTION, title, sentence, explained=CHOSEN_BY if title else None)
        if effects is not None:
            show_caveats(checkpoint_named(selection.checkpoint), trace_of(selection, Edits()))
            show_why_vectors(selection)
            address_notice()
    if effects is None:
        return
    with picture():
        if effects.layers_left:
            fill()
        else:
            draw(effects)
    if picture_alone() or effects.layers_left:
        return
    show_chosen(selection, effects)
    show_settings(selection)
    st.markdown(HOW_TO_READ if effects.signed else READ_STREAM)
    show_answer_logit(selection, effects.attention, chosen_place(effects))
    if effects.signed:
        show_curve(effects, curve_of(selection, effects))
    show_lens(selection)
    offer_files(selection, effects)
    next_page_link("heads")


def show_why_vectors(selection: Selection) -> None:
    """Why there is no answer to follow, where there is none."""
    if reason := no_prediction(checkpoint_named(selection.checkpoint), trace_of(selection, Edits())):
        st.caption(markdown_text(f"{reason}. The picture compares the last vectors."))


def measured(selection: Selection) -> tuple[Selection, HeadEffects]:
    """The heads of the attention that is looked at, and the selection that fits them."""
    selection = fit(selection, kinds_of(trace_of(selection, Edits())))
    return selection, head_effects(selection)


@st.fragment(run_every=AT_ONCE / 2)
def fill() -> None:
    """Some layers more, again and again while the page is open; this alone runs."""
    _, effects = measured(current())
    if not effects.layers_left:
        run_again()
    draw(effects)
    layers = "1 layer" if effects.layers_left == 1 else f"{effects.layers_left} layers"
    st.markdown(MEASURING.format(layers=layers))


def found(selection: Selection, effects: HeadEffects) -> tuple[str, str]:
    """Title and sentence."""
    site, kind = effects.most(), effects.outcome.kind
    needed = None
    if effects.signed:
        curve = curve_of(selection, effects)
        needed = None if curve.turned[0] else effects.without.size - curve.kept()
    said = sentences.title(
        kind, effects.named, effects.before, site, float(effects.without[site]), turned=bool(effects.turned[site])
    )
    return said, sentences.sentence(kind, effects.named, effects.changes, needed)


def draw(effects: HeadEffects) -> None:
    """The grid of heads; a press chooses one."""
    place, muted = chosen_place(effects), muted_heads(current())
    key = ("effects", effects.attention, effects.without.tobytes(), muted, place)
    spec = chart_spec((key, theme().background), lambda: grid_of(effects, place, muted))
    shape = effects.without.shape
    st.vega_lite_chart(
        spec,
        theme=None,
        on_select=take_chosen,
        selection_mode=[CHOSEN],
        key="head_grid",
        alt=f"The effect of each of {shape[0]} × {shape[1]} heads on the answer; the numbers are in the file.",
    )


def grid_of(effects: HeadEffects, place: tuple[int, int], muted: frozenset[tuple[int, int]]) -> object:
    """The picture."""
    said = {
        site: sentences.cell_said(
            effects.outcome.kind,
            site,
            effects.before,
            float(effects.without[site]),
            turned=bool(effects.turned[site]),
        )
        for site in np.ndindex(*effects.without.shape)
    }
    return effect_grid(effects.changes, said, signed=effects.signed, chosen=place, muted=muted, theme=theme())


def take_chosen() -> None:
    """The head that was pressed."""
    points = st.session_state["head_grid"]["selection"][CHOSEN]
    sites = chosen_heads(points, (max_layers(), 1_000))
    if len(sites) == 1:
        ((layer, head),) = sites
        choose(layer=layer, head=head)


def max_layers() -> int:
    """Layers of the model on the screen, at most."""
    config = checkpoint_named(current().checkpoint).config
    return max(config.layers, config.of_decoder().layers)


def chosen_place(effects: HeadEffects) -> tuple[int, int]:
    """The head that somebody chose, or that which matters most."""
    if {"layer", "head"} & set(choices()):
        return current().view.layer, current().head
    return effects.most()


def show_chosen(selection: Selection, effects: HeadEffects) -> None:
    """The head that is chosen, with the ways to it; and the answer with all that are muted."""
    site, heads = chosen_place(effects), effects.without.shape[1]
    layer, head = site
    said = sentences.cell_said(
        effects.outcome.kind, site, effects.before, float(effects.without[site]), turned=bool(effects.turned[site])
    )
    is_muted = site in muted_heads(selection)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f"**{markdown_text(said.partition(': ')[0])}**: {markdown_text(said.partition(': ')[2])}", width="content"
        )
        label = "Unmute it" if is_muted else "Mute it"
        changes = with_mute(selection, site, heads, muted=not is_muted) | {"layer": layer, "head": head}
        st.button(label, key="mute_chosen", help=MUTE_HELP, on_click=choose, kwargs=changes)
        alone = one_head_on(selection, layer, head, heads) | {"layer": layer, "head": head, "query": None, "key": None}
        page_link("See where it looks", "explore", EXPLORE_HELP, **alone)
        page_link("Inside this head", "inside", INSIDE_HELP, layer=layer, head=head, query=None, key=None)
    if (parts := direct_part(selection, effects.attention, site)) is not None:
        st.caption(sentences.direct(*parts), help=DIRECT_HELP)
    if muted := sorted(muted_heads(selection)):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(markdown_text(say_muted(selection, muted)), width="content")
            st.button("Unmute all", key="unmute_all", on_click=choose, kwargs={"muted": frozenset(), "mute": False})


def say_muted(selection: Selection, muted: Sequence[tuple[int, int]]) -> str:
    """The answer with the heads that are muted, plain text."""
    checkpoint = checkpoint_named(selection.checkpoint)
    edits = edits_of(selection, checkpoint)
    names = ", ".join(sentences.head_named(site) for site in muted)
    if selection.of(HeadsSettings).baseline != BASELINES[0]:
        names += ", with zero in their place"
    said = change_of(checkpoint, trace_of(selection, Edits()), trace_of(selection, edits), typed=bool(selection.target))
    return f"Muted together: {names}. {said}" if said else f"Muted together: {names}."


def show_settings(selection: Selection) -> None:
    """Which attention, and what stands in the place of a head."""
    names = list(kinds_of(trace_of(selection, Edits())))
    if len(names) > 1:
        radio(
            "Attention",
            names,
            selection.view.attention,
            take_attention,
            key="heads_attention",
            format_func=TITLES.__getitem__,
            help=ATTENTION_HELP,
        )
    radio(
        "In place of a muted head",
        BASELINES,
        selection.of(HeadsSettings).baseline,
        take_baseline,
        key="heads_baseline",
        format_func=BASELINE_NAMES.__getitem__,
        help=BASELINE_HELP,
    )


def take_attention(name: str) -> None:
    """Another attention, of whose heads none is chosen."""
    choose(attention=name)


def take_baseline(name: str) -> None:
    """Something else in the place of a head."""
    choose(baseline=name)


def show_curve(effects: HeadEffects, curve: Curve) -> None:
    """The answer with more and more heads muted."""
    st.subheader(CURVE_TITLE, anchor=False, help=CURVE_HELP)
    answer = sentences.answer_named(effects.outcome.kind, effects.named).replace("\\", "")
    titles = ("heads muted, that with the smallest effect first", "probability")
    key = ("heads curve", curve.counts, curve.values.tobytes(), answer)
    show_chart(
        key,
        lambda: line_chart(curve.counts, {answer: curve.values}, titles, theme=theme()),
        f"The probability of {answer} with more and more heads muted.",
    )


def offer_files(selection: Selection, effects: HeadEffects) -> None:
    """The numbers, and the picture to share."""
    with files():
        name = download_name("heads", "csv", "effects")
        button("Effect of every head (CSV)", name, effects.table, CSV_HELP)
    kind = effects.outcome.kind
    foot = "change of the answer without a head" if effects.signed else "change of the last vectors without a head"
    drawn = sentences.bars(kind, effects.before, effects.without, effects.in_order())
    checkpoint = checkpoint_named(selection.checkpoint)
    share_bars("heads", drawn, foot, provenance_of(selection, checkpoint, Edits()))


pages.frame("heads")
show()
pages.freeze_imports("heads")
