"""Learn: twelve questions, each answered by computing it on the visitor's own sentence."""

import streamlit as st

import pages
from pages.parts.frame.finding import picture, picture_alone
from pages.parts.learn.around import (
    caveats_of,
    doubt_of,
    instead,
    offer_share,
    place_on_path,
    selection_at,
    show_background,
    show_guesses,
    show_question,
    show_way_on,
    the_act,
    usable_by,
)
from pages.parts.learn.page_top import begin_at_top
from pages.parts.learn.settings import Path
from pages.parts.learn.stops import PATH
from pages.parts.state.session import address_notice, current_selection, show_instead


def show() -> None:
    """One stop of the path, from top to bottom."""
    selection = current_selection()
    path = place_on_path(selection.of(Path))
    stop = PATH[path.stop - 1]
    stop_selection = selection_at(stop, selection)
    show_instead(stop_selection)
    pages.show_bar(stop_selection, usable_by(stop))
    ask = stop.rounds[path.round - 1]
    with pages.plain_refusals(), pages.question_above(stop.name):
        with st.spinner("Computing the answer"):
            asked = ask(stop_selection)
            doubt = "" if asked.unclear else doubt_of(stop, stop_selection)
            aside = " ".join(filter(None, (instead(stop), caveats_of(stop, stop_selection), doubt)))
        seen = show_question(path.stop, asked, path.guess, aside)
        address_notice()
        show_guesses(asked, path)
        with picture():
            asked.picture(seen)
        if not picture_alone():
            with the_act():
                if asked.act is not None and path.guess and not asked.unclear:
                    asked.act()
            show_background(stop, asked)
            offer_share(asked, path, stop_selection)
    if not picture_alone():
        show_way_on(path)
    begin_at_top(path.question)


pages.frame("learn")
show()
pages.freeze_imports("learn")
