"""The measurement that a visitor starts: length by length, in the page's own run, so that it can be stopped."""

from threading import Lock

import streamlit as st

from model.measures.learn.sizes.costs import LENGTHS, LONGEST_LIVE, SECONDS_LIVE, TimedLength, time_lengths
from pages.parts.state.session import choose, run_again

POINTS, RUNNING = "_costs_live", "_costs_measuring"
ENDING = 5.0  # seconds: a run that was stopped goes on until its present length is timed
BUSY = "Another visitor is measuring at the moment. Two at once would disturb each other: try again in half a minute."
START_HELP = (
    f"Runs that model on this server, with texts of up to {LONGEST_LIVE} tokens, for at most {SECONDS_LIVE:.0f} "
    "seconds. It can be stopped; what was measured by then stays."
)


@st.cache_resource(show_spinner=False)
def measuring() -> Lock:
    """Held by the one visitor of the server who measures."""
    return Lock()


def live_points() -> tuple[TimedLength, ...]:
    """What was measured for this visitor."""
    points: tuple[TimedLength, ...] = st.session_state.get(POINTS, ())
    return points


def show_start() -> None:
    """The button that starts a measurement; in its place, while one runs, its progress and the button that stops it."""
    if not st.session_state.pop(RUNNING, False):
        offer_start()
        return
    if not measuring().acquire(timeout=ENDING):
        st.info(BUSY)
        offer_start()
        return
    try:
        measure()
    finally:  # Stop, a link or a closed window end the run at the next thing it shows
        measuring().release()
    run_again()


def offer_start() -> None:
    """The button."""
    label = "Measure again" if live_points() else "Measure here"
    st.button(label, key="costs_measure", type="primary", on_click=start, help=START_HELP)


def start() -> None:
    """Begin anew, with the page's next run."""
    st.session_state[RUNNING], st.session_state[POINTS] = True, ()


def measure() -> None:
    """Time one length after another, each kept as it comes."""
    lengths = [tokens for tokens in LENGTHS if tokens <= LONGEST_LIVE]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Stop", key="costs_stop", on_click=choose, type="primary")
        progress = st.progress(0.0, text=f"{lengths[0]} tokens")
    for place, point in enumerate(time_lengths(lengths, limit=SECONDS_LIVE), start=1):
        st.session_state[POINTS] = (*live_points(), point)
        following = lengths[place : place + 1]
        progress.progress(place / len(lengths), text=f"{following[0]} tokens" if following else "Done")
