"""The visitor's own training: asked for, followed, stopped, and the last two kept to be watched."""

from functools import partial

import streamlit as st

from model import InputError
from model.training.watched.history import History
from model.training.watched.run_settings import BOUNDS, LONGEST_TEXT, SHORTEST_TEXT, RunSettings
from model.training.watched.tasks import TEXT as TASK_OF_TEXT
from model.training.watched.waiting_line import Turn, WaitingLine, trainings_at_once
from pages.parts.models.hub_panel import visitor
from pages.parts.models.watched_moments import keep_training, kept_training, own_trainings
from pages.parts.state.session import choose, current
from pages.parts.state.session_ends import is_connected, session_now, when_over
from pages.parts.watch.learned_text import learned_text
from pages.parts.watch.settings import OWN, Watch

# In the session.
TURN, REFUSAL, ENDED = "_watch_turn", "_watch_refusal", "_watch_ended"
BEGUN = "_watch_begun"

NO_DIVISOR = "{heads} heads cannot share a width of {width} evenly: choose {fitting} heads, or another width."
NOTHING_LEARNED = (
    "The training was stopped before its first step, so that there is nothing to watch: press Train again."
)
TEXT_LENGTH = (
    "The text has {count:,} characters; a training needs {least:,} to {most:,}. Paste one, or use the example."
)


@st.cache_resource(show_spinner=False)
def waiting_line() -> WaitingLine:
    """That of this server."""
    return WaitingLine(trainings_at_once())


def turn_now() -> Turn | None:
    """This visitor's training that waits or goes on; None where there is none."""
    turn: Turn | None = st.session_state.get(TURN)
    return None if turn is None or turn.is_over else turn


def train() -> None:
    """Begin with what is asked for, in the place of a training that goes on; or note why there can be none."""
    st.session_state.pop(REFUSAL, None)
    watch, text = current().of(Watch), learned_text()
    if watch.task == TASK_OF_TEXT and not SHORTEST_TEXT <= len(text) <= LONGEST_TEXT:
        st.session_state[REFUSAL] = TEXT_LENGTH.format(count=len(text), least=SHORTEST_TEXT, most=LONGEST_TEXT)
        return
    if watch.width % watch.heads:
        fitting = ", ".join(str(heads) for heads in range(1, BOUNDS["heads"][1] + 1) if watch.width % heads == 0)
        st.session_state[REFUSAL] = NO_DIVISOR.format(heads=watch.heads, width=watch.width, fitting=fitting)
        return
    try:
        settings = watch.asked(text)
    except InputError as refusal:
        st.session_state[REFUSAL] = str(refusal)
        return
    shown = own_histories()[0].settings.task if watch.film == OWN and own_histories() else watch.film
    begin(settings)
    st.session_state[BEGUN] = True
    line = watch.line if shown == watch.task else ""  # characters of another task may be none of this one's
    choose({"watch.film": OWN, "watch.step": None, "watch.line": line})


def begin(settings: RunSettings) -> None:
    """Enter the line, and leave it, or end at once, when this visitor has left."""
    take_over()
    st.session_state.pop(ENDED, None)  # how the one before ended is no news beside the next
    follow(waiting_line().enter(visitor(), settings, session_now()))


def follow(turn: Turn) -> None:
    """Have a training be this session's, which it ends with."""
    st.session_state[TURN] = turn
    when_over("training", partial(waiting_line().kill, visitor()))


def turn_place() -> int:
    """How many trainings must begin before this visitor's, itself included; 0: it does not wait."""
    turn = turn_now()
    return 0 if turn is None else waiting_line().place(turn)


def stop() -> None:
    """End the training soon, with what there is; or leave the line."""
    waiting_line().stop(visitor())


def take_over() -> None:
    """Keep what the training has come to, once it has come to anything, and say so where it ended by itself."""
    if not is_to_take_over():
        return
    turn: Turn = st.session_state[TURN]
    assert turn.trainer is not None
    history, refusal = turn.trainer.history, turn.trainer.refusal
    if history.moments and history.last.step > 0:
        keep_training(history)
    elif not refusal:
        refusal = NOTHING_LEARNED
    if refusal:
        st.session_state[ENDED] = refusal
    st.session_state[TURN] = None


def is_to_take_over() -> bool:
    """Whether the training has ended since ``take_over``, so that what was drawn in between is of before."""
    turn: Turn | None = st.session_state.get(TURN)
    return turn is not None and turn.trainer is not None and turn.is_over


def bring_back() -> None:
    """After a reload, or by a link: have the training of the address in this session, where the server has it."""
    watch = current().of(Watch)
    if watch.film != OWN or own_trainings() or turn_now() is not None:
        return
    try:
        settings = watch.asked(learned_text())
    except InputError:  # the address asks for what cannot be trained
        return
    if (turn := waiting_line().hand_over(settings, visitor(), session_now(), is_connected)) is not None:
        follow(turn)
    elif (history := kept_training(settings)) is not None:
        keep_training(history)


def live_history() -> History | None:
    """That of the training that goes on, once it has a snapshot."""
    turn = turn_now()
    if turn is None or turn.trainer is None or not turn.trainer.history.snapshots:
        return None
    return turn.trainer.history


def own_histories() -> list[History]:
    """The newest first: the one that goes on, and those that were kept."""
    kept = list(reversed(own_trainings().values()))
    live = live_history()
    return [live, *kept] if live is not None else kept
