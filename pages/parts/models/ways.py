"""The ways to get another model: eight small ones by a click, what was downloaded, one's own files, a folder."""

import streamlit as st

from model import CheckpointError
from model.loading import hub
from pages.parts.frame.page_links import page_link
from pages.parts.models.asked_model import HERE_HELP, OPENS, ask_for, open_if_awaited, opened_with
from pages.parts.models.catalogue import label_of
from pages.parts.models.hub_panel import REVISION_DIGITS, whole_megabytes
from pages.parts.models.machine_folder import is_allowed, show_folder
from pages.parts.models.small_models import SMALL_MODELS, SmallModel
from pages.parts.models.upload_panel import show_upload
from viz.tokens import markdown_text

SMALL_HELP = "Asks Hugging Face for its files and their size. Nothing is downloaded before you press Download."
DELETE_HELP = "Asks once more, and then deletes its files from this server's cache. Whoever has it open keeps it."
DELETION = "Delete {size} from this server? The model can be downloaded again."
DELETE_REFUSAL = "_delete_refusal"  # in the session


def show_ways() -> None:
    """All of them, below the picture of what is here."""
    st.subheader("Eight small models from Hugging Face, by what each shows well", anchor=False, help=SMALL_HELP)
    here = {name.repo for name in hub.cached_folders()}
    with st.container(horizontal=True, gap="small", key="small_models"):
        for model in SMALL_MODELS:
            show_small_model(model, is_here=model.id in here)
    show_downloaded()
    st.subheader("A model of your own", anchor=False)
    left, right = st.columns(2) if is_allowed() else (st.container(), None)
    with left:
        show_upload()
    if right is not None:
        with right:
            show_folder()
    if OPENS in st.session_state:
        open_if_awaited(st.session_state[OPENS])


def show_small_model(model: SmallModel, *, is_here: bool) -> None:
    """What it is interesting for, what can be seen of it, its size, and a click that asks for it."""
    with st.container(border=True, gap="xsmall"):
        st.markdown(f"**{markdown_text(model.title)}**: {markdown_text(model.for_what)}", help=model.why)
        st.caption(markdown_text(f"{model.shows}, about {model.megabytes} MB"))
        label = f"Open {model.title}" if is_here else f"Get {model.title}"
        st.button(markdown_text(label), key=f"small_{model.title}", help=SMALL_HELP, on_click=take_small, args=(model,))


def take_small(model: SmallModel) -> None:
    """Look for it; one that is here opens."""
    ask_for(model.id)
    if folder := hub.cached_folder(model.name):
        st.session_state[OPENS] = f"{model.id}@{folder.name}"


def show_downloaded() -> None:
    """What lies in the cache of this server, how large, and a way to be rid of it."""
    whole, begun = hub.cached(), hub.unfinished()
    if not whole and not begun:
        return
    total = sum(model.bytes for model in (*whole, *begun))
    st.subheader(f"Downloaded to this server: {whole_megabytes(total)}", anchor=False)
    for model in whole:
        show_cached(model, is_whole=True)
    for model in begun:
        show_cached(model, is_whole=False)
    if refusal := st.session_state.pop(DELETE_REFUSAL, ""):
        st.error(markdown_text(refusal))


def show_cached(model: hub.CachedModel, *, is_whole: bool) -> None:
    """One downloaded model, or what has come of one whose download was stopped."""
    name, digits = str(model.name), (model.name.revision or "")[:REVISION_DIGITS]
    size = whole_megabytes(model.bytes)
    with st.container(horizontal=True, vertical_alignment="center"):
        facts = f"revision {digits}, {size}" if is_whole else f"revision {digits}, {size} have arrived"
        st.markdown(f"**{markdown_text(label_of(name))}**, {markdown_text(facts)}", width="content")
        if is_whole:
            page_link("Open in Explore", "explore", HERE_HELP, **opened_with(name))
        else:
            st.button("Go on", key=f"go_on_{name}", on_click=ask_for, args=(name,))
        if is_allowed():  # what others may be about to open, a visitor of a public server does not delete
            # A key: or it stays open once the model is gone, and offers to delete the next one.
            with st.popover("Delete", help=DELETE_HELP, key=f"ask_delete_{name}"):
                st.markdown(DELETION.format(size=size))
                label = f"Delete {markdown_text(label_of(name))}"
                st.button(label, key=f"delete_{name}", on_click=delete, args=(model.name,))


def delete(name: hub.HubName) -> None:
    """Be rid of a downloaded model, or say why not."""
    try:
        hub.delete(name)
    except CheckpointError as refusal:
        st.session_state[DELETE_REFUSAL] = str(refusal)
