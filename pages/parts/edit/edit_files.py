"""The files of the page Edit: a script, the weights, and the edit itself, which the page opens again."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from model import CheckpointError, Edits, InputError
from model.edits.file_form import LARGEST_FILE, EditFile
from model.measures.outcome import outcome_value
from pages.parts.edit.changes import stack_distances
from pages.parts.edit.edited_pass import EditedPass, edited_pass, site_of
from pages.parts.edit.kept_edits import changes_of, edit_text
from pages.parts.edit.settings import LONGEST_EDIT
from pages.parts.frame.downloads import button, download_name, files, share_bars
from pages.parts.models.catalogue import label_of, loaded_from
from pages.parts.passes import pair_of, provenance_of, target_with_origin
from pages.parts.state.selection import Selection
from pages.parts.state.session import choose, current, selection_after
from viz.explorer.attention_kinds import Kind
from viz.export.provenance import Provenance
from viz.export.share_picture import Bar
from viz.export.weights_csv import weights_csv
from viz.export.weights_script import Figures, weights_script
from viz.tokens import markdown_text, percent, visible

UPLOAD, REFUSED = "edit_upload", "_edit_refused"  # in the session: the control that takes a file, and why it did not
SCRIPT_HELP = "Computes both passes again and asserts the figures of this page."
CSV_HELP = "Every weight of the head before and after, and what is overwritten, with all digits."
EDIT_HELP = "The edit with its text and model as a small file of JSON, which this page opens again."
OPEN_LABEL = "Open an edit (file)"
FILES_TITLE = "Save or open this edit"
FILES_SAID = (
    "The address of this page holds an edit of up to {} characters, about 110 weights. A file holds any: save it here, "
    "and open it here again. It brings its text along and needs the same model."
)
OTHER_MODEL = "This edit was made with the model {}; the page shows {}. Choose that model first."
LONGEST_NAME = 60  # characters of a model, in a sentence
FOOT = "the answer without and with the edited weights"


def offer_files(selection: Selection, run: EditedPass, kind: Kind, answer: Mapping[str, Any]) -> None:
    """What the menu Download lists, and the picture to share."""
    source = replace(provenance_of(selection, run.checkpoint, run.others), edits=run.edits)
    overwritten = {(cell.query, cell.key): cell.value for cell in run.cells}
    before = kind.weights[run.site.layer][run.site.head]
    table = partial(weights_csv, before, run.weights, kind.queries, kind.keys, overwritten, provenance=source)
    with files():
        button("Python script (asserts the figures)", download_name("edit", "py"), script(selection, run), SCRIPT_HELP)
        button("Weights before and after (CSV)", download_name("edit", "csv", "weights"), table, CSV_HELP)
        button("The edit (file)", download_name("edit", "json"), partial(edit_file, selection), EDIT_HELP)
    if answer["rows"]:
        share_bars("edit", bars(answer["rows"]), FOOT, source)


def script(selection: Selection, run: EditedPass) -> Callable[[], str]:
    """The script, for when it is asked for."""
    target = target_with_origin(selection, run.checkpoint, run.others)
    source: Provenance = replace(provenance_of(selection, run.checkpoint, run.others), edits=run.edits)
    loads, pair = loaded_from(selection.checkpoint), pair_of(selection) or ""

    def make() -> str:
        figures = Figures(
            before=outcome_value(run.outcome, run.before, run.before),
            after=outcome_value(run.outcome, run.before, run.after),
            moved=[
                float(each)
                for stack in ("encoder", "decoder")
                if getattr(run.before, stack) is not None
                for each in stack_distances(run, stack)
            ],
        )
        return weights_script(
            loads,
            selection.text,
            run.edits,
            run.others,
            figures,
            pair=pair,
            target=target,
            writes=run.checkpoint.config.is_encoder_decoder,
            provenance=source,
        )

    return make


def edit_file(selection: Selection) -> bytes:
    """The edit as the page opens it again."""
    return EditFile(
        checkpoint=selection.checkpoint,
        text=selection.text,
        pair=selection.pair,
        target=selection.target,
        edits=edit_text(selection),
    ).to_bytes()


def show_file(selection: Selection) -> None:
    """A place to save the edit and to open one."""
    with st.expander(FILES_TITLE, expanded=REFUSED in st.session_state):
        st.markdown(FILES_SAID.format(f"{LONGEST_EDIT:,}"))
        st.download_button(
            "Save the edit (file)",
            edit_file(selection),
            download_name("edit", "json"),
            on_click="ignore",
            key="save_edit",
            disabled=not edit_text(selection),
        )
        st.file_uploader(OPEN_LABEL, type=["json"], key=UPLOAD, on_change=take_file)
        if refusal := st.session_state.pop(REFUSED, ""):
            st.error(markdown_text(refusal))


def take_file() -> None:
    """Open what was uploaded; where that cannot be, say why in one sentence."""
    upload = st.session_state.get(UPLOAD)
    if upload is None:
        return
    try:
        if upload.size > LARGEST_FILE:
            raise InputError(f"The file has {upload.size} bytes, expected at most {LARGEST_FILE}.")
        open_edit(EditFile.from_bytes(upload.getvalue()))
    except (InputError, CheckpointError) as refusal:
        st.session_state[REFUSED] = str(refusal)


def open_edit(file: EditFile) -> None:
    """Choose the text and the edit of a file. InputError where they do not fit this model, or each other."""
    selection = current()
    if file.checkpoint != selection.checkpoint:
        raise InputError(OTHER_MODEL.format(visible(file.checkpoint, LONGEST_NAME), label_of(selection.checkpoint)))
    texts = {"text": file.text, "pair": file.pair, "target": file.target}
    changes = texts | changes_of(file.edits)
    tried = selection_after(**changes)
    edited_pass(tried, site_of(tried))
    choose(changes | place_of(file))


def place_of(file: EditFile) -> dict[str, int | str]:
    """The first head that is overwritten, so that the page shows it."""
    sites = sorted(cell.site for cell in Edits.from_text(file.edits).overwritten)
    if not sites:
        return {}
    name = "cross" if sites[0].attention == "cross" else sites[0].stack
    return {"attention": name, "layer": sites[0].layer, "head": sites[0].head}


def bars(rows: Sequence[Mapping[str, Any]], most: int = 3) -> list[Bar]:
    """The likeliest answers before and after, for the picture to share."""
    return [
        Bar(name=f"{row['name']}, {when}", length=row[when], label=percent(row[when], 1))
        for row in rows[:most]
        for when in ("before", "after")
    ]
