"""The controls of the page What it costs: which model is counted, and sizes typed in place of its own."""

from typing import Any

import streamlit as st

from model import Config
from pages.parts.costs.settings import MOST_TOKENS, OWN, SIZES, Costs
from pages.parts.models.catalogue import checkpoint_names
from pages.parts.shared_cache import config_of
from pages.parts.state.selection import Selection
from pages.parts.state.session import choose
from pages.parts.widgets.binding import bind, select
from viz.text.learn.costs import NAMES

LABELS = {
    "width": "Width (d_model)",
    "heads": "Heads",
    "layers": "Layers",
    "hidden": "Feed-forward width",
    "vocabulary": "Vocabulary",
}
MODEL_HELP = "Models that papers and articles speak of, and the checkpoints of this app."
HELP = {
    "width": "How many numbers the vector of a token has.",
    "heads": "The heads share the width: each gets an equal part of it.",
    "layers": "Layers of each stack: the paper's models have this many in the encoder and as many in the decoder.",
    "hidden": "The inner width of the feed-forward layers; often four times the width.",
    "vocabulary": "How many different tokens the model knows: a row of the table for each.",
}
TOKENS_HELP = "The length of the text whose attention is counted. Nothing of this size is computed: these are formulas."


def choose_model(selection: Selection) -> None:
    """A model that is spoken of, or a checkpoint."""
    checkpoints = [name for name in checkpoint_names() if config_of(name) is not None]
    options = [*NAMES, *(f"{OWN}:{name}" for name in checkpoints)]
    preset = selection.of(Costs).preset
    chosen = f"{OWN}:{selection.checkpoint}" if preset == OWN else preset
    select(
        "Model",
        options,
        chosen if chosen in options else options[0],
        take_model,
        key="costs_model",
        format_func=option_name,
        help=MODEL_HELP,
    )


def option_name(option: str) -> str:
    """How a model is listed."""
    kind, _, name = option.partition(":")
    return f"Checkpoint {name}" if kind == OWN else NAMES[option][0]


def take_model(option: str) -> None:
    """Another model, with its own sizes."""
    kind, _, name = option.partition(":")
    if kind == OWN:
        choose({"costs.preset": OWN}, checkpoint=name)
    else:
        choose({"costs.preset": option})


def choose_sizes(costs: Costs, base: Config) -> None:
    """Its sizes, each a number that can be typed over."""
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        for name, most in SIZES.items():
            key = bind(f"costs_{name}", getattr(costs, name) or getattr(base, name), told=True)
            st.number_input(
                LABELS[name],
                min_value=1,
                max_value=max(most, getattr(base, name)),
                step=1,
                key=key,
                help=HELP[name],
                on_change=take_size,
                args=(name, getattr(base, name)),
                width=150,
            )
    if costs.typed:
        st.button("Back to its own sizes", key="costs_own", on_click=choose, args=(own_sizes(),))


def own_sizes() -> dict[str, int]:
    """What takes back all that was typed."""
    return {f"costs.{name}": 0 for name in SIZES}


def take_size(name: str, own: int) -> None:
    """Another size; the model's own is none that was typed, and an emptied field is left aside."""
    value = st.session_state.get(f"costs_{name}")
    if is_number(value, SIZES[name]) or value == own:
        choose({f"costs.{name}": 0 if value == own else value})


def choose_tokens(costs: Costs) -> None:
    """How long the text is."""
    key = bind("costs_tokens", costs.tokens, told=True)
    limits: dict[str, Any] = {"min_value": 1, "max_value": MOST_TOKENS, "step": 1, "width": 170}
    st.number_input("Tokens in the text", key=key, help=TOKENS_HELP, on_change=take_tokens, **limits)


def take_tokens() -> None:
    """Another length."""
    value = st.session_state.get("costs_tokens")
    if is_number(value, MOST_TOKENS):
        choose({"costs.tokens": value})


def is_number(value: object, most: int) -> bool:
    """Whether a browser, which can send anything, sent a size."""
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most
