"""Why is the decoder blindfolded? A recorded training with and without the mask, and a trained model without it."""

from functools import partial

import streamlit as st

from model import Config, Edits
from model.attention import causal_mask, full_mask
from model.measures.learn.records.blindfold import MASKED, UNMASKED, BlindfoldRecord, blindfold_record
from model.measures.learn.recurrence.lookahead import UNMASKED as WITHOUT_MASK
from model.measures.learn.recurrence.lookahead import Lookahead, lookahead
from model.trace import Trace
from pages.parts.frame.theme import theme
from pages.parts.learn.blindfold_live import show_live
from pages.parts.learn.settings import OPENINGS, Path
from pages.parts.learn.stop import Door, Stop, StopQuestion
from pages.parts.passes import trace_of
from pages.parts.shared_cache import checkpoint_named
from pages.parts.state.selection import Selection
from pages.parts.state.session import choose
from pages.parts.widgets.binding import select
from pages.parts.widgets.charts import show_chart
from viz.charts.learn.heads.mask_grid import mask_grids
from viz.charts.learn.recurrence.compared_bars import compared_bars
from viz.charts.learn.recurrence.compared_lines import Axis, ModelLine, compared_lines
from viz.text.learn.stops import blindfold as words
from viz.tokens import position_name

RUNS = (MASKED, UNMASKED)
MOST_DRAWN = 40
LIKELIEST = 3
DOOR = Door(
    page="break",
    label="Break the formula: take the mask off",
    explained="Shows every weight of a model that may look ahead, beside those that it has with its mask.",
    changes={"experiment": "unmask"},
)


def ask_loss(selection: Selection) -> StopQuestion:
    """Whose training loss ends lower."""
    record = blindfold_record()
    lower, numbers = record.lower(), words.losses(record)
    return StopQuestion(
        question=words.LOSS_QUESTION,
        setting=words.LOSS_SETTING.format(**numbers),
        options=words.LOSS_OPTIONS,
        right=frozenset({2 if lower is None else RUNS.index(lower)}),
        answer=words.LOSS_ANSWERS[lower].format(**numbers),
        sentence=words.LOSS_SENTENCE.format(**numbers),
        picture=lambda seen: show_losses(record) if seen else show_masks(),
        act=show_live,
        door=DOOR,
    )


def show_masks() -> None:
    """Who may look at what."""
    size = len(words.GRID)
    masks = {words.NAMES[MASKED]: causal_mask(size).numpy(), words.NAMES[UNMASKED]: full_mask(size, size).numpy()}
    show_chart(
        "learn_masks",
        lambda: mask_grids(words.GRID, masks, theme=theme()),
        "Two grids. With the mask, a character looks at itself and those before it; without, at all.",
    )


def show_losses(record: BlindfoldRecord) -> None:
    """Both curves."""
    lines = [
        ModelLine(
            name=words.NAMES[name],
            colour="accent" if name == MASKED else "second",
            values={moment.step: moment.training_loss for moment in record.runs[name]},
        )
        for name in RUNS
    ]
    show_chart(
        "learn_blindfold_losses",
        lambda: compared_lines(
            lines, Axis(title=words.ACROSS_STEPS, form=",d"), Axis(title=words.UP_LOSS), theme=theme()
        ),
        "Training loss over the steps, with the mask and without.",
    )
    st.caption(words.source(record))


def ask_text(selection: Selection) -> StopQuestion:
    """Which of them writes English."""
    record = blindfold_record()
    numbers, writers = words.losses(record), record.writers()
    every_answer = (frozenset({MASKED}), frozenset({UNMASKED}), frozenset(RUNS), frozenset[str]())
    return StopQuestion(
        question=words.TEXT_QUESTION,
        setting=words.TEXT_SETTING.format(**numbers),
        options=words.TEXT_OPTIONS,
        right=frozenset({every_answer.index(writers)}),
        answer=words.TEXT_ANSWERS[writers],
        sentence=words.TEXT_SENTENCE.format(**numbers),
        picture=lambda seen: show_texts(record, chosen_step(selection, record)) if seen else show_losses(record),
        act=lambda: choose_step(selection, record),
        door=DOOR,
    )


def show_texts(record: BlindfoldRecord, place: int) -> None:
    """What each wrote after so many steps."""
    for name, column in zip(RUNS, st.columns(2), strict=True):
        moment = record.at(name, place)
        with column:
            st.caption(words.step_caption(name, moment))
            st.code(record.prompt + moment.text, language=None, wrap_lines=True)
    st.caption(words.source(record))


def chosen_step(selection: Selection, record: BlindfoldRecord) -> int:
    """The place of the step that the knob names; the last where it names none."""
    names = [str(step) for step in record.steps]
    knob = selection.of(Path).knob
    return names.index(knob) if knob in names else len(names) - 1


def choose_step(selection: Selection, record: BlindfoldRecord) -> None:
    """The knob."""
    chosen = record.steps[chosen_step(selection, record)]
    select(words.STEP_LABEL, record.steps, chosen, take_knob, key="blindfold_step", width=240)


def take_knob(number: int) -> None:
    choose(knob=str(number))


def ask_trained(selection: Selection) -> StopQuestion:
    """Whether a trained decoder predicts this text better once it may see it."""
    masked = trace_of(selection, Edits())
    ahead = lookahead(masked, trace_of(selection, WITHOUT_MASK))
    if ahead is None:
        return no_next_token()
    numbers = words.trained(ahead, selection.checkpoint)
    return StopQuestion(
        question=words.TRAINED_QUESTION,
        setting=words.TRAINED_SETTING.format(**numbers),
        options=words.TRAINED_OPTIONS,
        right=frozenset({1 - ahead.effect}),
        answer=words.TRAINED_ANSWERS[ahead.effect].format(**numbers),
        sentence=words.TRAINED_SENTENCE.format(**numbers),
        picture=partial(show_probabilities, selection, masked, ahead),
        act=lambda: show_expected(selection, masked, ahead),
        door=DOOR,
    )


def no_next_token() -> StopQuestion:
    """For a text of one token."""
    return StopQuestion(
        question=words.TRAINED_QUESTION, setting="", options=words.TRAINED_OPTIONS, right=frozenset(), answer="",
        sentence="", picture=lambda seen: None, door=DOOR, unclear=words.ALONE,
    )  # fmt: skip


def names_of(trace: Trace, count: int) -> list[str]:
    """The first tokens that are predicted, each as the screen names it."""
    tokens = trace.text_stack.tokens or ()
    return [position_name(place, token) for place, token in enumerate(tokens[: count + 1])][1:]


def show_probabilities(selection: Selection, masked: Trace, ahead: Lookahead, seen: bool) -> None:
    """A pair of bars for every next token; before the guess those with the mask alone."""
    names = names_of(masked, MOST_DRAWN)
    shares = {
        words.NAMES[MASKED]: [token.probability for token in ahead.masked[:MOST_DRAWN]],
        words.NAMES[UNMASKED]: [token.probability for token in ahead.unmasked[:MOST_DRAWN]],
    }
    show_chart(
        ("learn_lookahead", selection.checkpoint, selection.text, seen),
        lambda: compared_bars(
            names,
            shares,
            "probability of the token",
            drawn=None if seen else [words.NAMES[MASKED]],
            colours=("accent", "second"),
            theme=theme(),
        ),
        "The probability of every next token of this text, with the mask and without.",
    )


def show_expected(selection: Selection, masked: Trace, ahead: Lookahead) -> None:
    """The knob: a token, and what the model had expected in its place, with the mask and without."""
    names = names_of(masked, len(ahead.masked))
    place = chosen_place(selection, len(names))
    select(
        words.PLACE_LABEL, range(len(names)), place, take_knob, key="blindfold_place",
        format_func=names.__getitem__, width=240,
    )  # fmt: skip
    pieces = checkpoint_named(selection.checkpoint).tokenizer.pieces
    likeliest = {
        name: words.expected([(pieces([number])[0], share) for number, share in tokens[place].likeliest[:LIKELIEST]])
        for name, tokens in ((MASKED, ahead.masked), (UNMASKED, ahead.unmasked))
    }
    st.markdown(words.PLACE_SENTENCE.format(**likeliest))


def chosen_place(selection: Selection, count: int) -> int:
    """The token that the knob names; the first where it names none."""
    knob = selection.of(Path).knob
    return int(knob) if knob.isdecimal() and int(knob) < count else 0


def can_use(config: Config) -> bool:
    """Whether it is a decoder that predicts what comes next."""
    return config.architecture == "decoder"


STOP = Stop(
    name="Why is the decoder blindfolded?",
    opening=OPENINGS["blindfold"],
    can_use=can_use,
    needs="a decoder-only model",
    rounds=(ask_loss, ask_text, ask_trained),
    code=(causal_mask, lookahead),
    paper=(
        "Section 3.1: the decoder's self-attention is masked so that “the predictions for position *i* can depend only "
        "on the known outputs at positions less than *i*”. Section 3.2.3: the scores of what comes later are set to −∞."
    ),
)
