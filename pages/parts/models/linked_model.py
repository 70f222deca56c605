"""An address that names a model of the hub which is not here: asks before anything is downloaded.

Text and all else that the address names stay; once the model is here, the same address shows what it was copied from.
"""

import streamlit as st

from model.loading import hub
from pages.parts.frame.finding import show_finding
from pages.parts.frame.page_links import page_link
from pages.parts.models.catalogue import hub_name_at_start, is_here, is_hub_name, label_of
from pages.parts.models.hub_panel import short, show_hub_model
from pages.parts.state.page_fields import CODEC
from pages.parts.state.session import address_notice, choices, keep_choices, run_again, steer
from viz.tokens import markdown_text

DECLINED = "_declined"  # in the session: the model that the app was started for is not wanted
HERE_HELP = "Opens the selected text with this model."
INSTEAD_HELP = "Shows the same text with a model that is here."


def missing_model(page: str) -> hub.HubName | None:
    """The model that this page is to show and that is not here; None where there is none."""
    named = choices().get("checkpoint")
    if is_hub_name(named):
        return None if is_here(named) else hub.parse_hub_name(str(named))
    at_start = hub_name_at_start()
    if named is not None or at_start is None or st.session_state.get(DECLINED) or page != "explore":
        return None
    return None if hub.cached_folder(at_start) else at_start


def ask_for_model(page: str) -> bool:
    """Where the page's model is not here: what it is, and what can be done. Says whether that is so."""
    name = missing_model(page)
    if name is None:
        return False
    linked = "checkpoint" in choices()
    what = "This link opens" if linked else "Headlight was started for"
    show_finding(f"{what} {markdown_text(name.repo)} from Hugging Face.")
    address_notice()
    with st.container(key="asked_model", gap="small"):
        show_hub_model(name, lambda found: show_here(page, found))
    own = CODEC.opening(page)["checkpoint"]
    label = f"Open with {markdown_text(label_of(own))} instead"
    st.button(label, key="instead", help=INSTEAD_HELP, on_click=show_own, args=(page,))
    return True


def show_here(page: str, name: hub.HubName) -> None:
    """A model that is here after all: on the page that was to show it, else by a link to it.

    The link is for the hub's conversion of a model, which has a commit of its own.
    """
    if missing_model(page) is None:
        run_again()
    st.markdown(f"{short(name)} is here.")
    page_link("Open in Explore", "explore", HERE_HELP, checkpoint=str(name))


def show_own(page: str) -> None:
    """Have the page show its own model; what has a meaning in the other alone is gone."""
    st.session_state[DECLINED] = True
    own = CODEC.opening(page)["checkpoint"]
    keep_choices(CODEC.reset(choices(), {"checkpoint"}, but=("checkpoint",)) | {"checkpoint": own})
    steer()
