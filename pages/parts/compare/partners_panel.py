"""Which tokens of the two texts are partners, drawn, and joined or parted by hand."""

from itertools import chain

import streamlit as st

from model.measures.two_runs.token_pairs import by_hand
from pages.parts.compare.token_links import pressed_link, token_links, with_link
from pages.parts.compare.two_passes import TwoPasses, names_of, two_passes
from pages.parts.state.session import choose, current
from viz.text.causes import two_runs as sentences

PARTNERS_TITLE = "Which tokens are partners"
PARTNERS_HELP = (
    "Found by the longest sequence of pieces that both texts have in common, then by pieces that each text has once "
    "and that only moved; what is left between two of the sequence is paired in order where both texts have as many. "
    "Where that pairs nothing, tokens are paired in order from the first on. Dashed: a token without a partner. Heads "
    "are measured on these partners: other ones give other distances."
)
LINK_HINT = "Press a token of A, then one of B: that makes them partners, or parts them if they are."
CANNOT_LINK = (
    "This cannot be: one pair of tokens has to stay, and a token that the tokenizer added has such a token as partner."
)
REFUSED = "_link_refused"  # in the session


def show_links_of_tokens(passes: TwoPasses) -> None:
    """Which tokens of the two texts are partners, and a way to make others partners."""
    st.subheader(PARTNERS_TITLE, anchor=False, help=PARTNERS_HELP)
    names = names_of(passes.stacks, passes.units)
    token_links(
        *sentences.token_rows(names, passes.units.pairs, passes.added()), passes.units.pairs, LINK_HINT, take_link
    )
    if st.session_state.pop(REFUSED, False):
        st.info(CANNOT_LINK)
    if passes.units != passes.found:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown("These partners were chosen by hand.", width="content")
            st.button("As found", key="compare_as_found", on_click=choose, kwargs={"aligned": ()})


def take_link() -> None:
    """Two tokens joined or parted; as found again where the partners are those."""
    passes = two_passes(current())
    link = pressed_link(len(passes.units.first), len(passes.units.second))
    if link is None:
        return
    pairs = with_link(passes.units.pairs, link)
    try:
        by_hand(passes.found, pairs, *passes.stacks)
    except ValueError:
        st.session_state[REFUSED] = True
        return
    choose(aligned=() if pairs == passes.found.pairs else tuple(chain.from_iterable(pairs)))
