"""Why not a recurrent network, and what does this cost? An LSTM beside a Transformer: gradients, time, accuracy."""

from functools import partial

import streamlit as st

from model import Config, Edits
from model.measures.learn.records.recurrence import cost_record, training_record
from model.measures.learn.recurrence.gradient_reach import GradientReach, gradient_reach, lstm_norms, norms
from model.measures.learn.recurrence.recurrent_classifier import RecurrentClassifier
from model.measures.learn.recurrence.recurrent_cost import cost, faster_from
from model.measures.learn.sizes.parameters import parameter_count
from pages.parts.frame.theme import theme
from pages.parts.learn.cost_measurement import costs_shown, offer_to_measure
from pages.parts.learn.settings import OPENINGS, Path
from pages.parts.learn.stop import Door, Stop, StopQuestion
from pages.parts.passes import trace_of
from pages.parts.shared_cache import checkpoint_key, checkpoint_named
from pages.parts.state.selection import Selection
from pages.parts.state.session import choose
from pages.parts.widgets.binding import radio
from pages.parts.widgets.charts import show_chart
from viz.charts.learn.recurrence.compared_bars import compared_bars
from viz.charts.learn.recurrence.recurrence_lines import accuracy_lines, cost_lines, gradient_lines
from viz.text.learn.stops import recurrent_network as words

FORGET_BIASES = ("0", "1", "2", "4")
WIDEST, MOST_LAYERS = 256, 8  # of a model of which another is made with fresh weights
DOOR = Door(
    page="costs",
    label="What it costs: parameters, memory, time",
    explained="Adds up the parameters of this model box by box, and shows what its attention costs by length.",
)


def knob(selection: Selection, options: tuple[str, ...]) -> str:
    """What a control of this stop is set to; its first option where the address names none of them."""
    chosen = selection.of(Path).knob
    return chosen if chosen in options else options[0]


def take_knob(option: str) -> None:
    choose(knob=option)


# The gradient


def ask_gradient(selection: Selection) -> StopQuestion:
    """How much of the gradient reaches the first token."""
    if len(trace_of(selection, Edits()).text_stack.ids) < 2:
        return StopQuestion(
            question=words.GRADIENT_QUESTION, setting="", options=words.GRADIENT_OPTIONS, right=frozenset(), answer="",
            sentence="", picture=lambda seen: None, door=DOOR, unclear=words.GRADIENT_ALONE,
        )  # fmt: skip
    reach = reach_of(selection, "0")
    numbers = words.gradient(reach)
    return StopQuestion(
        question=words.GRADIENT_QUESTION,
        setting=words.GRADIENT_SETTING.format(**numbers),
        options=words.GRADIENT_OPTIONS,
        right=frozenset({words.gradient_option(reach)}),
        answer=words.GRADIENT_ANSWER.format(**numbers),
        sentence=words.GRADIENT_SENTENCE.format(**numbers),
        picture=partial(show_gradient, selection),
        act=partial(choose_bias, selection),
        door=DOOR,
    )


def reach_of(selection: Selection, bias: str) -> GradientReach:
    """Of the vectors of this text's tokens."""
    return computed_reach(checkpoint_key(selection.checkpoint), selection.text, bias, selection)


@st.cache_data(show_spinner=False, max_entries=32)
def computed_reach(_key: object, text: str, bias: str, _selection: Selection) -> GradientReach:
    """The same, kept by model and text."""
    vectors = trace_of(_selection, Edits()).text_stack.embedding.token.cpu()
    return gradient_reach(checkpoint_named(_selection.checkpoint).config, vectors, forget_bias=float(bias))


def show_gradient(selection: Selection, seen: bool) -> None:
    """Both models, from the last token back; before the guess the Transformer alone."""
    bias = knob(selection, FORGET_BIASES) if seen else "0"
    reach = reach_of(selection, bias)
    show_chart(
        ("learn_gradient", selection.checkpoint, selection.text, bias, seen),
        lambda: gradient_lines(reach, drawn=None if seen else [words.TRANSFORMER], theme=theme()),
        "The gradient's size at every token, from the last one back, for an LSTM and a Transformer.",
    )


def choose_bias(selection: Selection) -> None:
    """The knob: a forget gate that begins open."""
    bias = knob(selection, FORGET_BIASES)
    radio(words.FORGET_LABEL, FORGET_BIASES, bias, take_knob, key="forget_bias", help=words.FORGET_WHY)
    first = words.power(reach_of(selection, bias).first_to_last)
    st.markdown(f"{words.FORGET_SENTENCE.format(bias=bias, first=first)} {words.FORGET_WHY}")


# Time and memory


def ask_cost(selection: Selection) -> StopQuestion:
    """From which length on the Transformer is faster."""
    measured, _ = costs_shown()
    start = faster_from(measured, "transformer")
    numbers = words.cost(measured, start, parameters=cost_record().models["transformer"])
    return StopQuestion(
        question=words.COST_QUESTION,
        setting=words.COST_SETTING.format(**numbers),
        options=words.COST_OPTIONS,
        right=frozenset({words.cost_option(start)}),
        answer=words.COST_ANSWERS[start is None].format(**numbers),
        sentence=words.COST_SENTENCE.format(**numbers),
        picture=partial(show_costs, selection),
        act=partial(measure_or_draw, selection),
        door=DOOR,
    )


def show_costs(selection: Selection, seen: bool) -> None:
    """What was measured here, else what was recorded; before the guess the LSTM alone."""
    drawn, (costs, source) = knob(selection, tuple(words.DRAWN)) if seen else "forward", costs_shown()
    show_chart(
        ("learn_costs", costs, drawn, seen),
        lambda: cost_lines(costs, drawn, models=None if seen else [words.LSTM], theme=theme()),
        f"{words.DRAWN[drawn]} of an LSTM and a Transformer, by the number of tokens.",
    )
    st.caption(source)


def measure_or_draw(selection: Selection) -> None:
    """What is drawn, and whether it is measured anew."""
    options = tuple(words.DRAWN)
    chosen = knob(selection, options)
    radio(words.DRAWN_LABEL, options, chosen, take_knob, key="cost_drawn", format_func=words.DRAWN.__getitem__)
    offer_to_measure()


# What both learn


def ask_trained(selection: Selection) -> StopQuestion:
    """Which of them judges more reviews rightly."""
    record = training_record()
    numbers, better = words.trained(record), record.better()
    return StopQuestion(
        question=words.TRAINED_QUESTION.format(**numbers),
        setting=words.TRAINED_SETTING.format(**numbers),
        options=words.TRAINED_OPTIONS,
        right=frozenset({2 if better is None else ("lstm", "transformer").index(better)}),
        answer=words.TRAINED_ANSWERS[better].format(**numbers),
        sentence=words.TRAINED_SENTENCE.format(**numbers),
        picture=partial(show_trained, selection),
        act=partial(choose_view, selection),
        door=DOOR,
    )


def show_trained(selection: Selection, seen: bool) -> None:
    """By length, over the steps, or the sizes; before the guess the LSTM by length."""
    view = knob(selection, tuple(words.TRAINED_VIEWS)) if seen else "lengths"
    if view == "parameters":
        show_parameters(selection)
    elif view == "steps":
        show_chart(
            "learn_trained_steps",
            lambda: accuracy_lines(training_record(), theme=theme()),
            "Share of held-out reviews judged rightly over the training steps, for both models.",
        )
    else:
        show_lengths(seen)
    st.caption(words.TRAINED_SOURCE.format(**words.trained(training_record())))


def show_lengths(seen: bool) -> None:
    """Accuracy by the length of the review."""
    record = training_record()
    shares = {words.NAMES[model]: record.accuracy_by_length(model) for model in ("lstm", "transformer")}
    groups = words.length_names(record.runs[0])
    show_chart(
        ("learn_trained_lengths", seen),
        lambda: compared_bars(
            groups, shares, words.UP_ACCURACY, drawn=None if seen else [words.LSTM],
            across=words.ACROSS_LENGTHS, theme=theme(),
        ),
        "Share of held-out reviews judged rightly, by length, for both models.",
    )  # fmt: skip


def show_parameters(selection: Selection) -> None:
    """What such models are said to need, and have."""
    own, bundled = checkpoint_named(selection.checkpoint), checkpoint_named(STOP.opening.checkpoint)
    base = parameter_count(Config.paper_base())
    size, cards = own.model.parameter_count(), (own.card, bundled.card)
    st.markdown(words.parameter_table(training_record(), own.name, size, cards, base))


def choose_view(selection: Selection) -> None:
    """The knob."""
    options = tuple(words.TRAINED_VIEWS)
    radio(
        words.DRAWN_LABEL, options, knob(selection, options), take_knob, key="trained_view",
        format_func=words.TRAINED_VIEWS.__getitem__,
    )  # fmt: skip


def can_use(config: Config) -> bool:
    """Whether it has one stack, small enough for a second one with fresh weights."""
    return not config.is_encoder_decoder and config.width <= WIDEST and config.layers <= MOST_LAYERS


STOP = Stop(
    name="Why not a recurrent network?",
    opening=OPENINGS["recurrent_network"],
    can_use=can_use,
    needs="a small model of one stack",
    rounds=(ask_gradient, ask_cost, ask_trained),
    code=(lstm_norms, norms, cost, RecurrentClassifier.forward),
    paper=(
        "Section 1: the sequential nature of recurrent models “precludes parallelization within training examples”. "
        "Section 4, table 1: a recurrent layer needs O(*n*) sequential operations and has paths of length O(*n*), "
        "self-attention O(1) of both, for O(*n*² · *d*) operations instead of O(*n* · *d*²)."
    ),
)
