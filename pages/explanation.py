"""Is attention the explanation? Does the answer depend on the words that the model looks at?"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
import streamlit as st

import pages
from model import Edits
from model.measures.causes.rank_agreement import RankAgreement
from pages.parts.explanation.settings import ROLLOUTS
from pages.parts.explanation.token_measures import (
    AT_ONCE,
    TokenMeasures,
    go_on,
    head_looking_at,
    is_stopped,
    largest,
    stop,
    token_measures,
    top_otherwise,
    with_residual,
)
from pages.parts.frame.downloads import button, download_name, files, share_bars
from pages.parts.frame.finding import picture, picture_alone, show_caveats, show_finding
from pages.parts.frame.page_links import next_page_link, page_link
from pages.parts.frame.theme import theme
from pages.parts.models.catalogue import loaded_from
from pages.parts.passes import provenance_of, target_with_origin, trace_of
from pages.parts.prediction import NO_HEAD, no_prediction
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
from pages.parts.widgets.head_switches import one_head_on, show_left_out
from viz.charts.causes.token_measures import CHOSEN, layer_shares, token_bars
from viz.explorer.attention_kinds import TITLES, kinds_of
from viz.export.cause_scripts import tokens_script
from viz.export.share_picture import Bar
from viz.text.causes import token_measures as sentences
from viz.text.causes.head_effects import LEAST, MOVES, NEARLY_SURE, turned_said
from viz.text.causes.token_measures import MEASURES, OMISSION, SIGNED
from viz.tokens import counted, markdown_text, token_named, visible

QUESTION = "Does the answer depend on the words that the model looks at?"
MOST_ROWS = 40  # tokens in the picture
HOW_TO_READ = """
**How to read this**
- Each row is a token, each column another way to say how much it counts for the answer. A bar is as long as its number
  is beside the largest of its column, which is in full colour.
- **Attention, rolled out** multiplies the mean weights of all layers, with the residual stream as one half, or
  without it (as chosen). **Size of what is moved** does the same with the lengths of the vectors that attention
  adds. **Attention × gradient** counts a weight as far as the answer's logit rises with it. All three are shares, which
  sum to 100 %: they have no sign.
- **Integrated gradients** share out the logit among the tokens. **Points lost without it** are the probability that
  the answer loses when the token is taken out of the text: with a minus, what it gains. Blue speaks for the answer,
  orange against it.
- None of them is the truth. Leaving a token out makes another text, and integrated gradients compare with a text of
  zero vectors. Where they disagree, an account of the answer by attention may mislead; where they
  agree, other weights could still have given the same answer (Jain and Wallace 2019).
"""
CHOSEN_BY = (
    "The title names the token with the largest share of the attention, rolled out, and the one without which the "
    "answer changes most, among the tokens that can be left out. Orders are by size, whatever the sign; below, "
    "integrated gradients are compared by size and with their signs. Kendall's τ is 1 if all pairs of tokens stand in "
    "the same order, 0 if as many do as do not, −1 if none does. p is the probability of a τ at least as far from 0 by "
    "chance. Where it is below 0.05, two orders agree well from a τ of 0.6 on, and in part from 0.2 on."
)
ROLLOUT_NAMES = {"residual": "with the residual stream as one half", "alone": "attention alone"}
ROLLOUT_HELP = (
    "Every layer adds what attention moves to the stream that was there. Rollout counts both as one half (Abnar and "
    "Zuidema 2020), or attention alone. The first column of the picture above changes with it."
)
STOP_HELP = "Leaves this as it is. What is measured stays."
STOPPED_SAID = {
    OMISSION: "Stopped before every token was left out.",
    "integrated": "Stopped before the integrated gradients were exact.",
}
TOO_SHORT = "This text is too short to leave a token out: write a longer one."
EXPLORE_HELP = "Of all heads, this one gives the token the largest share of its attention, in the mean of all queries."
PRESS_CAPTION = "Press a row for its numbers, and for the head that looks at its token most."
ALONE_CAPTION = "Attention is rolled out without the residual stream here, as chosen below."
FIRST_TOKEN = (
    "In models that read from left to right, heads that find nothing often rest on the first token (Xiao et al. 2024)."
)
LAST_TOKEN = "The next token is then predicted after the token before it."
ONE_QUERY = "Only its own query sees this token, so that no head stands out by looking at it."
TABLE_TITLE = "How far the measures agree with the effect of leaving out"
ROLLOUT_TITLE = "Rollout, layer by layer"
ROLLOUT_SAID = (
    "Each cell is the share of a token in what the answer is read from, after so many layers, as if nothing but "
    "attention moved anything from token to token: from 0 % (the page’s colour) to 100 % (full), in finer steps near "
    "0. All tokens of a column sum to 100 %. Point at a cell for its number."
)
SCRIPT_HELP = "The lines of Python that compute all five measures again and assert them."
CSV_HELP = "Every token with all measures, with all digits."


def show() -> None:
    """The page, from top to bottom."""
    selection = current_selection()
    pages.show_bar(selection)
    top, measures, reason = st.container(), None, ""
    with pages.plain_refusals(), st.spinner("Measuring every token"):
        trace = trace_of(selection, Edits())
        selection = fit(selection, kinds_of(trace))
        reason = no_prediction(checkpoint_named(selection.checkpoint), trace)
        remember(selection)
        measures = None if reason else token_measures(selection)
    with top:
        title, sentence = ("", "") if measures is None else found(selection, measures)
        show_finding(QUESTION, title, sentence, explained=CHOSEN_BY if sentence else None)
        if measures is not None:
            show_caveats(checkpoint_named(selection.checkpoint), trace_of(selection, Edits()))
            show_left_out(selection)
            address_notice()
    if measures is None:
        show_why_not(reason)
        return
    with picture():
        if measures.left and not is_stopped(selection):
            fill(measures.left)
        else:
            show_stopped(measures)
            draw(measures)
    if picture_alone():
        return
    show_chosen(selection, measures)
    show_agreements(measures)
    show_rollout(selection, measures)
    st.markdown(HOW_TO_READ)
    offer_files(selection, measures)
    next_page_link("explanation")


def show_why_not(reason: str) -> None:
    """What the page needs, where the model or the text lacks it, and where to go on."""
    if not reason:
        return
    st.markdown(markdown_text(f"{reason}, and this page has no answer to explain."))
    if reason == NO_HEAD:
        page_link("Choose another model", "checkpoints", "Lists the models that are here.")
    page_link("See where this model looks", "explore", "Shows every head on this text.")


@st.fragment(run_every=AT_ONCE / 2)
def fill(left: str) -> None:
    """Some more of the measures, again and again while the page is open; this alone runs.

    left: what was being measured when the page was drawn; once that is known, the title says more.
    """
    selection = current()
    measures = token_measures(selection)
    if measures.left != left or is_stopped(selection):
        run_again()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(sentences.progress_said(left, *progress(measures)), width="stretch")
        st.button("Stop", key="stop_measuring", on_click=stop, args=(selection,), help=STOP_HELP)
    draw(measures)


def progress(measures: TokenMeasures) -> tuple[int, int]:
    """What is done of what is being measured, and of how much; 0 where nobody knows."""
    if measures.left == OMISSION:
        return int(np.isfinite(measures.without).sum()), len(measures.comparable)
    return measures.steps, 0


def show_stopped(measures: TokenMeasures) -> None:
    """That something is not measured, and how to go on."""
    if measures.left:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(STOPPED_SAID[measures.left], width="stretch")
            st.button("Go on", key="go_on_measuring", on_click=go_on)


def found(selection: Selection, measures: TokenMeasures) -> tuple[str, str]:
    """Title and sentence, as far as they are known."""
    if not measures.comparable:
        return "", TOO_SHORT
    if measures.left == OMISSION:
        return "", ""
    is_sure = measures.before >= NEARLY_SURE and not measures.turned.any()
    first, second = measures.top("attention"), measures.top(OMISSION, MOVES if is_sure else LEAST)
    agreement = measures.agreement("attention")
    names = [None if at is None else token_named(measures.tokens, at) for at in (first, second)]
    most = second if second is not None else measures.most(OMISSION)
    attended = int(np.argmax(measures.values["attention"]))
    elsewhere = attended not in measures.comparable
    against = bool(measures.values[OMISSION][most] < 0)
    title = sentences.title(names[0], names[1], agreement, against=against, elsewhere=elsewhere)
    sentence = sentences.sentence(effect_said(measures, most), agreement, best_of(measures))
    notes = [sentences.most_elsewhere(token_named(measures.tokens, attended))] if elsewhere else []
    if second is None:
        notes += why_no_effect(selection, measures, first, is_sure=is_sure)
    notes += notes_on(selection, measures, first, most)
    return title, " ".join([sentence, *notes])


def why_no_effect(selection: Selection, measures: TokenMeasures, first: int | None, *, is_sure: bool) -> Iterator[str]:
    """Why leaving a token out hardly changes the answer, where it is seen. first: the token that attention puts first.

    is_sure: whether the answer is nearly sure, with every token left out.
    """
    words = trace_of(selection, Edits()).text_stack.words or ()
    times = 1 if first is None else sentences.times_of(measures.tokens, words, first)
    if first is not None and times > 1:
        yield sentences.said_again(token_named(measures.tokens, first), times)
    elif is_sure:
        yield sentences.nearly_sure_said(measures.before)


def notes_on(selection: Selection, measures: TokenMeasures, first: int | None, most: int) -> Iterator[str]:
    """What has to be known of the tokens that are named: the one that attention puts first, and that of most effect."""
    if measures.outcome.kind == "next" and first == 0:
        yield FIRST_TOKEN
    if measures.outcome.kind == "next" and 0 < most == len(measures.tokens) - 1:
        yield LAST_TOKEN
    other = top_otherwise(selection, measures)
    if other not in (None, first):
        named = token_named(measures.tokens, other)
        yield sentences.rolled_out_otherwise(named, residual=not with_residual(selection))
    words = trace_of(selection, Edits()).text_stack.words
    if words and words[most] is not None and words.count(words[most]) > 1:
        yield sentences.piece_said(token_named(measures.tokens, most))


def effect_said(measures: TokenMeasures, at: int) -> str:
    """What becomes of the answer without a token, Markdown."""
    after = float(measures.without[at])
    token = token_named(measures.tokens, at)
    return sentences.without_it(measures.outcome.kind, measures.named, token, measures.before, after)


def best_of(measures: TokenMeasures) -> tuple[str, RankAgreement] | None:
    """The measure beside attention that agrees best with leaving out; None before all are known."""
    if measures.left:
        return None
    others = {name: measures.agreement(name) for name in MEASURES if name not in ("attention", OMISSION)}
    known = {name: agreement for name, agreement in others.items() if agreement.is_known}
    return max(known.items(), key=lambda each: each[1].tau, default=None)


def draw(measures: TokenMeasures) -> None:
    """The bars; a press chooses a token."""
    places, chosen = largest(measures, MOST_ROWS), chosen_token(measures)
    key = ("tokens", measures.tokens, chosen, *(values.tobytes() for values in measures.values.values()))
    spec = chart_spec(
        (key, theme().background),
        lambda: token_bars(measures.tokens, measures.values, places, chosen=chosen, theme=theme()),
    )
    element = f"token_bars {chosen}"  # another one marks its own token: a browser keeps what was pressed in an element
    st.vega_lite_chart(
        spec,
        theme=None,
        on_select=partial(take_chosen, element),
        selection_mode=[CHOSEN],
        key=element,
        alt=f"Five measures of each of {len(places)} tokens; the numbers are in the file.",
    )
    st.caption(PRESS_CAPTION if with_residual(current()) else f"{PRESS_CAPTION} {ALONE_CAPTION}")
    show_cut(measures, places)


def show_cut(measures: TokenMeasures, places: Sequence[int]) -> None:
    """How many tokens a picture has, where it has not all."""
    if len(places) < len(measures.tokens):
        st.caption(f"{len(places)} of {len(measures.tokens)} tokens: those that are largest by some measure.")


def take_chosen(element: str) -> None:
    """The token that was pressed."""
    points = st.session_state[element]["selection"][CHOSEN]
    places = [point.get("position") for point in points] if isinstance(points, list) else []
    if len(places) == 1 and isinstance(places[0], int):
        choose(key=places[0])


def chosen_token(measures: TokenMeasures) -> int:
    """The token that somebody chose, or that without which the answer loses most."""
    at = current().view.key if "key" in choices() else None
    if at is not None and at < len(measures.tokens):
        return at
    known = measures.comparable and np.isfinite(measures.without).any()
    return measures.most(OMISSION) if known else int(np.argmax(measures.values["attention"]))


def show_chosen(selection: Selection, measures: TokenMeasures) -> None:
    """The numbers of the chosen token, and the way to the heads that look at it."""
    at = chosen_token(measures)
    numbers = [
        f"{MEASURES[name][1]} {sentences.value_said(name, float(measures.values[name][at]))}" for name in MEASURES
    ]
    said = f"**{token_named(measures.tokens, at)}**: {markdown_text('; '.join(numbers))}."
    if np.isfinite(measures.without[at]):
        other = f", and {turned_said(measures.outcome.kind)}" if measures.turned[at] else ""
        said += f" {effect_said(measures, at)}{other}."
    if measures.outcome.kind == "next" and 0 < at == len(measures.tokens) - 1:
        said += f" {LAST_TOKEN}"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(said, width="stretch")
        link_to_head(selection, "cross" if measures.outcome.kind == "output" else selection.view.attention, at)


def link_to_head(selection: Selection, attention: str, key: int) -> None:
    """To Explore, where the head that looks most at a token is the only one of its layer that is on."""
    weights = kinds_of(trace_of(selection, Edits()))[attention].weights
    if sum(bool(row.any()) for row in np.moveaxis(np.concatenate(weights)[:, :, key], 1, 0)) < 2:
        st.caption(ONE_QUERY)  # no head is known by that
        return
    layer, head = head_looking_at(weights, key)
    on = one_head_on(selection, layer, head, len(weights[layer]))
    several = len(kinds_of(trace_of(selection, Edits()))) > 1
    whose = f", {TITLES[attention].partition(',')[0]}" if several else ""
    label = f"See the head that looks at it most (layer {counted(layer)}, head {counted(head)}{whose})"
    page_link(label, "explore", EXPLORE_HELP, **on, attention=attention, layer=layer, head=head, key=key, query=None)


def show_agreements(measures: TokenMeasures) -> None:
    """Each measure beside the effect of leaving out."""
    if measures.left or not measures.comparable:
        return
    st.subheader(TABLE_TITLE, anchor=False, help=CHOSEN_BY)
    lines = [
        sentences.agreement_line(name, measures.agreement(name, signed=signed), signed=signed)
        for name in MEASURES
        if name != OMISSION
        for signed in ([False, True] if name in SIGNED else [False])
    ]
    st.markdown("\n".join(f"- {line}" for line in lines))
    total = float(measures.values["integrated"].sum())
    st.caption(markdown_text(sentences.completeness(total, measures.difference)))


def show_rollout(selection: Selection, measures: TokenMeasures) -> None:
    """How the tokens mix, layer by layer."""
    st.subheader(ROLLOUT_TITLE, anchor=False)
    st.markdown(ROLLOUT_SAID)
    radio(
        "Rollout",
        ROLLOUTS,
        ROLLOUTS[0 if with_residual(selection) else 1],
        take_rollout,
        key="explanation_rollout",
        format_func=ROLLOUT_NAMES.__getitem__,
        help=ROLLOUT_HELP,
    )
    places = largest(measures, MOST_ROWS)
    key = ("rollout", measures.tokens, tuple(places), measures.rollout.tobytes())
    show_chart(
        key,
        lambda: layer_shares(measures.tokens, measures.rollout, places, theme=theme()),
        "How much of each token stands where the answer is read, after each layer.",
    )
    at = chosen_token(measures)
    st.caption(sentences.rollout_said(token_named(measures.tokens, at), measures.rollout[:, at]))
    show_cut(measures, places)


def take_rollout(name: str) -> None:
    """With or without the residual connection."""
    choose(rollout=name)


def offer_files(selection: Selection, measures: TokenMeasures) -> None:
    """The numbers, and the picture to share."""
    with files():
        button(
            "Every token by all measures (CSV)",
            download_name("explanation", "csv", "tokens"),
            partial(measures.table, facts_of(selection, measures)),
            CSV_HELP,
        )
        if not measures.left:
            button("As Python", download_name("explanation", "py"), script_of(selection, measures), SCRIPT_HELP)
    if not measures.left and measures.comparable:
        checkpoint = checkpoint_named(selection.checkpoint)
        share_bars("explanation", bars(measures), FOOT, provenance_of(selection, checkpoint, Edits()))


def facts_of(selection: Selection, measures: TokenMeasures) -> dict[str, str]:
    """What a file of numbers says of where they come from."""
    provenance = provenance_of(selection, checkpoint_named(selection.checkpoint), Edits())
    rollout = ROLLOUT_NAMES[ROLLOUTS[0 if with_residual(selection) else 1]]
    return provenance.facts(1) | {"answer": measures.named, "attention rolled out": rollout}


def script_of(selection: Selection, measures: TokenMeasures) -> Callable[[], str]:
    """The lines that compute the measures again; they are made when they are asked for, where there is no session."""
    checkpoint = checkpoint_named(selection.checkpoint)
    residual = with_residual(selection)
    target = target_with_origin(selection, checkpoint, Edits())
    provenance = provenance_of(selection, checkpoint, Edits())
    return partial(
        tokens_script,
        loaded_from(selection.checkpoint),
        provenance,
        measures.values,
        OMISSION,
        residual=residual,
        target=target,
    )


FOOT = "probability that the answer loses without a token (orange: gains), and attention to it, rolled out"


def bars(measures: TokenMeasures, most: int = 6) -> list[Bar]:
    """The tokens with the largest effect when they are left out, the largest first."""
    effects = measures.values[OMISSION]
    order = sorted(measures.comparable, key=lambda at: -abs(float(effects[at])))[:most]
    longest = max((abs(float(effects[at])) for at in order), default=0.0) or 1.0
    return [
        Bar(
            name=f"{visible(measures.tokens[at])} ({counted(at)})",
            length=abs(float(effects[at])) / longest,
            label=sentences.share_label(float(effects[at]), float(measures.values["attention"][at])),
            against=bool(effects[at] < 0),
        )
        for at in order
    ]


pages.frame("explanation")
show()
pages.freeze_imports("explanation")
