"""What stands around the picture of a stop: its question, the guesses, the answer, and the way on."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import streamlit as st

from model import Edits
from pages.parts.frame.downloads import share_bars
from pages.parts.frame.finding import FINDING, show_title
from pages.parts.frame.page_links import page_link
from pages.parts.learn.settings import OPTIONS, WHATEVER, Path
from pages.parts.learn.stop import Stop, StopQuestion
from pages.parts.learn.stops import PATH
from pages.parts.models.catalogue import checkpoint_names, label_of
from pages.parts.passes import trace_of
from pages.parts.shared_cache import checkpoint_named, config_of
from pages.parts.state.selection import Selection
from pages.parts.state.session import changed_selection, choices, choose, take_back
from pages.parts.widgets.binding import select
from viz.export.provenance import Provenance
from viz.export.share_picture import Bar
from viz.text.caveats import caveats
from viz.text.learn.model_answers import accuracy_of, doubt
from viz.tokens import markdown_text, percent
from viz.walkthrough.source_excerpts import excerpt

GO_ON = "Go on with this question ({} of {})"
OTHER_MODEL = ", to another model: {}"
UNCLEAR = "Show a text with a clear answer"
AFTER_THE_LAST = "That was the last of the twelve questions. The pages in the sidebar show all of it on any text."
TO_EXPLORE, TO_EXPLORE_HELP = "Go on in Explore", "Shows every head of every layer on this text."


def usable_by(stop: Stop) -> list[str]:
    """The checkpoints that a stop can ask; its own where none can be read."""
    configs = {name: config_of(name) for name in checkpoint_names()}
    return [name for name, config in configs.items() if config is not None and stop.can_use(config)] or [
        stop.opening.checkpoint
    ]


def place_on_path(path: Path) -> Path:
    """The same; of a round that the stop does not have, its last."""
    stop = min(path.stop, len(PATH))
    return replace(path, stop=stop, round=min(path.round, len(PATH[stop - 1].rounds)))


def selection_at(stop: Stop, selection: Selection) -> Selection:
    """What a stop shows: what was chosen as far as it can use it, else what it opens with."""
    chosen = choices()
    own_model = chosen.get("checkpoint") not in usable_by(stop)
    changes = {"checkpoint": stop.opening.checkpoint} if own_model else {}
    opening_text = {"text": stop.opening.text, "pair": ""} if "text" not in chosen else {}
    return changed_selection(selection, **changes, **opening_text)


def instead(stop: Stop) -> str:
    """What the stop shows in place of what a visitor chose, and why; "" where nothing was put aside."""
    chosen = choices().get("checkpoint")
    if chosen is None or chosen in usable_by(stop):
        return ""
    name, other = label_of(chosen), label_of(stop.opening.checkpoint)
    return f"{name} cannot answer this question, which needs {stop.needs}, so {other} does."


def another_model(number: int) -> str:
    """That a stop asks another model than the one before; "" where it is the same, or one that a visitor chose."""
    before, now = (PATH[place].opening.checkpoint for place in (max(0, number - 2), number - 1))
    return "" if before == now or "checkpoint" in choices() else OTHER_MODEL.format(now)


def doubt_of(stop: Stop, selection: Selection) -> str:
    """That a verdict on which a stop leans may be wrong; "" where it leans on none."""
    checkpoint = checkpoint_named(selection.checkpoint)
    if not stop.leans_on_verdict or not checkpoint.config.labels:
        return ""
    probabilities = checkpoint.probabilities(trace_of(selection, Edits()))
    answer = max(probabilities, key=probabilities.__getitem__)
    return doubt(selection.text, answer, accuracy_of(checkpoint.card))


def caveats_of(stop: Stop, selection: Selection) -> str:
    """What keeps the model from judging the text; "" where nothing does."""
    checkpoint, trace = checkpoint_named(selection.checkpoint), trace_of(selection, Edits())
    judges = stop.leans_on_verdict and checkpoint.config.labels
    probabilities = checkpoint.probabilities(trace) if judges else None
    return caveats(trace.text_stack, checkpoint.tokenizer.unknown_id, probabilities, checkpoint.card)


def show_question(number: int, asked: StopQuestion, guess: str, aside: str) -> bool:
    """The question, or once something was guessed, the answer. Whether the answer may be seen.

    aside: what else has to be said of the text or the model.
    """
    seen = bool(asked.unclear or guess)
    title = asked.answer if guess and not asked.unclear else asked.question
    sentence = asked.unclear or (f"{verdict(asked, guess)} {asked.sentence}" if guess else asked.setting)
    shared = asked.sentence if title == asked.answer else sentence  # without what this visitor guessed
    st.session_state.setdefault(FINDING, {}).update(title=title, sentence=shared)
    with st.container(key="finding", gap=None):
        place = f"Question {number} of {len(PATH)}"
        asks = title == asked.question
        st.caption(f"{place}{another_model(number)}" if asks else f"{place}: {asked.question}")
        show_title(title, sentence, None)
        if aside:
            st.caption(markdown_text(aside))
    return seen


def verdict(asked: StopQuestion, guess: str) -> str:
    """Whether a guess was right."""
    place = OPTIONS.index(guess)
    if place >= len(asked.options):
        return ""
    right = "right" if place in asked.right else "not so"
    return f"You guessed *{asked.options[place]}*: **{right}**."


def show_guesses(asked: StopQuestion, path: Path) -> None:
    """The options, one click each; once one was taken, which of them was right. Another may be tried."""
    with st.container(key="guesses", horizontal=True, gap="small"):
        if asked.unclear:
            st.button(UNCLEAR, key="clear_text", on_click=take_back, args=("text",))
            return
        for place, label in enumerate(asked.options):
            option, right = OPTIONS[place], bool(path.guess) and place in asked.right
            st.button(
                f"✓ {label}" if right else label,
                key=f"guess_{path.question}_{option}",
                type="primary" if option == path.guess else "secondary",
                on_click=choose,
                kwargs={"guesses": path.with_guess(option)},
            )


def offer_share(asked: StopQuestion, path: Path, selection: Selection) -> None:
    """The picture to share: before the guess the question alone, then the answer with its numbers as bars.

    A question that reads no text of the visitor's stands without one.
    """
    of_text = "text" not in WHATEVER.get(path.question, frozenset())
    asked_of = {"checkpoint": selection.checkpoint, "text": selection.text} | dict(asked.door.changes)
    shares = {name: share for name, share in asked.bars.items() if share is not None and path.guess}
    bars = [Bar(name=name, length=share, label=percent(share, 1)) for name, share in shares.items()]
    text = asked_of["text"] if of_text else ""
    share_bars("learn", bars, "", Provenance(checkpoint=asked_of["checkpoint"], text=text))


def show_background(stop: Stop, asked: StopQuestion) -> None:
    """Folded, what few ask for at once: the code that ran, and the place in the paper; and the door to the whole."""
    with st.expander("The code that computed this"):
        for function in stop.code:
            part = excerpt(function)
            st.markdown(markdown_text(part.place))
            st.code(part.code, language="python", wrap_lines=True)
    with st.expander("In the paper"):
        st.markdown(stop.paper)
    with st.container(key="door"):
        page_link(asked.door.label, asked.door.page, asked.door.explained, **asked.door.changes)


def show_way_on(path: Path) -> None:
    """The round before or else the question before, the next round, the next question, and all of them."""
    stop = PATH[path.stop - 1]
    goes_on = path.round < len(stop.rounds) and bool(path.guess)
    with st.container(horizontal=True, key="way_on", vertical_alignment="bottom"):
        if path.round > 1:
            st.button("← Back", key="previous_round", on_click=go_to_round, args=(path, path.round - 1))
        elif path.stop > 1:
            st.button("← Back", key="previous_stop", on_click=go_to, args=(path.stop - 1, last_guessed(path)))
        if goes_on:
            label, following = GO_ON.format(path.round + 1, len(stop.rounds)), (path, path.round + 1)
            st.button(label, key="next_round", type="primary", on_click=go_to_round, args=following)
        if path.stop < len(PATH):
            look: Any = "primary" if path.guess and not goes_on else "secondary"
            label = f"{'Skip to' if goes_on else 'Next'}: {PATH[path.stop].name}"
            st.button(label, key="next_stop", type=look, on_click=go_to, args=(path.stop + 1,))
        numbers = range(1, len(PATH) + 1)
        select("All questions", numbers, path.stop, go_to, key="all_stops", format_func=name_of, width=340)
    if path.stop == len(PATH) and path.guess and not goes_on:
        st.markdown(AFTER_THE_LAST)
        page_link(TO_EXPLORE, "explore", TO_EXPLORE_HELP)


def name_of(number: int) -> str:
    """ "3 · What is added for order"."""
    return f"{number} · {PATH[number - 1].name}"


def go_to(stop: int, number: int = 1) -> None:
    """Another question. number: of its round."""
    choose(stop=stop, round=number)


def last_guessed(path: Path) -> int:
    """The last round of the question before in which something was guessed; the first where nothing was."""
    before = path.stop - 1
    rounds = range(len(PATH[before - 1].rounds), 1, -1)
    return next((number for number in rounds if f"{before}.{number}" in path.by_question), 1)


def go_to_round(path: Path, number: int) -> None:
    """Another round of the same question, with what of the knob holds for it as well."""
    choose(round=number, knob=PATH[path.stop - 1].kept_knob(path.knob))


@contextmanager
def the_act() -> Iterator[None]:
    """The place of the one thing to do."""
    with st.container(key="act"):
        yield
