"""The field for any id of the Hugging Face hub, and the model that it asks for: got, and then opened.

It opens in Explore, or on the page from whose bar it was asked for.
"""

import re

import streamlit as st

from model.loading import hub
from pages.parts.frame.page_links import page_link
from pages.parts.models.catalogue import is_here, label_of
from pages.parts.models.hub_jobs import hub_jobs
from pages.parts.models.hub_panel import short, show_hub_model
from pages.parts.models.settings import LONGEST_ID, Asked
from pages.parts.models.small_models import nearest_to
from pages.parts.state.page_fields import FIRST
from pages.parts.state.selection import typable
from pages.parts.state.session import address_of, can_use, choices, choose, current
from pages.parts.translate.settings import SENTENCES
from pages.parts.translate.sources import sentences_for
from pages.parts.widgets.binding import bind_text
from pages.parts.widgets.pressed_link import press_link
from viz.tokens import markdown_text, visible

OPENS = "_opens"  # in the session: the model that this visitor opens as soon as it is here
ASKED_ON = "_asked_on"  # in the session: the page from whose bar a model was asked for
FIELD = "Another model, by its Hugging Face id"
HINT = "Another model: gpt2, owner/name or owner/name@revision, then Enter"
FIELD_HELP = (
    "The id of a model on the Hugging Face hub. What it would bring is shown before anything is downloaded. "
    "Nothing but config, safetensors weights and tokenizer is fetched, and nothing of it is run."
)
NO_ID = "“{text}” is no id of a model: write it as gpt2, owner/name or owner/name@revision."
HERE_HELP = "Opens the selected text with this model."
WEB_ADDRESS = re.compile(  # as people paste it: of a model's page, of its files, of one of them
    r"(?:https?://)?(?:www\.)?(?:huggingface\.co|hf\.co)/(?P<repo>[^/?#]+(?:/(?!(?:tree|blob|resolve|commits?|discussions)(?:[/?#]|$))[^/?#]+)?)"
    r"(?:/(?:tree|blob|resolve)/(?P<revision>[^/?#]+))?(?:[/?#].*)?"
)


def show_field() -> None:
    """The field, and under it the model that was asked for."""
    asked = current().of(Asked).get
    st.text_input(
        FIELD,
        **bind_text("get", asked),
        max_chars=LONGEST_ID,
        placeholder=HINT,
        label_visibility="collapsed",
        icon=":material/search:",
        on_change=take_field,
    )
    with st.container(key="asked_model", gap="small"):
        if asked:
            show_asked(asked)


def take_field() -> None:
    """What was typed; nothing of a text that no address may hold."""
    st.session_state.pop(ASKED_ON, None)
    ask_for(str(st.session_state["get"]))


def ask_for(text: str) -> None:
    """Have the page look for a model; for callbacks."""
    choose(get=id_in(text))


def id_in(typed: str) -> str:
    """The id in what was typed or pasted, a web address perhaps."""
    text = typed.strip()
    if address := WEB_ADDRESS.fullmatch(text):
        repo, revision = address["repo"], address["revision"]
        text = repo if revision in (None, hub.MAIN) else f"{repo}@{revision}"
    return typable(text[:LONGEST_ID])


def show_asked(text: str) -> None:
    """A way into the model where it is here, what a download would bring where it is not."""
    try:
        name = hub.parse_hub_name(text)
    except ValueError:
        st.error(markdown_text(NO_ID.format(text=visible(text, 60))))
        return
    folder = hub.cached_folder(name)
    if folder is None:
        show_hub_model(name, show_here, open_when_here)
        show_nearest(name)
    else:
        show_here(hub.HubName(name.repo, folder.name))


def show_nearest(name: hub.HubName) -> None:
    """Where the hub has no such model: one of nearly that id, for whoever has mistyped it."""
    look, near = hub_jobs().look(name), nearest_to(name.repo)
    if look.is_missing and near is not None:
        st.button(f"Look for {markdown_text(near.id)} instead", key="ask_nearest", on_click=ask_for, args=(near.id,))


def open_when_here(listing: hub.Listing) -> None:
    """Have the model that is being downloaded open by itself."""
    st.session_state[OPENS] = str(listing.name)


def show_here(name: hub.HubName) -> None:
    """A model that is here."""
    row = st.container(horizontal=True, vertical_alignment="center")
    with row:
        st.markdown(f"{short(name)} is here.", width="content")
        page = page_to_open(str(name))
        label = "Open in Explore" if page == FIRST else "Open on the page you came from"
        page_link(label, page, HERE_HELP, **opened_with(str(name)))


def open_if_awaited(name: str) -> None:
    """Open a model, if this visitor has waited for it: in every run of this page until the visitor has left it."""
    if st.session_state.get(OPENS) == name and is_here(name):
        page = page_to_open(name)
        press_link(page, address_of(page, **opened_with(name)))


def page_to_open(name: str) -> str:
    """The page from whose bar a model was asked for, if it can show this one; else Explore."""
    page: str = st.session_state.get(ASKED_ON, FIRST)
    return page if can_use(page, name) else FIRST


def opened_with(name: str) -> dict[str, str]:
    """What a link to a model chooses.

    A translator that reads another language than English gets a text of that language, unless somebody chose a text.
    """
    sentences = sentences_for(label_of(name))
    is_foreign = sentences and sentences is not SENTENCES
    text = {"text": sentences[0]} if is_foreign and "text" not in choices() else {}
    return {"checkpoint": name, "get": "", **text}
