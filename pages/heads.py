"""Heads that matter: which heads does this answer depend on?"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

import pages
from model import Edits, SublayerSite
from pages.parts.frame.downloads import button, download_name, files, share_bars
from pages.parts.frame.finding import picture, picture_alone, show_caveats, show_finding
from pages.parts.frame.page_links import next_page_link, page_link
from pages.parts.frame.theme import theme
from pages.parts.heads.answer_logit import (
    direct_part,
    logit_sum,
    second_answer,
    show_answer_logit,
    show_lens,
    with_mask,
)
from pages.parts.heads.head_effects import (
    AT_ONCE,
    Curve,
    HeadEffects,
    curve_of,
    example_passes,
    head_effects,
    largest_elsewhere,
    without_together,
)
from pages.parts.heads.settings import BASELINES, UNITS, HeadsSettings
from pages.parts.models.catalogue import loaded_from
from pages.parts.models.head_scores import KINDS_HELP, kinds_said
from pages.parts.passes import edits_of, provenance_of, target_with_origin, trace_of
from pages.parts.prediction import NO_HEAD, change_of, no_prediction, output_of
from pages.parts.shared_cache import checkpoint_named
from pages.parts.state.selection import Selection
from pages.parts.state.session import (
    address_notice,
    choices,
    choose,
    current,
    current_selection,
    fit,
    forget,
    remember,
    run_again,
)
from pages.parts.widgets.binding import radio
from pages.parts.widgets.charts import chart_spec, show_chart
from pages.parts.widgets.head_switches import grid_key, muted_heads, one_head_on, show_left_out, with_mute
from viz.charts.causes.head_effects import CHOSEN, effect_grid
from viz.charts.causes.muting_curve import muting_curve
from viz.charts.head_statistics import chosen_heads
from viz.explorer.attention_kinds import TITLES, kinds_of
from viz.export.cause_scripts import heads_script
from viz.text.causes import head_effects as sentences
from viz.text.weight_sentences import where_they_differ
from viz.tokens import markdown_text

QUESTION = "Which heads does this answer depend on?"
HOW_TO_READ = """
**How to read this**
- Each cell is a head; the first layer is at the top. Its number is by how many percentage points the probability of
  the answer changes when that head alone is muted: negative and **blue** where the answer needs the head, **orange**
  where the head works against it. The deepest colour is that of the largest effect, and never of less than 5 points.
- A muted head still computes its weights; what it would pass on, its context, is replaced before the output projection.
  A head with large weights may matter little, and one with small weights much: compare with Explore.
- Effects do not add up. Where two heads do the same, muting one of them changes little: mute several and look at the
  answer below the picture.
"""
HOW_IN_NATS = HOW_TO_READ.replace(
    "how many percentage points the probability of\n  the answer changes",
    "how many nats the log-odds of\n  the answer change",
).replace("never of less than 5 points", "never of less than 0.2 nats")
READ_STREAM = """
**How to read this**
- Each cell is a head; the first layer is at the top. Its number is by how many percent of their length the last
  vectors move when that head alone is muted; the deepest colour is that of the largest, and never of less than 5 %.
  This model predicts nothing for the text, so that there is no answer to follow.
- A muted head still computes its weights; what it would pass on, its context, is replaced before the output projection.
- Effects do not add up. Where two heads do the same, muting one of them changes little.
"""
CHOSEN_BY = (
    "Every head is muted alone, and the rest of the model is computed again. The title names the head without which "
    "the answer changes most, of those without which another answer is likelier (≠) if there are any; the sentence "
    "compares it with the others. “Enough” goes by this order: heads are muted one after the other, that with the "
    "smallest effect first, and what counts is the most of them with which the answer is still the same."
)
BASELINE_NAMES = {"zero": "zero", "mean": "its mean in this text", "reference": "its mean over the examples"}
BASELINE_HELP = (
    "Zero is what “muted” means everywhere else in the app. A head may also add much the same to every token, which "
    "later layers count on: its mean over the tokens of this text, or over all tokens of the example texts, takes away "
    "only what differs from token to token (Wang et al. 2022)."
)
ATTENTION_HELP = (
    "Each attention has heads of its own. Heads are muted in one of them at a time: another one gives them back."
)
MEASURING = "Muting one head after the other: {layers} to go."
MUTE_HELP = "Runs the model without this head, beside those that are muted already."
UNMUTE_HELP = "Runs the model with this head again."
MUTED_SAID = "In the picture they have a ×. All else on this page starts from the model with every head."
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
OUTPUT_SAID = (
    "The answer is all the tokens that the decoder wrote. Each of them has the probability that the model gave it "
    "after those before it; every number here is the mean of these probabilities over the tokens."
)
NEARLY_FULL = 0.9  # a probability that can fall far, and not rise as far
UNIT_NAMES = {"points": "points of probability", "nats": "nats of log-odds"}
UNIT_HELP = (
    "Where an answer is nearly sure, even a large effect moves its probability little. The log-odds, log(p / (1 − p)), "
    "show it: they are what the answer leads by over all other answers together, in logits; a nat is one of them. Of "
    "several tokens they are a mean."
)
SCRIPT_HELP = "The lines of Python that mute every head again and assert the numbers on this page."
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
            show_left_out(selection, muted=False)
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
    elsewhere = show_settings(selection, effects)
    st.markdown((HOW_IN_NATS if effects.in_nats else HOW_TO_READ) if effects.signed else READ_STREAM)
    if effects.outcome.kind == "output":
        st.caption(OUTPUT_SAID)
    show_answer_logit(selection, effects.attention, chosen_place(effects))
    if effects.signed:
        show_curve(effects, curve_of(selection, effects))
    show_lens(selection)
    offer_files(selection, effects)
    next_page_link("heads")
    with elsewhere:  # at the end: it may take a second
        show_elsewhere(selection, effects)


def show_why_vectors(selection: Selection) -> None:
    """Why there is no answer to follow, where there is none."""
    checkpoint = checkpoint_named(selection.checkpoint)
    reason = no_prediction(checkpoint, trace_of(selection, Edits()))
    if not reason:
        return
    st.caption(markdown_text(f"{reason}. The picture compares the last vectors."))
    mask = checkpoint.tokenizer.mask
    if mask and reason != NO_HEAD and (masked := with_mask(selection.text, mask)) != selection.text:
        st.button(f"Put {mask} in place of the last word", key="mask_word", on_click=choose, kwargs={"text": masked})


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
    needed, back, lone = None, False, False
    if effects.signed:
        curve = curve_of(selection, effects)
        needed = None if curve.turned[0] else effects.without.size - curve.kept()
        at = curve.counts.index(curve.kept())
        back, lone = any(curve.turned[:at]), bool(curve.turned[max(at - 1, 0)])
    said = sentences.title(
        kind,
        effects.named,
        effects.number,
        site,
        float(effects.numbers[site]),
        turned=bool(effects.turned[site]),
        in_nats=effects.in_nats,
        whose=whose_heads(selection, effects),
    )
    sentence = sentences.sentence(
        kind,
        effects.named,
        effects.changes,
        needed,
        in_nats=effects.in_nats,
        whose=whose_heads(selection, effects),
        back=back,
        lone=lone,
        alone=bool(effects.turned.any()),
        zero=selection.of(HeadsSettings).baseline == "zero",
    )
    second = second_answer(selection)
    behind = "" if second is None else sentences.runner_up_said(effects.named, *second)
    hardly_moves = not effects.turned.any() and float(np.nanmax(np.abs(effects.changes))) < sentences.MOVES
    if effects.signed and not effects.in_nats and effects.number >= sentences.NEARLY_SURE and hardly_moves:
        sentence = f"{sentence} {sentences.nearly_sure_said(effects.number)}"
    other = written_without(selection, effects, site), said_of_larger(effects, site)
    return said, " ".join(filter(None, [*other, said_by_mean(selection, effects, site), sentence, behind]))


def said_of_larger(effects: HeadEffects, site: tuple[int, int]) -> str:
    """That the title's head has not the largest effect, where the answer stays without the one that has."""
    larger = effects.largest()
    if larger == site:
        return ""
    return sentences.larger_said(larger, float(effects.changes[larger]), in_nats=effects.in_nats)


def written_without(selection: Selection, effects: HeadEffects, site: tuple[int, int]) -> str:
    """What a decoder beside an encoder writes without the head, where it is something else; "" of a text it was given.

    Of a mean over the examples nothing is known: no edit puts it there.
    """
    baseline, checkpoint = selection.of(HeadsSettings).baseline, checkpoint_named(selection.checkpoint)
    is_own = effects.outcome.kind == "output" and target_with_origin(selection, checkpoint, Edits()) is None
    if not is_own or not effects.turned[site] or baseline == "reference":
        return ""
    heads = frozenset([effects.site(site)])
    edits = Edits(muted=heads) if baseline == "zero" else Edits(averaged=heads)
    before, after = (output_of(checkpoint, trace_of(selection, each)) for each in (Edits(), edits))
    return "" if before == after else sentences.written_said(where_they_differ(before, after)[1])


def whose_heads(selection: Selection, effects: HeadEffects) -> str:
    """The attention that the heads are of, in words; "" where there is one alone."""
    several = len(kinds_of(trace_of(selection, Edits()))) > 1
    return TITLES[effects.attention] if several else ""


def said_by_mean(selection: Selection, effects: HeadEffects, site: tuple[int, int]) -> str:
    """What the head's mean in its place does to the answer, where zero says something else."""
    change = abs(float(effects.changes[site]))
    is_seen = change >= (sentences.LEAST_NATS if effects.in_nats else sentences.LEAST)
    if (
        not effects.signed
        or not is_seen
        or len(trace_of(selection, Edits()).text_stack.ids) == 1
        or selection.of(HeadsSettings).baseline != "zero"
    ):
        return ""
    said = without_together(selection, effects, [site], "mean")
    after = said.log_odds if effects.in_nats else said.probability
    numbers = effects.number, float(after[0]), float(effects.numbers[site])
    return sentences.mean_said(*numbers, in_nats=effects.in_nats)


def draw(effects: HeadEffects) -> None:
    """The grid of heads; a press chooses one."""
    place, muted = chosen_place(effects), muted_heads(current())
    key = ("effects", effects.attention, effects.numbers.tobytes(), effects.in_nats, muted, place)
    spec = chart_spec((key, theme().background), lambda: grid_of(effects, place, muted))
    shape, element = effects.without.shape, grid_key("head_grid", place)
    st.vega_lite_chart(
        spec,
        theme=None,
        on_select=partial(take_chosen, element),
        selection_mode=[CHOSEN],
        key=element,
        alt=f"The effect of each of {shape[0]} × {shape[1]} heads on the answer; the numbers are in the file.",
    )


def grid_of(effects: HeadEffects, place: tuple[int, int], muted: frozenset[tuple[int, int]]) -> object:
    """The picture."""
    said = {site: cell_said(effects, site) for site in np.ndindex(*effects.without.shape)}
    return effect_grid(
        effects.changes,
        said,
        signed=effects.signed,
        in_nats=effects.in_nats,
        chosen=place,
        muted=muted,
        turned={site for site in said if effects.turned[site]},
        theme=theme(),
    )


def cell_said(effects: HeadEffects, site: tuple[int, int]) -> str:
    """What is said of one head, plain text."""
    return sentences.cell_said(
        effects.outcome.kind,
        site,
        effects.number,
        float(effects.numbers[site]),
        turned=bool(effects.turned[site]),
        in_nats=effects.in_nats,
    )


def take_chosen(element: str) -> None:
    """The head that was pressed."""
    points = st.session_state[element]["selection"][CHOSEN]
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
    said = cell_said(effects, site)
    is_muted = site in muted_heads(selection)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f"**{markdown_text(said.partition(': ')[0])}**: {markdown_text(said.partition(': ')[2])}", width="content"
        )
        label = "Unmute it" if is_muted else "Mute it"
        changes = with_mute(selection, site, heads, muted=not is_muted) | {"layer": layer, "head": head}
        explained = UNMUTE_HELP if is_muted else MUTE_HELP
        st.button(label, key="mute_chosen", help=explained, on_click=choose, kwargs=changes)
        alone = one_head_on(selection, layer, head, heads) | {"layer": layer, "head": head, "query": None, "key": None}
        page_link("See where it looks", "explore", EXPLORE_HELP, **alone)
        page_link("Inside this head", "inside", INSIDE_HELP, layer=layer, head=head, query=None, key=None)
    if (parts := direct_part(selection, effects.attention, site)) is not None:
        is_last, zero = layer == len(effects.without) - 1, selection.of(HeadsSettings).baseline == "zero"
        st.caption(sentences.direct(*parts, is_last=is_last, zero=zero), help=DIRECT_HELP)
    if said := kinds_said(selection, effects.attention, site):
        st.caption(markdown_text(said), help=KINDS_HELP)
    if muted := sorted(muted_heads(selection)):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(markdown_text(say_muted(selection, effects, muted)), width="content")
            st.button("Unmute all", key="unmute_all", on_click=choose, kwargs={"muted": frozenset(), "mute": False})
        st.caption(MUTED_SAID)


def say_muted(selection: Selection, effects: HeadEffects, muted: Sequence[tuple[int, int]]) -> str:
    """The answer with the heads that are muted, plain text."""
    checkpoint = checkpoint_named(selection.checkpoint)
    edits, baseline = edits_of(selection, checkpoint), selection.of(HeadsSettings).baseline
    names = ", ".join(sentences.head_named(site) for site in muted)
    if whose := whose_heads(selection, effects):
        names += f", {whose}"
    names += sentences.IN_PLACE[baseline, len(muted) == 1]
    if baseline == "reference" or effects.in_nats:
        together = without_together(selection, effects, muted, baseline)
        value = (
            (together.log_odds if effects.in_nats else together.probability) if effects.signed else together.distance
        )
        said = sentences.change_said(
            effects.outcome.kind,
            effects.number,
            float(value[0]),
            turned=bool(together.turned[0]),
            in_nats=effects.in_nats,
            without="it" if len(muted) == 1 else "them",
        )
        answer = f"{effects.named}: " if effects.signed else ""
        return f"{sentences.muted_named(names, len(muted))}. {answer}{said}."
    if baseline == "mean":
        edits = replace(edits, muted=frozenset(), averaged=edits.muted)
    said = change_of(checkpoint, trace_of(selection, Edits()), trace_of(selection, edits), typed=bool(selection.target))
    return f"{sentences.muted_named(names, len(muted))}. {said}".strip()


def show_elsewhere(selection: Selection, effects: HeadEffects) -> None:
    """The head of another attention that has a larger effect than all of this one's."""
    if (other := largest_elsewhere(selection, effects)) is None:
        return
    site, whose = other.largest(), TITLES[other.attention].partition(",")[0]
    change = float(other.changes[site])
    st.caption(sentences.elsewhere_said(other.outcome.kind, site, whose, change, in_nats=other.in_nats))


def show_settings(selection: Selection, effects: HeadEffects) -> DeltaGenerator:
    """Which attention, and what stands in the place of a head; the place of what is said of other attentions."""
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
    elsewhere = st.container()
    if no_prediction(checkpoint_named(selection.checkpoint), trace_of(selection, Edits())) == "":
        radio(
            "Effects in",
            UNITS,
            selection.of(HeadsSettings).unit,
            take_unit,
            key="heads_unit",
            format_func=UNIT_NAMES.__getitem__,
            help=UNIT_HELP,
        )
        if not effects.in_nats and effects.number >= NEARLY_FULL:
            st.caption(sentences.ceiling_said(effects.number))
    radio(
        "In place of a muted head",
        BASELINES,
        selection.of(HeadsSettings).baseline,
        take_baseline,
        key="heads_baseline",
        format_func=BASELINE_NAMES.__getitem__,
        help=BASELINE_HELP,
    )
    return elsewhere


def take_attention(name: str) -> None:
    """Another attention, of whose heads none is chosen."""
    for field in ("layer", "head"):
        forget(field)
    choose(attention=name)


def take_unit(name: str) -> None:
    """Another unit."""
    choose(unit=name)


def take_baseline(name: str) -> None:
    """Something else in the place of a head."""
    choose(baseline=name)


def show_curve(effects: HeadEffects, curve: Curve) -> None:
    """The answer with more and more heads muted."""
    st.subheader(CURVE_TITLE, anchor=False, help=CURVE_HELP)
    answer = sentences.answer_named(effects.outcome.kind, effects.named).replace("\\", "")
    title = "log-odds" if effects.in_nats else "probability"
    key = ("heads curve", curve.counts, curve.values.tobytes(), curve.turned.tobytes(), title)
    show_chart(
        key,
        lambda: muting_curve(curve.counts, curve.values, curve.turned, title, theme=theme()),
        f"The {title} of {answer} with more and more heads muted.",
    )
    measured, last = len(curve.counts), float(curve.values[-1])
    st.caption(sentences.curve_said(curve.counts[-1], measured, last, in_nats=effects.in_nats))


def offer_files(selection: Selection, effects: HeadEffects) -> None:
    """The numbers, and the picture to share."""
    checkpoint, baseline = checkpoint_named(selection.checkpoint), selection.of(HeadsSettings).baseline
    provenance = provenance_of(selection, checkpoint, Edits())
    facts = provenance.facts(1) | {
        "answer": effects.named or effects.outcome.kind,
        "attention": TITLES[effects.attention],
        "in place of a muted head": BASELINE_NAMES[baseline],
    }
    with files():
        name = download_name("heads", "csv", "effects")
        button("Effect of every head (CSV)", name, partial(effects.table, facts), CSV_HELP)
        button("As Python", download_name("heads", "py"), script_of(selection, effects), SCRIPT_HELP)
    what = "the answer" if effects.signed else "the last vectors"
    foot = f"change of {what} without a head, {BASELINE_NAMES[baseline]} in its place"
    foot += "; blue: the answer needs the head, orange: it works against it" if effects.signed else ""
    drawn = sentences.bars(effects.outcome.kind, effects.changes, effects.in_order(), in_nats=effects.in_nats)
    share_bars("heads", drawn, foot, provenance)


def script_of(selection: Selection, effects: HeadEffects) -> Callable[[], str]:
    """The lines that compute the picture again; they are made when they are asked for, where there is no session."""
    checkpoint, baseline = checkpoint_named(selection.checkpoint), selection.of(HeadsSettings).baseline
    every, loads = logit_sum(selection), loaded_from(selection.checkpoint)
    target = target_with_origin(selection, checkpoint, Edits())
    provenance, site = provenance_of(selection, checkpoint, Edits()), effects.site((0, 0))

    def script() -> str:
        return heads_script(
            loads,
            provenance,
            SublayerSite(site.stack, 0, site.attention),
            effects.without,
            target=target,
            baseline=baseline,
            texts=list(example_passes(checkpoint)) or [selection.text],
            stream=not effects.signed,
            total=None if every is None else (every.against, every.total),
        )

    return script


pages.frame("heads")
show()
pages.freeze_imports("heads")
