"""What each mistake does to the text on the page, measured once."""

import streamlit as st

from model import Checkpoint
from model.measures.learn.mistakes.catalogue import MISTAKES, usable
from model.measures.learn.mistakes.effect import MOST_TOKENS, Effect, subject_of
from model.trace import Trace
from pages.parts.shared_cache import checkpoint_key


def effect_of(name: str, checkpoint: Checkpoint, trace: Trace) -> Effect:
    """What one mistake does to the text that was read; to its first tokens, where it is long."""
    ids = tuple(trace.text_stack.ids.tolist()[:MOST_TOKENS])
    return measured_effects(name, checkpoint_key(checkpoint.name), ids, checkpoint)


@st.cache_data(show_spinner=False, max_entries=256)
def measured_effects(name: str, key: object, ids: tuple[int, ...], _checkpoint: Checkpoint) -> Effect:
    """The same by what decides it."""
    return MISTAKES[name].effect(subject_of(_checkpoint.model, ids))


def greatest(checkpoint: Checkpoint, trace: Trace) -> str:
    """The mistake that changes the answer most; the first that shows at all where a model gives no answer."""
    effects = {name: effect_of(name, checkpoint, trace) for name in usable(checkpoint.config)}
    return max(effects, key=lambda name: effects[name].moved)
