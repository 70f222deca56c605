"""Two tiny decoders that learn to copy letters while the visitor looks on: with the causal mask, and without."""

from functools import partial

import streamlit as st

from model.measures.learn.records.blindfold import MASKED, UNMASKED
from model.training.watched.head_pictures import written_after
from model.training.watched.history import History
from model.training.watched.run_settings import RunSettings
from model.training.watched.waiting_line import Turn
from pages.parts.frame.theme import theme
from pages.parts.models.hub_panel import visitor
from pages.parts.state.session import choose, run_again
from pages.parts.state.session_ends import when_over
from pages.parts.watch.trainings import waiting_line
from pages.parts.widgets.charts import show_chart
from viz.charts.learn.recurrence.compared_lines import Axis, ModelLine, compared_lines
from viz.text.learn.stops import blindfold as words
from viz.tokens import markdown_text

TURNS = "_blindfold_turns"  # in the session: the trainings of this visitor, by their names
STEPS = 1000
SETTINGS = {
    MASKED: RunSettings(task="copy", steps=STEPS),
    UNMASKED: RunSettings(task="copy", mask="none", steps=STEPS),
}
PROMPT, ANSWER = "wordplay>", "wordplay"
INTERVAL = 1.0  # seconds between two looks


def show_live() -> None:
    """The button that trains both, and what they have come to."""
    turns = turns_now()
    label = words.LIVE_AGAIN if turns else words.LIVE
    st.button(label, key="blindfold_train", on_click=train_both, help=words.LIVE_HELP)
    if turns:
        goes_on = not all(turn.is_over for turn in turns.values())
        st.fragment(show_both, run_every=INTERVAL if goes_on else None)()


def turns_now() -> dict[str, Turn]:
    """This visitor's two trainings, under way or ended; none before they were begun."""
    turns: dict[str, Turn] = st.session_state.get(TURNS, {})
    return turns


def train_both() -> None:
    """Begin both anew, beside each other where the server has room; they end with the visit."""
    line = waiting_line()
    st.session_state[TURNS] = {name: line.enter(f"{visitor()} {name}", settings) for name, settings in SETTINGS.items()}
    for name in SETTINGS:
        when_over(f"training {name}", partial(line.kill, f"{visitor()} {name}"))
    choose()


def stop_both() -> None:
    """End both soon, with what there is."""
    for name in SETTINGS:
        waiting_line().stop(f"{visitor()} {name}")


def show_both() -> None:
    """How far each is, how often it is right, and what it writes where the answer is not there to be seen."""
    turns = turns_now()
    if turns and all(turn.is_over for turn in turns.values()) and st.session_state.get("_blindfold_over") is not turns:
        st.session_state["_blindfold_over"] = turns
        run_again()
    if not all(turn.is_over for turn in turns.values()):
        st.button(words.LIVE_STOP, key="blindfold_stop", on_click=stop_both, help=words.LIVE_STOP_HELP)
    histories = {name: history_of(turn) for name, turn in turns.items()}
    for name, column in zip(turns, st.columns(len(turns)), strict=True):
        with column:
            show_one(name, turns[name], histories[name])
    if all(history is not None for history in histories.values()):
        show_curves({name: history for name, history in histories.items() if history is not None})


def history_of(turn: Turn) -> History | None:
    """What a training has come to, once there is a snapshot of it."""
    if turn.trainer is None or not turn.trainer.history.snapshots:
        return None
    return turn.trainer.history


def show_one(name: str, turn: Turn, history: History | None) -> None:
    """One of the two."""
    if history is None:
        refusal = turn.trainer.refusal if turn.trainer is not None else ""
        st.markdown(words.live_waiting(name, refusal))
        return
    moment = history.at(history.steps[-1])
    written = written_after(history, moment.step, PROMPT, len(ANSWER))
    stopped = turn.is_over and moment.step < history.settings.steps
    st.markdown(words.live_said(name, moment, STEPS, PROMPT, written, ANSWER, stopped=stopped))
    if turn.is_over and turn.trainer is not None and turn.trainer.refusal:
        st.caption(markdown_text(f"{turn.trainer.refusal} {words.TOO_EARLY}"))


def show_curves(histories: dict[str, History]) -> None:
    """The loss of both."""
    lines = [
        ModelLine(
            name=words.NAMES[name],
            colour="accent" if name == MASKED else "second",
            values={moment.step: moment.loss for moment in history.moments if moment.step > 0},
        )
        for name, history in histories.items()
    ]
    key = ("learn_blindfold_live", *(history.last.step for history in histories.values()))
    axes = Axis(title=words.ACROSS_STEPS, form=",d"), Axis(title=words.LIVE_LOSS)
    show_chart(key, lambda: compared_lines(lines, *axes, theme=theme()), words.LIVE_ALT)
