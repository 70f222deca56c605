"""The files for readers who coded along, on the pages that offer them."""

from collections.abc import Callable

import streamlit as st

from model import Checkpoint, Edits
from pages.parts.frame.downloads import download_name
from pages.parts.passes import provenance_of, trace_later
from pages.parts.state.selection import Selection
from viz.export.check_yours import can_check, check_file, check_script
from viz.text.learn.mistakes import CHECK_YOURS, NOT_CHECKED
from viz.tokens import markdown_text


def show_check_yours(selection: Selection, checkpoint: Checkpoint) -> None:
    """Head 1 of layer 1 as arrays, and the script that compares."""
    st.subheader("Check yours", anchor=False)
    if not can_check(checkpoint.config):
        st.markdown(NOT_CHECKED.format(model=markdown_text(checkpoint.label)))
        return
    st.markdown(CHECK_YOURS)
    file, script = download_name("mistakes", "npz", "check"), download_name("mistakes", "py", "check")
    source = provenance_of(selection, checkpoint, Edits())
    with st.container(horizontal=True):
        st.download_button("Arrays (NPZ)", first_head(selection, checkpoint), file, on_click="ignore")
        st.download_button("Script (Python)", lambda: check_script(file, provenance=source), script, on_click="ignore")


def first_head(selection: Selection, checkpoint: Checkpoint) -> Callable[[], bytes]:
    """The arrays of head 1 of layer 1, for when they are asked for."""
    trace, source = trace_later(selection, Edits()), provenance_of(selection, checkpoint, Edits())
    return lambda: check_file(trace().text_stack.blocks[0].self_attention, 0, provenance=source)
