"""Watch it learn: how did the heads come to do this?"""

from typing import Any

import streamlit as st

import pages
from model import Edits, InputError
from model.edits import NO_EDITS
from model.training.watched.head_pictures import known_characters
from model.training.watched.language_film import language_film
from model.training.watched.tasks import TEXT
from pages.parts.frame.finding import picture, picture_alone, show_finding
from pages.parts.frame.page_links import next_page_link, page_link
from pages.parts.models.watched_moments import moment_name, step_in_words
from pages.parts.state.selection import Selection
from pages.parts.state.session import address_notice, choose, current, current_selection, run_again
from pages.parts.watch import language
from pages.parts.watch.controls import choose_film, choose_line, choose_training
from pages.parts.watch.films import Film, check_line, film_data, film_of, line_of, nearest_step
from pages.parts.watch.learned_text import learned_text
from pages.parts.watch.moment_files import offer_files
from pages.parts.watch.player import player, step_sent
from pages.parts.watch.settings import LANGUAGE, LONGEST_LINE, Watch
from pages.parts.watch.trainings import (
    BEGUN,
    ENDED,
    REFUSAL,
    bring_back,
    is_to_take_over,
    live_history,
    stop,
    take_over,
    turn_now,
    turn_place,
)
from viz.text import watched as sentences
from viz.tokens import markdown_text

QUESTION = "How did the heads come to do this?"
NO_FILM = "There is no training with these settings here: press Train, and it is made, the same for the same seed."
TEXT_GONE = "This link asks for a training on a text that the server no longer has: paste a text, and press Train."
NO_TEXT = "There is no text here for this training to learn: paste one, and press Train."
HOW_TO_READ = """
**How to read this**
- From left to right is the training, from random weights on, on a logarithmic axis: from step 10 to 100 is about as far
  as from 100 to 1,000. Drag the slider or the line in a chart.
- Above: accuracy and, dashed, the loss. Where accuracy jumps, the chart is shaded. Below: how much the best head of
  each kind does what its name says; dotted, the same by chance.
{kinds}
- The first lines are a text, and what the model says comes next after each of its characters: filled where that is
  right, struck out where it is wrong, grey where nothing can be known. “?” is none of the model's characters.
- The squares are the heads at that step. A row is a query, a column a key, and strong colour is much attention.
"""
CHOSEN_BY = (
    "Accuracy jumps where it rises most within a doubling of the steps, if that is by 25 points or more and by half of "
    "all that it rises; the step of the title is the middle of that doubling, which is shaded. The head is the one "
    "that is furthest above chance for a kind that the task needs, at the last step."
)
EXPLORE_HELP = "Opens the model as it was at this step, with all pictures of the page Explore."
INSIDE_HELP = "Shows every step from the characters to one of this head's weights, at this step of the training."
BREAK_HELP = "Takes parts out of the formula of the model as it was at this step."
WITH_MASK = (
    "This model was trained without a mask. Explore and Inside a head read a text with the mask all the same; Break "
    "the formula opens without it."
)
INSTEAD = "Until it knows all that is typed, the pictures are of “{}”."
INTERVAL = 1.0  # seconds between two looks at a training


def show() -> None:
    """The page, from top to bottom."""
    take_over()
    bring_back()
    if st.session_state.pop(BEGUN, False):
        st.toast(sentences.BEGUN)
    selection = current_selection()
    pages.show_menus()
    if selection.of(Watch).film == LANGUAGE:
        show_language(selection)
        return
    watch, film = selection.of(Watch), film_of(selection)
    show_what_happened(film)
    if not picture_alone():
        choose_film(watch)
    if why := st.session_state.pop(ENDED, ""):
        st.error(markdown_text(why))
    if film is not None:
        with picture():
            show_film(film, selection)
    elif turn_now() is not None or not (why or REFUSAL in st.session_state):  # a refusal says what to do
        show_waiting()
    if picture_alone():
        return
    if film is not None:
        show_details(film, selection)
    st.header("Train one yourself", anchor=False)
    choose_training(watch)
    next_page_link("watch")
    if is_to_take_over():  # it ended while the page was drawn: nothing else would draw it again
        run_again()


def show_what_happened(film: Film | None) -> None:
    """Title and sentence; of a training that goes on, what it learns."""
    if film is None:
        show_finding(QUESTION)
        address_notice()
        return
    if film.is_live:
        show_finding(QUESTION, sentences.live_title(film.first.settings), sentences.LEARNS[film.task])
    else:
        title, sentence = sentences.title(film.first), sentences.sentence(film.first, film.beside)
        show_finding(QUESTION, title, sentence, explained=CHOSEN_BY)
    address_notice()


def show_details(film: Film, selection: Selection) -> None:
    """Below the film: its characters, what was trained, the ways into its moments, and how to read it."""
    line, length = line_of(film, selection), film.first.settings.task_to_learn().length
    characters = known_characters(film.first.settings.task_to_learn().characters)
    label = f"Characters that the pictures are of, at most {length}; the model knows {characters}"
    choose_line(label, line, film.default_line(), length)
    if refusal := refusal_of(film, line):
        show_refusal(refusal, shown_line(film, selection))
    if not film.is_live:
        st.caption(sentences.caveat(film.first))
        show_moments(film, selection)
    st.markdown(HOW_TO_READ.format(kinds=sentences.explained(film.task)))


def show_language(selection: Selection) -> None:
    """The film of a language model."""
    watch, film = selection.of(Watch), language_film()
    line = watch.line or language.LINE
    show_finding(QUESTION, sentences.language_title(film), sentences.language_sentence(film))
    address_notice()
    if not picture_alone():
        choose_film(watch)
    data, refusal = language_data(line)
    with picture():
        player(data, watch.step, take_step, live=False)
    if picture_alone():
        return
    choose_line(f"Text that the pictures are of, at most {LONGEST_LINE} characters", line, language.LINE, LONGEST_LINE)
    if refusal:
        show_refusal(refusal, language.LINE)
        line = language.LINE
    st.caption(sentences.language_caveat(film))
    name, site = language.moment_name(film, watch.step), sentences.best_line(film, "language").site
    show_moment(sentences.LANGUAGE_MODEL, name, line, site)
    language.offer_files(film, watch.step, line)
    st.markdown(sentences.in_units(HOW_TO_READ.format(kinds=sentences.explained("language")), "language"))
    st.header("Train one yourself", anchor=False)
    choose_training(watch)
    next_page_link("watch")


def show_refusal(refusal: str, instead: str) -> None:
    """Why the characters that were typed cannot be shown, and of which ones the pictures are."""
    st.error(markdown_text(f"{refusal} {INSTEAD.format(instead)}"))


def language_data(line: str) -> tuple[dict[str, Any], str]:
    """The player's data of a text; where it cannot be shown, those of the film's own, and why."""
    try:
        return language.film_data(language_film(), line), ""
    except InputError as refusal:
        return language.film_data(language_film(), language.LINE), str(refusal)


def show_waiting() -> None:
    """Where there is no training of the visitor's own to show: that one waits or is about to begin, or how to begin."""
    if turn_now() is None:
        watch = current().of(Watch)
        lacking = TEXT_GONE if watch.learned else NO_TEXT
        st.info(lacking if watch.task == TEXT and not learned_text() else NO_FILM)
        return
    st.fragment(follow_start, run_every=INTERVAL)()


def follow_start() -> None:
    """Look whether the training has begun."""
    if turn_now() is None or live_history() is not None:
        run_again()
    show_progress()


def show_film(film: Film, selection: Selection) -> None:
    """The player; of a training that goes on, drawn anew every second."""
    if film.is_live:
        st.fragment(follow_training, run_every=INTERVAL)()
    else:
        if turn_now() is not None:
            show_waiting()
        draw(film, selection)


def follow_training() -> None:
    """How far the training is, and its film until now."""
    selection = current()
    film = film_of(selection)
    if turn_now() is None or film is None or not film.is_live:
        run_again()
    show_progress()
    draw(film, selection)


def show_progress() -> None:
    """How far the training is, or its place in the line, and the button that ends it."""
    turn = turn_now()
    if turn is None:
        return
    stopping = turn.trainer is not None and turn.trainer.is_stopped
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Stop", key="watch_stop", type="primary", on_click=stop, disabled=stopping)
        if turn.trainer is None:
            st.markdown(sentences.waiting(turn_place()))
        elif stopping:
            st.markdown(sentences.STOPPING)
        elif not turn.trainer.history.moments:
            st.progress(0.0, text=sentences.STARTING)
        else:
            history = turn.trainer.history
            st.progress(history.last.step / history.settings.steps, text=sentences.progress(history))


def draw(film: Film, selection: Selection) -> None:
    """The player."""
    data = film_data(film, shown_line(film, selection))
    player(data, selection.of(Watch).step, take_step, live=film.is_live)


def shown_line(film: Film, selection: Selection) -> str:
    """The characters that the pictures are of: the film's own where those that were typed cannot be shown."""
    line = line_of(film, selection)
    return film.default_line() if refusal_of(film, line) else line


def refusal_of(film: Film, line: str) -> str:
    """Why the characters that were typed cannot be shown; "" where they can."""
    try:
        check_line(film, line)
    except InputError as refusal:
        return str(refusal)
    return ""


def take_step() -> None:
    """The step that the player was dragged to."""
    step = step_sent()
    if step is not None:
        choose({"watch.step": step})


def show_moments(film: Film, selection: Selection) -> None:
    """The ways into the step that is looked at, of each training."""
    step, line = selection.of(Watch).step, shown_line(film, selection)
    columns = st.columns(len(film.histories))
    for column, name, history in zip(columns, film.names(), film.histories, strict=True):
        with column:
            checkpoint = moment_name(history, nearest_step(history, step))
            site = sentences.best_line(history, film.task).site
            show_moment(name, checkpoint, line, site, history.settings.edits)
    offer_files(film, step, line)


def show_moment(name: str, checkpoint: str, line: str, site: tuple[int, int], edits: Edits = NO_EDITS) -> None:
    """The model as it was then, on other pages. site: the head to go into; edits: what it was trained with."""
    layer, head = site
    st.markdown(f"**{markdown_text(name)}, {step_in_words(checkpoint)}**")
    place = {"checkpoint": checkpoint, "text": line, "attention": "decoder", "layer": layer}
    with st.container(horizontal=True, gap="small"):
        page_link("Explore it", "explore", EXPLORE_HELP, **place)
        page_link(f"Inside layer {layer + 1}, head {head + 1}", "inside", INSIDE_HELP, **place, head=head)
        page_link("Break it", "break", BREAK_HELP, checkpoint=checkpoint, text=line, edits=edits.to_text())
    if edits != NO_EDITS:
        st.caption(WITH_MASK)


pages.frame("watch")
show()
pages.freeze_imports("watch")
