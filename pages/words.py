"""Words: what does a word of the field mean, and where is it seen?"""

import streamlit as st

import pages
from pages.parts.frame.finding import picture, picture_alone, show_finding
from pages.parts.frame.page_links import page_link
from pages.parts.models.catalogue import checkpoint_names
from pages.parts.state.selection import Selection
from pages.parts.state.session import address_notice, current_selection
from pages.parts.widgets.binding import bind_text, take
from pages.parts.words.settings import LONGEST_FILTER, WordsSettings
from viz.text.glossary import TERMS, Term, TermPage, explanation, heading, index_rows, matching_terms

QUESTION = "What does this word mean?"
SENTENCE = "Every word has one sentence, and a link to the page where the thing itself can be seen."
FILTER = "filter"
FILTER_HELP = "Shows the words whose name, symbol, other names or sentence contain this."
NOTHING = "No word here contains that. A shorter piece of it may help."
PLACE_HELP = "Opens the page at the place where this is seen; your text goes along."
LEARN_HELP = "Twelve questions about your own sentence: you guess, and then see what the model computes."


def show() -> None:
    """The index of all words, and each with its sentence; the one that the address names above the others."""
    selection = current_selection()
    filter_text = "" if picture_alone() else selection.of(WordsSettings).filter
    groups = matching_terms(filter_text)
    matching = sum(len(terms) for terms in groups.values())
    show_finding(QUESTION, title(matching), SENTENCE)
    address_notice()
    named = TERMS.get(selection.of(WordsSettings).term)
    with picture():
        if named is not None:
            with st.container(border=True, key="named_term"):
                show_term(named, selection, "first")
        st.markdown("\n".join(index_rows(groups)) if groups else NOTHING)
    if picture_alone():
        return
    st.text_input(
        "Filter",
        **bind_text(FILTER, filter_text),
        max_chars=LONGEST_FILTER,
        help=FILTER_HELP,
        placeholder="A word, or a part of one",
        on_change=take,
        args=(FILTER,),
    )
    for group, terms in groups.items():
        st.header(group, anchor=False, divider="grey")
        for term in terms:
            show_term(term, selection)
    page_link("Learn: twelve questions that show these things happen", "learn", LEARN_HELP)


def title(matching: int) -> str:
    """How many words are listed, and of how many where a filter leaves some out."""
    if matching == len(TERMS):
        return f"{matching} words, each with the place where it happens."
    return f"{matching} of {len(TERMS)} words {'has' if matching == 1 else 'have'} what the filter asks for."


def show_term(term: Term, selection: Selection, where: str = "") -> None:
    """Its name, which the index leads to, its sentence, and the way to its place."""
    with st.container(gap="xxsmall", key=f"term_{where}{term.key}"):
        st.subheader(heading(term), anchor=False if where else term.key)
        st.markdown(explanation(term))
        page_link(term.place.label, term.place.page, PLACE_HELP, **usable(term.place, selection.checkpoint))


def usable(place: TermPage, checkpoint: str) -> dict[str, object]:
    """What leads to a place, with a checkpoint that shows it where the present one does not."""
    names = [name for needed in place.needs for name in checkpoint_names(needed)]
    other = {"checkpoint": names[0]} if names and checkpoint not in names else {}
    return {**place.changes, **other}


pages.frame("words")
show()
pages.freeze_imports("words")
