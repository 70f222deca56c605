"""The controls of the page Watch it learn: what is watched, the text of its pictures, and what the next training is."""

from typing import Any

import streamlit as st

from model.training.watched.run_settings import BOUNDS, LONGEST_TEXT, SHORTEST_TEXT
from model.training.watched.tasks import TEXT as TEXT_TASK
from pages.parts.state.session import choose
from pages.parts.watch.learned_text import example_text, learn_from, learned_text
from pages.parts.watch.settings import FILMS, LANGUAGE, LONGEST_LINE, OWN, Watch
from pages.parts.watch.trainings import REFUSAL, own_histories, train, turn_now
from pages.parts.widgets.binding import bind, bind_text, radio, select, take
from viz.text import watched as sentences
from viz.tokens import markdown_text

FILM_NAMES = {
    "induction": "What followed last time: two layers, or one",
    "reverse": "Backwards: with positions, or without",
    LANGUAGE: "A language model",
    OWN: "Your training",
}
FILM_HELP = "Each film is a recorded training from random weights on, beside one that lacks something."
LINE_HELP = "The pictures show where every head looks in these characters; below them, what the model says comes next."
NUMBERS = {
    "layers": ("Layers", "One layer cannot form an induction head: try 1 and 2."),
    "heads": ("Heads", "Of each layer. They share the width, so it must be a multiple."),
    "width": ("Width", "How many numbers the vector of a token has."),
    "steps": ("Steps", "Each step learns from 32 sequences. A training ends after 120 seconds in any case."),
    "seed": (
        "Seed",
        "Draws the first weights and the sequences: the same seed gives the same training again, for the same "
        "settings. With another number of steps the learning rate takes another course.",
    ),
}
POSITIONS = {"learned": "learned positions", "none": "no positions"}
MASKS = {"causal": "causal mask", "none": "no mask: it sees the answers"}
NORMS = {"pre": "norm before each part", "post": "norm after each part"}
WORDS = {"positions": (POSITIONS, "Positions"), "norm_order": (NORMS, "Layer norm"), "mask": (MASKS, "Mask")}
TRAIN_HELP = "Trains on this server, in a process of its own, for at most 120 seconds. You can watch, and stop it."
TEXT_LABEL = f"Your text, {SHORTEST_TEXT:,} to {LONGEST_TEXT:,} characters"
TEXT_HELP = (
    "No other visitor sees it, unless you share the link: one of up to some 2,000 characters goes into the address. A "
    "longer one is held by the server for whoever has your link; once it has no room, they are asked for it."
)
EXAMPLE_HELP = "The explanations of the page Words."
MOST_SEED = 999_999


def choose_film(watch: Watch) -> None:
    """A recorded film, or one's own training once there is one."""
    own = [OWN] if own_histories() or turn_now() is not None or watch.film == OWN else []
    radio(
        "Film",
        [*FILMS, LANGUAGE, *own],
        watch.film,
        take_film,
        key="watch_film",
        format_func=lambda name: FILM_NAMES[name],
        label_visibility="collapsed",
        help=FILM_HELP,
    )


def take_film(name: str) -> None:
    """Another film, from its beginning."""
    choose({"watch.film": name})


def choose_line(label: str, line: str, default: str, longest: int) -> None:
    """What the pictures are of. default: of the film; longest: characters that its model reads."""
    st.text_input(
        label,
        **bind_text("watch.line", line),
        max_chars=min(longest, LONGEST_LINE),
        help=LINE_HELP,
        on_change=take_line,
        args=(default,),
    )


def take_line(default: str) -> None:
    """Another text; the film's own needs no place in the address."""
    if st.session_state.get("watch.line") == default:
        choose({"watch.line": ""})
    else:
        take("watch.line")


def choose_training(watch: Watch) -> None:
    """Task, sizes and seed, and the button that begins."""
    select(
        "Task",
        list(sentences.TASKS),
        watch.task,
        lambda name: choose({"watch.task": name}),
        key="watch_task",
        format_func=lambda name: sentences.TASKS[name],
    )
    st.caption(sentences.LEARNS[watch.task])
    if watch.task == TEXT_TASK:
        ask_for_text()
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        for name, (label, explained) in NUMBERS.items():
            number(name, label, explained, getattr(watch, name))
        for name, (names, title) in WORDS.items():
            choose_word(name, names, title, getattr(watch, name))
    st.button("Train", key="watch_train", type="primary", on_click=train, help=TRAIN_HELP)
    if refusal := st.session_state.pop(REFUSAL, ""):
        st.error(markdown_text(refusal))


def number(name: str, label: str, explained: str, value: int) -> None:
    """One number of the training."""
    least, most = (0, MOST_SEED) if name == "seed" else BOUNDS[name]
    key = bind(f"watch_{name}", value, told=True)
    within = f"{least:,} to {most:,}. {explained}"
    looks: dict[str, Any] = {"min_value": least, "max_value": most, "step": 1, "width": 120, "help": within}
    st.number_input(label, key=key, on_change=take_number, args=(name, least, most), **looks)


def take_number(name: str, least: int, most: int) -> None:
    """Another number; an emptied field is left aside, and so is what a browser cannot have sent."""
    value = st.session_state.get(f"watch_{name}")
    if type(value) is int and least <= value <= most:
        choose({f"watch.{name}": value})


def choose_word(name: str, names: dict[str, str], label: str, value: str) -> None:
    """One of two ways to build the model."""
    select(
        label,
        list(names),
        value,
        lambda chosen: choose({f"watch.{name}": chosen}),
        key=f"watch_{name}",
        format_func=lambda word: names[word],
        width=200,
    )


def ask_for_text() -> None:
    """The text of the task that learns one."""
    field = bind_text("watch_own_text", learned_text())
    st.text_area(TEXT_LABEL, **field, height=120, max_chars=LONGEST_TEXT, help=TEXT_HELP, on_change=take_text)
    st.button("Use an example text", key="watch_example", on_click=take_example, help=EXAMPLE_HELP)


def take_text() -> None:
    """Another text to learn."""
    value = st.session_state.get("watch_own_text")
    if isinstance(value, str) and len(value) <= LONGEST_TEXT:
        learn_from(value)


def take_example() -> None:
    """The words of the field, explained, as a text to learn."""
    learn_from(example_text())
