"""Measures an LSTM and a Transformer on this server, before the visitor's eyes, who may stop it."""

import time
from threading import Lock

import streamlit as st
import torch

from model.measures.learn.records.recurrence import cost_record
from model.measures.learn.recurrence.recurrent_cost import LENGTHS, MODELS, Cost, costs
from pages.parts.state.session import run_again
from viz.text.learn.stops import recurrent_network as words

MEASURED = "_recurrent_costs"  # in the visitor's session
MOST_SECONDS, ROUNDS = 20, 3
ENDING = 5.0  # seconds: a run that was stopped goes on until its present length is timed


@st.cache_resource(show_spinner=False)
def turn() -> Lock:
    """Held by whoever measures; one visitor at a time."""
    return Lock()


def costs_shown() -> tuple[tuple[Cost, ...], str]:
    """What this visitor had measured, else what was recorded; and where it comes from, Markdown."""
    if MEASURED in st.session_state:
        return st.session_state[MEASURED], words.MEASURED.format(threads=words.threads(torch.get_num_threads()))
    record = cost_record()
    return record.costs, words.RECORDED.format(machine=record.machine, command=record.command)


def offer_to_measure() -> None:
    """The button, and where it was clicked the measurement.

    Stop starts the page anew: Streamlit leaves the loop at the next thing that it shows, and the old costs stay.
    """
    if not st.button(words.MEASURE, key="measure_costs", help=words.MEASURE_HELP):
        return
    lock = turn()
    if not lock.acquire(timeout=ENDING):
        st.info(words.BUSY)
        return
    try:
        measure()
    finally:
        lock.release()
    run_again()


def measure() -> None:
    """Measure until all is there, or the time is over; lengths that are not whole are left out."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(words.STOP, key="stop_costs")
        bar = st.progress(0.0, words.MEASURING.format(tokens=LENGTHS[0]))
    began, measured = time.monotonic(), list[Cost]()
    for cost in costs(rounds=ROUNDS):
        measured.append(cost)
        bar.progress(len(measured) / (len(LENGTHS) * len(MODELS)), words.MEASURING.format(tokens=f"{cost.tokens:,}"))
        if time.monotonic() - began > MOST_SECONDS:
            break
    whole = len(measured) // len(MODELS) * len(MODELS)
    if whole > len(MODELS):  # of one length alone, nothing can be said to grow
        st.session_state[MEASURED] = tuple(measured[:whole])
