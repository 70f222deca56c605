"""Your arrays: what do the heads look at whose attention another program saved?"""

from collections.abc import Callable
from functools import partial

import streamlit as st

import pages
from model import CheckpointError, InputError
from pages.parts.arrays.file_heads import (
    figure_of_file,
    how_chosen_in_file,
    opening_of_file,
    sentence_of_file,
    show_file_cards,
)
from pages.parts.arrays.opened_file import OPENED, UPLOAD, OpenedFile, example_model, kinds_and_notes, opened_file
from pages.parts.arrays.settings import Arrays
from pages.parts.components.sentence_picture import sentence_picture
from pages.parts.explore.explorer_panel import (
    ShownAttention,
    heads_sentence,
    name_under,
    show_explorer,
    show_neighbours,
)
from pages.parts.explore.heads_worth_a_look import OpeningHead, chosen_elsewhere, title_of
from pages.parts.frame.downloads import FileSnapshot, alone, download_name, downloads, files
from pages.parts.frame.finding import picture, picture_alone, show_finding
from pages.parts.frame.page_links import next_page_link
from pages.parts.state.selection import PLACES
from pages.parts.state.session import (
    address_notice,
    choices,
    current,
    current_selection,
    fit,
    keep_choices,
    remember,
    show_instead,
    steer,
)
from viz.export.array_script import SAVING
from viz.export.provenance import FileProvenance
from viz.text import file_findings, weight_sentences
from viz.tokens import markdown_text, visible

PAGE = "arrays"
QUESTION = "What do the heads of another program look at?"
EXAMPLE = "A worked example, made just now with the model {}; upload an NPZ or safetensors file to see yours."
UPLOAD_LABEL = "Attention of another program (NPZ or safetensors)"
UPLOAD_HELP = (
    "The file is read in this session alone and is gone with it. What has to be in it, and a script that saves it, "
    "stand below."
)
LINKED = (
    "This address was copied while a file was open. No address carries a file: it stays with the visitor who opened "
    "it. Open it here, and this view of it comes back; until then a worked example is shown."
)
HOW_TO_READ = """
- **Large picture**: the queries stand above, the keys below, and a curve runs from each query to the keys that it
  attends to. A larger weight has a wider and stronger curve.
- **Grid**, **lines**, **matrix**, **text** and **table** work as on the page Explore: point at a token to see what it
  attends to alone, click to keep it.
- No model is run here, so nothing can be muted or typed. What needs a model, such as scores or vectors, is not in the
  file.
- [CLS], [SEP], <s> and other usual names count as special tokens, which the explorer can hide.
"""
FORMAT = """
| array | axes | what it is |
|---|---|---|
| `weights` | layer, head, query, key | what the softmax gives: float16, float32, float64; in safetensors bfloat16 too |
| `tokens` | query | one text for each query: `numpy.array(list_of_str)` |
| `keys` | key | only where the keys are other tokens than the queries, as in cross-attention |
| `mask` | query, key | if you have it: True where a query may see a key |

An encoder–decoder has `encoder_weights`, `decoder_weights` and `cross_weights` in one file, with `encoder_tokens` and
`decoder_tokens`; cross-attention runs from the decoder's tokens to the encoder's. The NPZ files that this app saves
have these names too. In safetensors the tokens stand in the metadata, as `json.dumps(tokens)`, or as bytes of that
JSON in a uint8 array. A file has at most 32 MB, 512 tokens and 16 million weights. In a notebook no file is needed:
`viz.explorer.show(weights, tokens)`.
"""


def show() -> None:
    """The page, from top to bottom."""
    current_selection()
    show_top()
    with pages.plain_refusals():
        show_attention()
    if not picture_alone():
        st.header("A file of your own", anchor=False)
        show_own()
        next_page_link(PAGE)


def show_top() -> None:
    """In the place of the bar: what takes a file, and the bar's menus."""
    if picture_alone():
        return
    with st.container(key="file_row", horizontal=True, vertical_alignment="center", gap="small"):
        st.file_uploader(UPLOAD_LABEL, key=UPLOAD, on_change=take_upload, label_visibility="collapsed")
        pages.show_menus()


def take_upload() -> None:
    """Another file, or none any longer. Heads and tokens that were chosen were of the one before."""
    upload, before = st.session_state.get(UPLOAD), st.session_state.get(OPENED)
    if upload is None:
        close_file()
        return
    st.session_state[OPENED] = OpenedFile(("upload", upload.file_id), upload.name, upload.getvalue)
    came_for_it = current().of(Arrays).own and not (before is not None and before.is_own)
    choose_file(own=True, keep=came_for_it)


def close_file() -> None:
    """Back to what the page opens on."""
    st.session_state.pop(OPENED, None)
    choose_file(own=False)


def choose_file(*, own: bool, keep: bool = False) -> None:
    """keep: whether layers, heads and tokens stay chosen, as of an address that was copied of this very file."""
    others = {name: value for name, value in choices().items() if keep or name not in PLACES}
    keep_choices(others | ({"arrays.own": True} if own else {}))
    steer()


@st.fragment
def show_attention() -> None:
    """What was found, the large picture, and all heads; this alone runs when the explorer is used."""
    file = opened_file()
    with pages.plain_refusals(), pages.question_above(QUESTION):
        with st.spinner("Measuring every head"):
            attention = shown_file()
            opening = opening_of_file(file, attention)
        keep_shown(file, attention)
        show_opening(file, attention, opening)
        if not picture_alone():
            show_all(file, attention, opening)


def shown_file() -> ShownAttention:
    """The attention in the file that the session holds. InputError where it cannot be shown."""
    file = opened_file()
    try:
        kinds, _ = kinds_and_notes(file)
    except CheckpointError as refusal:
        raise InputError(str(refusal)) from None
    return ShownAttention(fit(current(), kinds), kinds, name_under(("file", file.sha256)), file.packed)


def keep_shown(file: OpenedFile, attention: ShownAttention) -> None:
    """Keep what is shown; of an address whose file is not here, what it chose waits for the file."""
    if attention.selection.of(Arrays).own and not file.is_own:
        st.session_state.pop("_unusable", None)
        show_instead(attention.selection)
    else:
        remember(attention.selection)


def show_opening(file: OpenedFile, attention: ShownAttention, opening: OpeningHead) -> None:
    """The finding and the large picture of its head."""
    sentence = " ".join(
        filter(None, (sentence_of_file(attention, opening), chosen_elsewhere(attention, opening), origin_of(file)))
    )
    show_finding(QUESTION, title_of(attention, opening), sentence, explained=how_chosen_in_file(opening))
    _, notes = kinds_and_notes(file)
    st.caption(
        markdown_text(" ".join((f"{name_of(file)}: {file_findings.size(list(attention.kinds.values()))}.", *notes)))
    )
    if attention.selection.of(Arrays).own and not file.is_own:
        st.info(LINKED)
    address_notice()
    with picture():
        name = f"{attention.name} {attention.kind.name} {opening.layer} {opening.head}"
        sentence_picture(figure_of_file(file, attention, opening), name, None, lambda *_: None)


def origin_of(file: OpenedFile) -> str:
    """That the example is one; "" of any other file."""
    return EXAMPLE.format(markdown_text(example_model())) if file.is_example and not picture_alone() else ""


def name_of(file: OpenedFile) -> str:
    """What the file is called, as it may be shown."""
    return visible(file.name, 60)


def show_all(file: OpenedFile, attention: ShownAttention, opening: OpeningHead) -> None:
    """Other heads worth a look, and every head of every layer in the explorer."""
    with st.container(key="worth", gap="xsmall"):
        show_file_cards(attention, opening)
    st.subheader("All heads", anchor=False)
    st.markdown(heads_sentence(attention), help=weight_sentences.HELP)
    show_explorer(attention, shown_file)
    with files():
        take = snapshot_of(file, attention)
        finding_key = None if opening.finding is None else opening.finding.key
        snapshot = alone(take, opening.layer, opening.head, finding_key)
        any_head = bool(attention.selection.view.heads_on(attention.kind.heads))
        downloads(PAGE, take, any_head=any_head, finding=snapshot)
    st.markdown(f"**How to read this**\n{HOW_TO_READ}")
    show_neighbours(attention)


def snapshot_of(file: OpenedFile, attention: ShownAttention) -> Callable[[], FileSnapshot]:
    """What the page's files are made of, for when one is asked for."""
    tokens = " ".join(attention.kind.queries.tokens)
    source = FileProvenance(checkpoint=name_of(file), text=tokens, sha256=file.sha256)
    saved, told = download_name(PAGE, "npz"), "All weights (NPZ), from the menu Download"
    name, origin = (saved, told) if file.is_example else (file.name, "the file that was open")
    return partial(
        FileSnapshot,
        kinds=attention.kinds,
        view=attention.selection.view,
        provenance=source,
        file=name,
        origin=origin,
    )


def show_own() -> None:
    """What has to be in a file, and a script that saves one."""
    st.markdown(UPLOAD_HELP)
    kept = st.session_state.get(OPENED)
    if kept is not None and kept.is_own:
        st.button("Close this file", key="close_file", on_click=close_file)
    with st.expander("What has to be in it"):
        st.markdown(FORMAT)
    with st.expander("A script that saves such a file from a model of transformers"):
        st.code(SAVING, language="python")


pages.frame("arrays")
show()
pages.freeze_imports("arrays")
