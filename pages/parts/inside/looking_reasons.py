"""Why a head looks where it does, on a page: its score by what was written before, and the way back head by head."""

from collections.abc import Mapping
from functools import partial

import streamlit as st

from model import Checkpoint, HeadSite, Trace
from model.measures.causes.score_sources import score_sources, traced_score
from model.measures.causes.source_chain import SIDES, SourceStep, followed_back
from model.measures.one_weight import WeightPath
from pages.parts.frame.theme import theme
from pages.parts.state.session import choose
from viz.explorer.attention_kinds import Kind, Text
from viz.text.causes import score_sources as words
from viz.walkthrough.step_charts import part_bars, spec, unchecked

LARGEST_MODEL = 200_000_000  # parameters; of a larger one the split takes seconds, and waits until it is asked for


def show_reasons(path: WeightPath, checkpoint: Checkpoint, trace: Trace, kinds: Mapping[str, Kind]) -> None:
    """The sentence, the steps back, and the parts of both sides as bars."""
    st.subheader("Why it looks there", anchor=False, help=words.HELP)
    reason = words.why_not(path)
    if reason is not None:
        st.markdown(reason)
        return
    if checkpoint.model.parameter_count() > LARGEST_MODEL and not st.button("Split this score", key="split_score"):
        return
    texts = {kind.queries.stack: kind.queries for kind in kinds.values()}
    at = path.site
    site = HeadSite(at.stack, at.layer, at.head, "cross" if at.attention == "cross" else "self")
    steps = followed_back(checkpoint, trace, site, at.query, at.key)
    st.markdown(words.title(steps, texts))
    for number, step in enumerate(words.told(steps)):
        if number:
            st.markdown(words.line(step, texts))
        link_to_part(number, step, texts)
    show_bars(checkpoint, trace, site, path, texts)


def link_to_part(number: int, step: SourceStep, texts: Mapping[str, Text]) -> None:
    """The way to the head that wrote the part, where one did."""
    if step.head is not None:
        name = f"Inside {words.head_name(step.head, texts)}"
        st.button(name, key=f"step_back_{number}", on_click=go_to_part, args=(step,), icon=":material/arrow_forward:")


def go_to_part(step: SourceStep) -> None:
    """The weight of the head that wrote a part: from where it wrote to where it read."""
    head = step.head
    assert head is not None
    attention = "cross" if head.attention == "cross" else head.stack
    place = {"layer": head.layer, "head": head.head, "query": step.position, "key": step.read}
    choose(place, attention=attention, opening=bool(head.layer or head.head))


def show_bars(
    checkpoint: Checkpoint, trace: Trace, site: HeadSite, path: WeightPath, texts: Mapping[str, Text]
) -> None:
    """The largest parts of the query's side and of the key's, and what all of them sum to."""
    query, key = path.site.query, path.site.key
    sources, colours = score_sources(checkpoint, trace, site, query, key, relative=True), theme()
    st.markdown(words.score_line(traced_score(trace, site, query, key), sources.score))
    stacks, positions = (site.stack, words.key_stack(site)), (query, key)
    for side, stack, position, column in zip(SIDES, stacks, positions, st.columns(2), strict=True):
        draw = partial(part_bars, words.bars(sources.by(side)), words.BARS, theme=colours)
        with column.container(gap="xsmall"):
            st.markdown(words.SIDES[side].format(words.token_at(texts[stack], position)))
            st.vega_lite_chart(
                spec(unchecked(draw)), theme=None, alt=f"Bars: the parts of the score, by the {side}'s stream."
            )
    traced, capped = traced_score(trace, site, query, key, relative=True), path.module.cap is not None
    st.markdown(words.sums(sources, traced, capped=capped))
