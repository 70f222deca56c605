"""Where the logit of an answer comes from: its parts as a waterfall, and what every layer would have said."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st
from altair import LayerChart

from model import Checkpoint, Edits
from model.measures.causes.contributions import logit_parts, logit_steps, runner_up, runner_up_of
from model.measures.causes.stream_parts import Part
from model.measures.logit_lens import LensPicture, has_lens, lens_picture
from model.measures.outcome import outcome_of
from model.trace import Trace
from pages.parts.ablations.part_effects import name_of
from pages.parts.frame.theme import theme
from pages.parts.heads.settings import SUMS, HeadsSettings
from pages.parts.lru_cache import LRUCache
from pages.parts.passes import trace_key, trace_of
from pages.parts.shared_cache import checkpoint_named
from pages.parts.state.selection import Selection
from pages.parts.state.session import choose, current
from pages.parts.widgets.binding import radio, select
from pages.parts.widgets.charts import chart_spec
from viz.charts.causes.logit_waterfall import CHOSEN, logit_waterfall
from viz.charts.logit_lens import LensColumn, lens_grid
from viz.text.causes import logit_parts as sentences
from viz.text.causes.head_effects import answer_named, output_tokens
from viz.tokens import markdown_text, position_name, visible

NO = Edits()
CACHE_BYTES, SUM_BYTES, PART_BYTES = 4_000_000, 1_000, 200  # about, of what is kept: a sum, and each part of it
LENS_BYTES = 8_000_000
MOST_COLUMNS = 32  # positions of the lens in one picture
KINDS = {"encoder": "self", "decoder": "self", "cross": "cross"}
SUM_NAMES = {"logit": "the answer's logit", "lead": "its lead over the runner-up"}
SUM_HELP = (
    "The logit is the score from which the answer's probability is made. Probabilities depend only on differences "
    "between logits, so that a part which raises both answers alike says nothing: the lead over the runner-up leaves "
    "that out. With two classes, the lead alone decides, and is the logarithm of the odds."
)
TITLE = "Where the answer's {} comes from"
TITLE_HELP = (
    "The stream that the model's head reads is the sum of what everything before added. With each norm frozen at what "
    "it divides by in this pass, the way from each part to the logit is linear, and the parts sum to it: direct logit "
    "attribution (Elhage et al. 2021). What a head does by way of later layers is counted there, not here: that is "
    "why this picture and the one above differ."
)
WATERFALL_READ = (
    "Read from the top: each bar begins where the one above ends. **Blue** adds, **orange** takes away. The heads of "
    "one layer stand apart; press another layer's attention to see its heads, or a head to choose it."
)
LENS_TITLE = "What each layer would say"
LENS_READ = (
    "Each cell is what the output layer would say if the model ended there, with its probability: the logit lens "
    "(nostalgebraist 2020). {} The model was not trained to be read before its last layer, so all rows above the last "
    "are only a reading."
)
READ = {
    "label": "The last row is what the output layer says of every token alone; {}",
    "next": "Under each token stands the token that would follow it; the last row is the model's own.",
    "masked": "Under each token stands the token that would be in its place; the last row is the model's own.",
}
POOLED = "under “mean” it reads the mean of all tokens, and the last cell there is the verdict."
FIRST = "the verdict is read from the first token, and the last cell there is the model's own."
ACTIVATION = (
    "The output has a layer with an activation: each of its units is frozen too, at the share of its input that "
    "it lets through in this pass."
)
CAPPED = "The model then bends large logits by a cap; the sum is before it."
ENCODER = (
    "The heads of the encoder add nothing directly: they act by way of the decoder's cross-attention, which is in the "
    "picture."
)


@dataclass(frozen=True, kw_only=True)
class LogitSum:
    """The parts of a logit, or of a lead over a runner-up, ``against``; other: in words. None where it is the logit."""

    parts: Mapping[Part, float]
    against: int | None
    other: str | None

    @property
    def total(self) -> float:
        """What they sum to."""
        return sum(self.parts.values())

    def heads(self) -> list[tuple[Part, float]]:
        """The heads among them."""
        return [(part, value) for part, value in self.parts.items() if part.head is not None]


@st.cache_resource(show_spinner=False)
def sums_cache() -> LRUCache:
    """The parts of logits, of all visitors."""
    return LRUCache(CACHE_BYTES)


@st.cache_resource(show_spinner=False)
def lens_cache() -> LRUCache:
    """What layers would say, of all visitors."""
    return LRUCache(LENS_BYTES)


def logit_sum(selection: Selection) -> LogitSum | None:
    """The parts of what the visitor chose to sum; None where the model gives no answer."""
    checkpoint, trace = checkpoint_named(selection.checkpoint), trace_of(selection, NO)
    if outcome_of(checkpoint, trace).kind == "stream":
        return None
    other = runner_up(checkpoint, trace) if summed(selection) == "lead" else None
    key = ("logit parts", trace_key(selection, NO), other)
    parts: Mapping[Part, float] = sums_cache().get(
        key, lambda: logit_parts(checkpoint, trace, other), lambda parts: SUM_BYTES + PART_BYTES * len(parts)
    )
    return LogitSum(parts=parts, against=other, other=None if other is None else answer_name(checkpoint, other))


def second_answer(selection: Selection) -> tuple[str, float, float] | None:
    """The runner-up in words, its probability, and how far its logit is behind; None where there is none."""
    checkpoint, trace = checkpoint_named(selection.checkpoint), trace_of(selection, NO)
    if (found := runner_up_of(checkpoint, trace)) is None:
        return None
    return answer_name(checkpoint, found.answer), found.probability, found.margin


def with_mask(text: str, mask: str) -> str:
    """The text with a mask in place of its last word; the same text where it has none."""
    return re.sub(r"\w+(?=\W*$)", lambda _: mask, text, count=1)


def summed(selection: Selection) -> str:
    """ "logit" or "lead": what was chosen, where there is a runner-up."""
    checkpoint, trace = checkpoint_named(selection.checkpoint), trace_of(selection, NO)
    chosen = selection.of(HeadsSettings).summed
    if runner_up(checkpoint, trace) is None:
        return "logit"
    return chosen if chosen != SUMS[0] else "lead" if len(checkpoint.config.labels) == 2 else "logit"


def answer_name(checkpoint: Checkpoint, answer: int) -> str:
    """A label or a token, plain text."""
    if checkpoint.config.labels:
        return visible(checkpoint.config.labels[answer])
    return visible(checkpoint.tokenizer.pieces([answer])[0])


def direct_part(selection: Selection, attention: str, place: tuple[int, int]) -> tuple[float, float, str | None] | None:
    """What a head adds directly, what all sums to, and the runner-up if that is a lead; None where it adds nothing."""
    trace = trace_of(selection, NO)
    if (attention == "encoder") != (trace.decoder is None) or (every := logit_sum(selection)) is None:
        return None
    return every.parts[Part(KINDS[attention], *place)], every.total, every.other


def show_answer_logit(selection: Selection, attention: str, place: tuple[int, int]) -> None:
    """The waterfall, with the heads of the chosen head's layer apart."""
    if (every := logit_sum(selection)) is None:
        return
    checkpoint, trace = checkpoint_named(selection.checkpoint), trace_of(selection, NO)
    outcome = outcome_of(checkpoint, trace)
    total = sentences.total_name(every.other)
    st.subheader(TITLE.format(total), anchor=False, help=TITLE_HELP)
    several = outcome.kind == "output"
    name = name_of(checkpoint, outcome)
    answer = output_tokens(name) if several else answer_named(outcome.kind, name)
    said = sentences.summed_said(answer, every.other, every.total, several=several)
    st.markdown(f"{said} {markdown_text(sentences.largest_said(every.heads()))}")
    if runner_up(checkpoint, trace) is not None:
        radio(
            "What the bars sum to",
            SUMS[1:],
            summed(selection),
            take_summed,
            key="heads_summed",
            format_func=SUM_NAMES.__getitem__,
            help=SUM_HELP,
        )
    direct = (attention == "encoder") == (trace.decoder is None)
    draw_waterfall(selection, every, (KINDS[attention], *place) if direct else None)
    st.caption(" ".join([WATERFALL_READ, *asides(checkpoint, direct=direct)]))


def asides(checkpoint: Checkpoint, *, direct: bool) -> list[str]:
    """What is peculiar to the sum in this model."""
    model = checkpoint.model
    bent = model.word_head is not None or (bool(checkpoint.config.labels) and checkpoint.config.pooling != "mean")
    notes = [(bent, ACTIVATION), (checkpoint.config.logit_cap is not None, CAPPED), (not direct, ENCODER)]
    return [note for holds, note in notes if holds]


def draw_waterfall(selection: Selection, every: LogitSum, chosen: tuple[str, int, int] | None) -> None:
    """The bars; a press chooses a layer's attention, or a head."""
    total = sentences.total_name(every.other)

    def draw() -> LayerChart:
        return logit_waterfall(logit_steps(every.parts, chosen and chosen[:2]), total, chosen=chosen, theme=theme())

    spec = chart_spec(("waterfall", trace_key(selection, NO), every.other, chosen, theme().background), draw)
    st.vega_lite_chart(
        spec,
        theme=None,
        on_select=take_step,
        selection_mode=[CHOSEN],
        key="logit_waterfall",
        alt=f"What every part of the model adds to the answer's {total}, one bar each.",
    )


def take_step() -> None:
    """The head that was pressed, or the first of the attention that was."""
    points = st.session_state["logit_waterfall"]["selection"][CHOSEN]
    attentions = {"self": "decoder" if has_cross() else None, "cross": "cross"}
    for point in points[:1]:
        kind, layer, head = (point.get(name) for name in ("kind", "layer", "head"))
        if kind in attentions and type(layer) is int and type(head) is int and 0 <= layer < 1_000 and head < 1_000:
            where = {"attention": attentions[kind]} if attentions[kind] else {}
            choose(where | {"layer": layer, "head": max(head, 0)})


def has_cross() -> bool:
    """Whether the model on the screen has a decoder beside an encoder."""
    return checkpoint_named(current().checkpoint).config.is_encoder_decoder


def take_summed(name: str) -> None:
    """Another sum."""
    choose(summed=name)


def show_lens(selection: Selection) -> None:
    """What the model would say after the embedding and after every layer, at every position."""
    checkpoint = checkpoint_named(selection.checkpoint)
    if not has_lens(checkpoint.model):
        return
    st.subheader(LENS_TITLE, anchor=False)
    st.markdown(lens_said(checkpoint))
    count = len(trace_of(selection, NO).output_stack.ids)
    first = window_first(selection, count)
    if count > MOST_COLUMNS:
        starts = range(0, count, MOST_COLUMNS)
        select(
            "Positions",
            list(starts),
            first,
            take_first,
            key="lens_first",
            format_func=lambda start: f"{start + 1} to {min(start + MOST_COLUMNS, count)}",
        )
    with st.container(key="lens_picture"):
        key = ("lens grid", trace_key(selection, NO), first, theme().background)
        spec = chart_spec(key, lambda: lens_of(selection, first))
        st.vega_lite_chart(spec, theme=None, width="content", alt="What the model would say after each layer.")


def lens_of(selection: Selection, first: int) -> LayerChart:
    """The picture, from a position on."""
    pooled, columns, read = lens_columns(selection)
    shown = [*pooled, *columns[first : first + MOST_COLUMNS]]
    framed = 0 if pooled else read - first if 0 <= read - first < len(shown) else None
    return lens_grid(shown, read=framed, theme=theme())


def lens_said(checkpoint: Checkpoint) -> str:
    """How to read it, by the kind of the model's head."""
    config = checkpoint.config
    kind = "label" if config.labels else "next" if checkpoint.model.decoder is not None else "masked"
    return LENS_READ.format(READ[kind].format(POOLED if config.pooling == "mean" else FIRST))


def window_first(selection: Selection, columns: int) -> int:
    """The first position on the screen: of the window that the address names."""
    first = selection.of(HeadsSettings).lens_first // MOST_COLUMNS * MOST_COLUMNS
    return first if first < columns else 0


def take_first(first: int) -> None:
    """Other positions."""
    choose(lens_first=first)


def lens_columns(selection: Selection) -> tuple[list[LensColumn], list[LensColumn], int]:
    """The mean, where a classifier reads that; every position; and which of them the answer is read from."""
    checkpoint, trace = checkpoint_named(selection.checkpoint), trace_of(selection, NO)
    stack = trace.output_stack
    size = 24 * (len(stack.blocks) + 1) * (len(stack.ids) + 1)
    picture: LensPicture = lens_cache().get(
        ("lens", trace_key(selection, NO)), lambda: lens_picture(checkpoint.model, stack), lambda _: size, size
    )
    names = [position_name(at, name, 9) for at, name in enumerate(stack.names())]
    columns = columns_of(checkpoint, picture, names)
    pooled = [] if picture.pooled is None else columns_of(checkpoint, picture.pooled, ["mean"])
    return pooled, columns, read_from(checkpoint, trace)


def columns_of(checkpoint: Checkpoint, picture: LensPicture, names: list[str]) -> list[LensColumn]:
    """A column for each position."""
    ids, shares = picture.ids, picture.probabilities.numpy()
    return [
        LensColumn(name, [[answer_name(checkpoint, one) for one in row] for row in ids[:, at].tolist()], shares[:, at])
        for at, name in enumerate(names)
    ]


def read_from(checkpoint: Checkpoint, trace: Trace) -> int:
    """The position that the answer is read from, of several the last; −1 for none."""
    outcome = outcome_of(checkpoint, trace)
    return 0 if outcome.kind == "label" else max(outcome.rows, default=-1)
