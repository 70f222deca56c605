"""What all pages share: the menu, the frame, the bar at the top, and how a refusal is shown."""

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.navigation.page import Page
from streamlit.runtime.scriptrunner import get_script_run_ctx

from model import CheckpointError, Edits, InputError, available_devices
from pages.parts.ablations.experiments import edits_in_words
from pages.parts.frame.bar import BarState, Takers, bar
from pages.parts.frame.examples import examples_for
from pages.parts.frame.finding import FINDING, picture_alone, show_finding
from pages.parts.frame.page_links import page_link
from pages.parts.frame.sidebar import configure, sidebar
from pages.parts.models.asked_model import ASKED_ON, OPENS, id_in
from pages.parts.models.catalogue import checkpoint_names, label_of, labels_of
from pages.parts.models.linked_model import ask_for_model
from pages.parts.shared_cache import purpose_of, reads_pairs
from pages.parts.state.page_fields import CODEC, FIRST
from pages.parts.state.selection import LONGEST_TEXT, Selection, typable
from pages.parts.state.session import (
    address_notice,
    address_of,
    cannot,
    choices,
    choose,
    current_selection,
    finish,
    needed,
    page_of,
    remember,
    take_back,
)
from pages.parts.widgets.pressed_link import end_lead, press_link
from viz.tokens import markdown_text

FOLDER = Path(__file__).parent

MODELS, MODELS_TITLE = "checkpoints", "Models"  # the page where models are had
ASKED_MODEL = "_asked_model"  # in the session: an id that was typed into the bar

# Group, file and title, in the order of the menu. A page appears once its file exists.
MENU = (
    ("Learn", "learn", "Learn"),
    ("Learn", "mistakes", "Mistakes"),
    ("Learn", "costs", "What it costs"),
    ("Learn", "words", "Words"),
    ("See", "explore", "Explore"),
    ("See", "inside", "Inside a head"),
    ("See", "positions", "Positions"),
    ("Break", "break", "Break the formula"),
    ("Use", "translate", "Translate"),
    ("Use", "write", "Write"),
    ("Ask", "heads", "Heads that matter"),
    ("Ask", "explanation", "Is attention the explanation?"),
    ("Ask", "compare", "Compare"),
    ("Ask", "edit", "Edit"),
    ("Train", "watch", "Watch it learn"),
    ("Trust", "evidence", "How we know"),
    ("Trust", "checkpoints", MODELS_TITLE),
    ("Trust", "arrays", "Your arrays"),
)
MEND_HELP = "Removes all kept edits, here and on the pages Break the formula and Edit."
MODELS_HELP = "Lists models that can be had with one click, and opens any other by its id."
EXPLORE_HELP = "Shows every layer and head of this model on your text."
DEVICE_NAMES = {"cuda": "GPU (CUDA)", "mps": "GPU (Apple)", "cpu": "CPU"}


def menu() -> dict[str, list[Page]]:
    """The pages that exist, by group; one of them opens at /."""
    groups: dict[str, list[Page]] = {}
    for group, stem, title in MENU:
        if (FOLDER / f"{stem}.py").exists():
            at_root: dict[str, Any] = {"url_path": "first", "default": True} if stem == FIRST else {}
            groups.setdefault(group, []).append(st.Page(FOLDER / f"{stem}.py", title=title, **at_root))
    return groups


def route() -> Page:
    """The page that the address names; its sidebar is drawn with it."""
    st.session_state["_routed"] = True
    groups = menu()
    listed, titles = list(chain.from_iterable(groups.values())), {stem: title for _, stem, title in MENU}
    own_address = st.Page(FOLDER / f"{FIRST}.py", title=titles[FIRST], visibility="hidden")  # beside that at /
    follow_address()
    chosen = st.navigation([*listed, own_address], position="hidden")
    if not picture_alone():
        sidebar(groups, chosen)
    return chosen


def follow_address() -> None:
    """Have Back lead to the page of its address though it was pressed before the browser knew any page.

    Between the first message of a run and its navigation, the page that Streamlit's browser side then asks for is
    app.py: it would be the first page, whose address would take the place of the one that Back led to.
    """
    context = get_script_run_ctx()
    if context is None or context.context_info is None or not context.is_history_navigation:
        return
    pages, page = context.pages_manager, page_of(context.context_info.url)  # st.context.url is of the page asked for
    if pages.intended_page_script_hash == pages.main_script_hash and page != FIRST:
        pages.set_script_intent("", page)


def frame(page: str) -> None:
    """Every page starts with this, and its name: the menu is there, and the selection that the address brought is kept.

    A server that has just started runs a page of this folder alone, without app.py and its menu, when the first
    visitor's address names that page. Naming the pages and starting over brings app.py in; the sidebar is drawn by
    then.
    """
    if "_routed" not in st.session_state:
        configure()
        route()
        st.rerun()
    st.session_state["_at"] = page
    st.session_state[FINDING] = {}
    end_lead(page)
    remember(current_selection())
    if page == MODELS:
        st.session_state.pop(ASKED_MODEL, None)  # it is asked for here
        return
    for name in (OPENS, ASKED_ON):  # whoever has gone on does not want to be fetched
        st.session_state.pop(name, None)
    if ask_for_model(page):
        finish()
        st.stop()


@st.cache_resource(show_spinner=False)
def freeze_imports(page: str) -> None:
    """Every page ends with this: once for each, what its first run imported is taken out of garbage collection.

    Streamlit collects all garbage after every run. Looking through a million objects of torch and Plotly, which never
    become garbage, took three quarters of the server's time for a sentence.
    """
    gc.collect()
    gc.freeze()


def show_bar(selection: Selection, among: Sequence[str] | None = None) -> None:
    """The bar at the top: text, model (of these alone, where a page cannot use all), device, examples and Share."""
    if picture_alone():
        return
    names = list(checkpoint_names() if among is None else among)
    names += [selection.checkpoint] if selection.checkpoint not in names else []
    devices = available_devices()
    state = BarState(
        text=typable(selection.text),
        pair=typable(selection.pair) if reads_pairs(selection.checkpoint) else None,
        models=[(name, f"{label} · {purpose_of(name)}") for name, label in zip(names, labels_of(names), strict=True)],
        model=selection.checkpoint,
        devices=[(name, DEVICE_NAMES.get(name, name)) for name in devices],
        device=st.session_state.get("device", devices[0]),
        examples=examples_for(selection.checkpoint),
        longest=LONGEST_TEXT,
    )
    with st.container(key="bar_frame"):
        bar(state, TAKERS)
    if hub_id := st.session_state.get(ASKED_MODEL, ""):
        st.session_state[ASKED_ON] = st.session_state["_at"]
        press_link(MODELS, address_of(MODELS, get=hub_id))


def show_menus() -> None:
    """What is left of the bar on a page of no text and no model: what to share, and files to take away."""
    if picture_alone():
        return
    state = BarState(
        text=None, pair=None, models=[], model="", devices=[], device="", examples=[], longest=LONGEST_TEXT
    )
    with st.container(key="menus_alone"), st.container(key="bar_frame"):
        bar(state, TAKERS)


def take_texts(text: str, pair: str) -> None:
    choose(text=text, pair=pair)


def take_example(text: str) -> None:
    """One of the example sentences, alone."""
    choose(text=text, pair="")


def take_model(name: str) -> None:
    choose(checkpoint=name)


def take_other(typed: str) -> None:
    """A model by its id, which the page Models looks for."""
    st.session_state[ASKED_MODEL] = id_in(typed)


def take_device(name: str) -> None:
    """Another processor; it is this machine's, so that no address names it."""
    st.session_state["device"] = name


TAKERS = Takers(texts=take_texts, model=take_model, other=take_other, device=take_device, example=take_example)


def offer(name: str) -> None:
    """A checkpoint that this page can use, in place of one that it cannot.

    A button and not a link: a link to the page one is on leaves the browser's address as it was.
    """
    st.button(f"Open {markdown_text(label_of(name))}", key="offer", on_click=choose, kwargs={"checkpoint": name})


def say_unfit(page: str, name: str) -> None:
    """What a page cannot show of a model, and the ways on: a model that it can show, and what can be seen of this."""
    label, fitting = label_of(name), checkpoint_names(CODEC.pages[page].architecture)
    lack = "" if fitting else ", and none is here"
    st.info(markdown_text(f"{label} {cannot(page)}. This page needs {needed(page)}{lack}."))
    if fitting:
        offer(CODEC.opening(page)["checkpoint"])
    else:
        page_link(f"{MODELS_TITLE}: get one", MODELS, MODELS_HELP)
    page_link(f"Explore: the attention of {markdown_text(label)}", FIRST, EXPLORE_HELP)


def say_kept(selection: Selection) -> None:
    """For a page that makes its passes without them: which edits are kept on the page Break the formula, if any.

    Its place is there in any case: a browser makes all that follows anew where an element comes or goes before it.
    """
    place = st.container(horizontal=True, vertical_alignment="center")
    if selection.edits:
        kept = edits_in_words(Edits.from_text(selection.edits))
        where = kept_on(Edits.from_text(selection.edits))
        place.info(f"Edits kept on the page {where}: {kept}. This page shows the model without them.")
        place.button("Undo all", key="mend_all", on_click=choose, kwargs={"edits": ""}, help=MEND_HELP)


def kept_on(edits: Edits) -> str:
    """Where edits were made: single weights on the page Edit, all else on Break the formula."""
    weights = replace(edits, overwritten=frozenset()) != edits
    others = replace(edits, overwritten=frozenset()) != Edits()
    return " and ".join([*(["Break the formula"] if others else []), *(["Edit"] if weights else [])])


@contextmanager
def question_above(question: str) -> Iterator[None]:
    """Within ``plain_refusals``: where nothing can be found, the page's question stands above the reason."""
    try:
        yield
    except (CheckpointError, InputError, MemoryError):
        show_finding(question)
        address_notice()
        raise


def is_blank(text: str) -> bool:
    """Whether nobody can see anything of a text."""
    return not any(letter.isprintable() and not letter.isspace() for letter in text)


@contextmanager
def plain_refusals() -> Iterator[None]:
    """What cannot be done becomes one sentence in the place of the picture."""
    try:
        yield
    except (CheckpointError, InputError) as refusal:
        st.error(markdown_text(str(refusal)))
        if "text" in choices() and is_blank(choices()["text"]):
            st.button("Show an example", key="show_example", on_click=take_back, args=("text",))
    except MemoryError:
        st.error("This text needs more memory than the server has free; a shorter one may fit.")
