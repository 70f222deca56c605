"""A model of the Hugging Face hub that was asked for: what a download would bring, the download, and what came of it.

The hub answers in threads of the server. A page that waits for it asks how far it is, twice a second, in a fragment.
"""

from collections.abc import Callable
from secrets import token_hex

import streamlit as st

from model.loading import hub
from model.loading.hub.disk import present_bytes
from model.loading.memory import gigabytes
from pages.parts.frame.page_links import page_link
from pages.parts.models.hub_jobs import Job, hub_jobs
from pages.parts.models.loaded_models import VISITOR
from pages.parts.state.session import run_again
from viz.text import card_tables as cards
from viz.tokens import markdown_text

ASKED_AGAIN = "_asked_again"  # in the session: the model of which the hub was asked anew, until its answer is shown
POLL = 0.5  # seconds
REVISION_DIGITS = 7
DOWNLOAD_HELP = (
    "Fetches config, weights and tokenizer from Hugging Face into this server's cache, for all who use it, and checks "
    "each file against its hash."
)
STOP_HELP = "What has arrived is kept: the download goes on from there when it is asked for again."
ARRAYS_HELP = "Shows the attention weights that a script of yours saved from this model."
OTHERS = "Another visitor started this download."


def visitor() -> str:
    """Who asks: the same digits as long as the session lasts."""
    digits: str = st.session_state.setdefault(VISITOR, token_hex(8))
    return digits


def short(name: hub.HubName) -> str:
    """ "gpt2 at revision 607a30d", Markdown."""
    revision = name.revision or "main"
    digits = revision[:REVISION_DIGITS] if name.is_pinned else revision
    return f"**{markdown_text(name.repo)}** at revision {markdown_text(digits)}"


def show_hub_model(
    name: hub.HubName,
    show_here: Callable[[hub.HubName], object],
    on_download: Callable[[hub.Listing], object] = lambda _: None,
) -> None:
    """Where a model that is not here stands: looked for, refused, to be had, on its way.

    show_here: draws what there is to a model, at its commit, that turns out to be here: its download ended while the
    page ran, or the hub's conversion of what was asked for has been downloaded. on_download: called in the callback of
    the button that starts a download.
    """
    look = hub_jobs().look(name)
    if not look.is_over:
        st.markdown(f"Asking Hugging Face about **{markdown_text(name.repo)}** …")
        wait_for(look, 1)
    elif look.refusal:
        show_refusal(look)
        if look.offer is not None:
            show_listing(look.offer, show_here, on_download)
    elif look.result is not None:
        show_listing(look.result, show_here, on_download)


def show_refusal(look: Job) -> None:
    """Why it cannot be had, in the hub's or our own words."""
    st.error(markdown_text(look.refusal))
    if look.is_unsupported:
        show_way_to_arrays()
    elif look.offer is None:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button("Ask again", key="ask_again", on_click=ask_again, args=(look.name,))
            if st.session_state.pop(ASKED_AGAIN, "") == str(look.name):
                st.caption("Asked again just now.", width="content")


def ask_again(name: hub.HubName) -> None:
    """Have the hub asked anew, and say so beside its answer, which may be the same."""
    hub_jobs().look_again(name)
    st.session_state[ASKED_AGAIN] = str(name)


def show_way_to_arrays() -> None:
    """The page for the attention of what is no model that can be opened."""
    page_link("Your arrays: attention of any model, from a file", "arrays", ARRAYS_HELP)


def show_listing(
    listing: hub.Listing,
    show_here: Callable[[hub.HubName], object],
    on_download: Callable[[hub.Listing], object],
) -> None:
    """What a download brings, and the download itself if it was begun."""
    st.markdown(described(listing))
    job = hub_jobs().download_of(listing.name)
    if job is not None and not job.is_over:
        show_progress(job)
        return
    if hub.cached_folder(listing.name) is not None:
        show_here(listing.name)
        return
    if job is not None and job.refusal:
        st.error(markdown_text(job.refusal))
    st.button(
        download_label(listing),
        key="download",
        type="primary",
        help=DOWNLOAD_HELP,
        on_click=begin,
        args=(listing, on_download),
    )


def described(listing: hub.Listing) -> str:
    """What it is, how large, and what it takes of memory, Markdown."""
    parameters = f", {cards.round_size(listing.parameters)} parameters" if listing.parameters else ""
    converted = (
        f" It is the hub's own conversion of pickled weights, {listing.conversion}." if listing.conversion else ""
    )
    needs = f"{whole_megabytes(listing.bytes)} to download, about {gigabytes(listing.memory)} of memory"
    return f"{short(listing.name)}: {markdown_text(f'{listing.family}{parameters}; {needs}.{converted}')}"


def whole_megabytes(count: int) -> str:
    """ "548 MB"; of less than ten, with a digit more."""
    return f"{count / 1e6:,.0f} MB" if count >= 9_950_000 else cards.megabytes(count)


def download_label(listing: hub.Listing) -> str:
    """ "Download 548 MB", or how much of it is here already."""
    whole, here = whole_megabytes(listing.bytes), present_bytes(listing.name, listing.files)
    return f"Go on: {whole_megabytes(here)} of {whole} are here" if here else f"Download {whole}"


def begin(listing: hub.Listing, on_download: Callable[[hub.Listing], object]) -> None:
    """Start the download, or join that which is under way."""
    hub_jobs().download(listing, visitor())
    on_download(listing)


def show_progress(job: Job) -> None:
    """How far a download is, and Stop for whom it belongs to."""
    with st.container(key="downloading"):
        wait_for(job, 2)
    if job.may_be_stopped_by(visitor()):
        st.button("Stop", key="stop_download", help=STOP_HELP, on_click=job.stop)
    else:
        st.caption(OTHERS)


def wait_for(job: Job, rows: int) -> None:
    """Look again and again how far a job is; the page runs anew once it is over, or may be stopped."""
    may_stop = job.may_be_stopped_by(visitor())

    @st.fragment(run_every=POLL)
    def poll() -> None:
        job.watch(visitor())
        if job.total:
            st.progress(min(1.0, job.arrived / job.total), arrived_of(job))
        if job.is_over or may_stop != job.may_be_stopped_by(visitor()):
            run_again()

    poll()


def arrived_of(job: Job) -> str:
    """ "120 of 548 MB"."""
    return f"{job.arrived / 1e6:,.0f} of {whole_megabytes(job.total)}"
