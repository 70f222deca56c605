"""Edit: what if this head looked elsewhere?"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import streamlit as st
from jaxtyping import Float

import pages
from model import Edits, InputError
from model.edits import Overwrite
from model.measures.causes.strongest_weight import StrongestWeight
from model.measures.edited_weights import copied_weights, overwrites, pattern_weights, row_moved, with_head
from pages.parts.ablations.experiments import edits_in_words
from pages.parts.edit.answer import answer_data, found, is_worth_a_try
from pages.parts.edit.changes import show_changes
from pages.parts.edit.edit_files import offer_files, show_file
from pages.parts.edit.edited_pass import (
    SITES,
    EditedPass,
    edited_pass,
    site_of,
    suggested_edit,
    suggestion_of,
)
from pages.parts.edit.kept_edits import (
    edit_text,
    history,
    is_held,
    is_lost,
    keep_edit,
    note_edit,
    redo,
    undo,
    undo_all,
)
from pages.parts.edit.settings import LONGEST_EDIT
from pages.parts.edit.weight_editor import sent_cells, weight_editor
from pages.parts.frame.finding import picture, picture_alone, show_caveats, show_finding
from pages.parts.frame.page_links import next_page_link
from pages.parts.passes import trace_key, trace_of
from pages.parts.state.held_texts import digest_of
from pages.parts.state.selection import Selection
from pages.parts.state.session import address_notice, choose, current_selection, fit, remember
from pages.parts.widgets.binding import select
from pages.parts.widgets.head_switches import show_left_out
from viz.charts.causes.weight_editor import MOST, editor_figure
from viz.explorer.attention_kinds import TITLES, Kind, kinds_of
from viz.text.causes import edited_weights as sentences
from viz.tokens import counted, markdown_text, position_name

QUESTION = "What if this head looked elsewhere?"
HOW_TO_READ = f"""
**How to read this**
- A row is a query, a column a key: the cell is the weight with which the query looks at the key, in percent. Hatched
  cells are masked. Cells with a thick border and a corner were set; others of their row may have changed with them.
- {sentences.ROOM}
- Everything after the head is computed again with the edited weights: the values that they weigh, the later layers, the
  answer. The head's queries, keys and scores stay as they are.
- With the keyboard: arrow keys move from cell to cell, Enter types a value, + and − change it by 5 points, Delete puts
  the row back, Escape leaves.
"""
CHOSEN_BY = (
    "Of a head, the suggested weight is the one that changes the answer most when its query looks at that key alone; "
    "at most its 128 largest weights are tried. The page tries the head without which the answer changes most, then "
    "the next, up to eight, until a weight changes the answer by 5 points, and opens on the head of the best one."
)
TRY, TRY_HELP = "Try it", "Gives all attention of that query to that token."
PATTERN_TITLE = "**All queries look at**"
CAPTION = "Layer {}, head {} of the {}: each row says where a token looks, in percent."
UNDO_HELP = "Takes back the last edit. The browser's Back does too."
REFUSED_EDIT = "_edit_too_large"  # in the session: why an edit was not taken
LOST = "The edit of this address was too long for it, and the server no longer has it: open its file, or edit anew."
HELD = (
    "This edit takes {} characters, more than the {:,} that an address may hold: a shared link opens without it once "
    "the server has forgotten it, and only Compare has it beside this page. Save it as a file below."
)
SEEN_ELSEWHERE = (
    "The address holds this edit, for this text. It is kept while you visit other pages: Break the formula computes "
    "with it, and so does Compare, where “B has the kept edits”; the others show the model without it."
)
LEFT_BEHIND = (
    "The edit was one of another text, whose tokens stood at other places: this text is as the model reads it. Back "
    "brings both back."
)
PATTERN_NAMES = {
    "self": "itself",
    "previous": "the token before",
    "first": "the first token",
    "even": "all tokens alike",
}
PATTERN_MASKED = " (where the mask lets them)"
PATTERN_HELP = "Sets the whole row of every query whose mask allows it; other rows stay as they are."
TOKEN_LABEL, COPY_LABEL = "the token …", "as another head does …"
NOWHERE = "—"


def show() -> None:
    """The page, from top to bottom."""
    selection = current_selection()
    pages.show_bar(selection)
    top, run = st.container(), None
    with pages.plain_refusals(), st.spinner("Running the model with these weights"):
        selection = fit(selection, kinds_of(trace_of(selection, Edits())))
        remember(selection)
        note_edit(selection)
        run = edited_pass(selection, site_of(selection))
    if run is None:
        with top:
            show_finding(QUESTION)
        show_way_back(selection)
        return
    kind = kinds_of(run.before)[selection.view.attention]
    suggestion = None if run.is_edited else suggestion_of(selection)
    with top:
        title, sentence = found(selection, run, kind, suggestion)
        show_finding(QUESTION, title, sentence, explained=CHOSEN_BY if suggestion and title else None)
        show_caveats(run.checkpoint, run.before)
        show_left_out(selection, edits=False)
        address_notice()
    answer = answer_data(selection, run)
    if not picture_alone():
        show_buttons(run, suggestion if suggestion is not None and is_worth_a_try(run, suggestion) else None)
    cell = selected_cell(selection, run, suggestion)
    with picture():
        draw(selection, run, kind, answer, cell)
    if picture_alone():
        return
    show_place(run, kind, cell)
    show_patterns(run, kind)
    say_where_it_is(selection, run)
    show_changes(selection, run)
    st.markdown(HOW_TO_READ)
    show_file(selection)
    offer_files(selection, run, kind, answer)
    next_page_link("edit")


def show_way_back(selection: Selection) -> None:
    """Where an edit has no place in this text: the way to the text without it."""
    if edit_text(selection):
        st.button("Undo all edits", key="edit_clear", on_click=keep_edit, args=("",))


def draw(selection: Selection, run: EditedPass, kind: Kind, answer: Mapping[str, Any], cell: tuple[int, int]) -> None:
    """The weights of the head, to be edited, and the answer beside them. cell: the selected one."""
    cells = [(cell.query, cell.key, cell.value, cell.renormalise) for cell in run.cells]
    hidden = [key.position for key in run.others.hidden if (key.stack, key.attention) == SITES[kind.name]]
    figure = editor_figure(run.base, run.mask, kind.queries, kind.keys, cells, cell, hidden=hidden)
    caption = CAPTION.format(counted(run.site.layer), counted(run.site.head), TITLES[kind.name])
    head = head_key(selection, run)
    data = figure | {"caption": caption, "answer": answer, "head": head}
    weight_editor(data, partial(take_weights, run, head), undo, redo)


def head_key(selection: Selection, run: EditedPass) -> str:
    """What the browser says of which head it speaks: another text or head is another."""
    return digest_of(repr((trace_key(selection, run.others), run.site)))


def selected_cell(selection: Selection, run: EditedPass, suggestion: StrongestWeight | None) -> tuple[int, int]:
    """The chosen cell, else the suggested one, else one that is edited, else the largest."""
    view, shape = selection.view, run.base.shape
    if view.query is not None and view.key is not None and view.query < shape[0] and view.key < shape[1]:
        return view.query, view.key
    if suggestion is not None:
        return suggestion.query, suggestion.key
    if (place := row_moved(run.base, run.weights)) is not None:
        return place
    query, key = np.unravel_index(int(run.base.argmax()), shape)
    return int(query), int(key)


def take_weights(run: EditedPass, head: str, sent: object) -> None:
    """The weights that came from the browser."""
    checked = sent_cells(sent, run.site, head, run.base.shape)
    if checked is None:
        return
    query, key = checked.place
    keep_cells(run, checked.cells, query=query, key=key)


def keep_cells(run: EditedPass, cells: frozenset[Overwrite], **place: int) -> None:
    """Have these overwritten in the head, and the head chosen; what cannot be is refused where the page stands."""
    try:
        text = with_head(run.edits, run.site, cells).to_text()
        keep_edit(text, layer=run.site.layer, head=run.site.head, **place)
    except InputError as refusal:
        st.session_state[REFUSED_EDIT] = str(refusal)


def show_buttons(run: EditedPass, suggestion: StrongestWeight | None) -> None:
    """What is suggested, and ways back and forward."""
    if refusal := st.session_state.pop(REFUSED_EDIT, ""):
        st.error(markdown_text(refusal))
    if history().left_behind:
        st.caption(LEFT_BEHIND)
    with st.container(horizontal=True, gap="small"):
        if suggestion is not None:
            text = suggested_edit(run, suggestion)
            changes = {"layer": run.site.layer, "head": run.site.head}
            cell = {"query": suggestion.query, "key": suggestion.key}
            st.button(
                TRY, key="try", type="primary", help=TRY_HELP, on_click=keep_edit, args=(text,), kwargs=changes | cell
            )
        st.button("Undo", key="edit_undo", on_click=undo, disabled=history().before is None, help=UNDO_HELP)
        st.button("Redo", key="edit_redo", on_click=redo, disabled=history().after is None)
        st.button("Undo all", key="edit_clear", on_click=undo_all, disabled=not run.is_edited)


def show_place(run: EditedPass, kind: Kind, cell: tuple[int, int]) -> None:
    """Which attention, layer and head are edited; of a long text, which part is drawn."""
    names = list(kinds_of(run.before))
    with st.container(horizontal=True):
        if len(names) > 1:
            looks = {"format_func": TITLES.__getitem__, "width": 300}
            select("Attention", names, kind.name, take_attention, key="edit_attention", **looks)
        for name, count, chosen in (
            ("layer", kind.layers, run.site.layer),
            ("head", kind.heads, run.site.head),
        ):
            take = partial(take_place, run, name)
            select(name.capitalize(), range(count), chosen, take, key=f"edit_{name}", format_func=counted, width=120)
        show_window(run, kind, cell)


def show_window(run: EditedPass, kind: Kind, cell: tuple[int, int]) -> None:
    """Of a long text, which query and key the picture is around: those of the selected cell."""
    for name, text, chosen in zip(("query", "key"), (kind.queries, kind.keys), cell, strict=True):
        if len(text.tokens) > MOST:
            names = [position_name(at, token) for at, token in enumerate(text.tokens)]
            take = partial(take_cell, cell, name)
            looks = {"format_func": names.__getitem__, "width": 190}
            select(f"Around the {name}", range(len(names)), chosen, take, key=f"edit_{name}", **looks)


def take_cell(cell: tuple[int, int], name: str, place: int) -> None:
    """Another query or key than that of a cell; both are chosen then."""
    query, key = cell
    choose({"query": query, "key": key, name: place})


def take_attention(name: str) -> None:
    """Another attention, of whose heads none is chosen."""
    choose(attention=name)


def take_place(run: EditedPass, name: str, place: int) -> None:
    """Another layer or head."""
    choose({"layer": run.site.layer, "head": run.site.head, name: place})


def show_patterns(run: EditedPass, kind: Kind) -> None:
    """Whole patterns for the head, each a click."""
    if len(kind.keys.tokens) == 1:
        return
    patterns = [name for name in PATTERN_NAMES if kind.name != "cross" or name in ("first", "even")]
    st.markdown(PATTERN_TITLE + ("" if run.mask.all() else PATTERN_MASKED), help=PATTERN_HELP)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        for name in patterns:
            st.button(PATTERN_NAMES[name], key=f"pattern_{name}", on_click=take_pattern, args=(run, name))
        tokens = [NOWHERE, *(position_name(at, token) for at, token in enumerate(kind.keys.tokens))]
        take = partial(take_token, run)
        looks = {"format_func": tokens.__getitem__, "width": 170}
        select(TOKEN_LABEL, range(len(tokens)), 0, take, key="pattern_token", **looks)
        heads = [site for site in np.ndindex(kind.layers, kind.heads) if site != (run.site.layer, run.site.head)]
        names = [NOWHERE, *map(sentences.head_name, heads)]
        copied = {"format_func": names.__getitem__, "width": 190}
        select(COPY_LABEL, range(len(names)), 0, partial(take_copy, run, kind, heads), key="pattern_copy", **copied)


def take_pattern(run: EditedPass, name: str, key: int = 0) -> None:
    """Every query looks at one place."""
    keep_rows(run, pattern_weights(name, run.base, run.mask, key))


def take_token(run: EditedPass, place: int) -> None:
    """Every query looks at one token; the first option is none."""
    if place:
        take_pattern(run, "token", place - 1)


def take_copy(run: EditedPass, kind: Kind, heads: Sequence[tuple[int, ...]], option: int) -> None:
    """The weights of another head; the first option is none."""
    if option:
        layer, head = heads[option - 1]
        keep_rows(run, copied_weights(run.base, run.mask, kind.weights[layer][head]))


def keep_rows(run: EditedPass, wanted: Float[np.ndarray, "query key"]) -> None:
    """Have these weights in the head, whatever was overwritten in it."""
    keep_cells(run, overwrites(run.site, run.base, wanted))


def say_where_it_is(selection: Selection, run: EditedPass) -> None:
    """Where the edit is kept, and what else is in effect. Its place is there in any case."""
    place = st.container()
    if is_lost(selection):
        place.warning(LOST)
    elif is_held(selection):
        place.warning(HELD.format(len(edit_text(selection)), LONGEST_EDIT))
    elif run.is_edited:
        place.caption(SEEN_ELSEWHERE)
    if run.others != Edits():
        place.caption(markdown_text(f"Also in effect, in both passes: {edits_in_words(run.others)}."))


pages.frame("edit")
show()
pages.freeze_imports("edit")
