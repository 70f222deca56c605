"""Attention by hand: queries, keys, values and a mask, cell by cell."""

import json
import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from model import Checkpoint, InputError
from model.measures.comparison import peak
from model.measures.experiments.attention_by_hand import Steps, steps_of
from model.trace import Trace
from pages.parts.ablations.experiment_runs import Kinds
from pages.parts.ablations.settings import AblationSettings
from pages.parts.ablations.subjects import SUBJECTS
from pages.parts.state.selection import Selection
from pages.parts.state.session import choose, unusable
from pages.parts.widgets.binding import radio
from pages.parts.widgets.charts import explain, show_measured
from viz.charts.number_matrices import matrix_table
from viz.explorer.component import matrices
from viz.tokens import percent

MATRICES = ("Q", "K", "V")
SIZES, COORDINATES = (3, 4), 2
LONGEST_CELL, LARGEST = 12, 1e6
MASK_HELP = "A tick means that the query (row) may look at the key (column)."
MATRIX_HELP = {
    "Q": "One row for each token: its query says what the token looks for.",
    "K": "One row for each token: its key says what the token is found by. q·k is large where both point the same way.",
    "V": "One row for each token: its value is what a query receives from the token, in proportion to the weight.",
}
READ = """
- **Products**: each query times each key, coordinate by coordinate, added up. **Scaled**: divided by √2 = 1.41, because
  d_k is 2 here. **Masked**: −∞ where there is no tick.
- **Weights**: the softmax of each row; the weights of a row add up to 1. **Context**: the sum of the rows of V, each
  times its weight.
"""
POINT = "Point at a cell for all its digits."
Cells = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True)
class TypedCells:
    """The cells as they were typed: queries, keys, values, and "1" or "0" for each cell of the mask."""

    matrices: tuple[Cells, Cells, Cells]
    mask: Cells

    @property
    def tokens(self) -> int:
        return len(self.mask)

    def to_setting(self) -> str:
        """As it stands in an address; nothing for the example that the page opens with."""
        if self == EXAMPLE:
            return ""
        return json.dumps(
            [*self.matrices, ["".join(row) for row in self.mask]], ensure_ascii=False, separators=(",", ":")
        )


def cells(text: str) -> Cells:
    """ "1 0; 0 1" as cells."""
    return tuple(tuple(row.split()) for row in text.split(";"))


EXAMPLE = TypedCells(
    matrices=(cells("1 0;0 2;1 1;-1 1"), cells("1 0;0 1;2 0;1 -1"), cells("1 0;0 1;5 5;-2 3")),
    mask=cells("1 0 0 0;1 1 0 0;1 1 1 0;1 1 1 1"),
)


def typed_of(setting: str) -> TypedCells:
    """What ``to_setting`` wrote; the example, and a notice, for what has another shape."""
    if not setting:
        return EXAMPLE
    try:
        *matrices, mask = json.loads(setting)
        rows = [[list(map(str, row)) for row in matrix] for matrix in matrices]
        typed = TypedCells(matrices=tuple(map(as_cells, rows)), mask=as_cells(mask))  # type: ignore[arg-type]
    except (TypeError, ValueError, RecursionError):
        typed = None
    if typed is None or not well_shaped(typed):
        unusable("setting")
        return EXAMPLE
    return typed


def as_cells(rows: Any) -> Cells:
    """Rows of cells, cut to what a cell may hold."""
    return tuple(tuple(cell[:LONGEST_CELL] for cell in row) for row in rows)


def well_shaped(typed: TypedCells) -> bool:
    """Three matrices with a row of two cells for every token, and a square mask of "0" and "1"."""
    count = typed.tokens
    right = all([len(row) for row in matrix] == [COORDINATES] * count for matrix in typed.matrices)
    square = all(len(row) == count and set(row) <= {"0", "1"} for row in typed.mask)
    return count in SIZES and len(typed.matrices) == len(MATRICES) and right and square


def show_bench(selection: Selection, checkpoint: Checkpoint, before: Trace, kinds: Kinds) -> None:
    """The cells, and every step of attention on them."""
    subject, typed = SUBJECTS["bench"], typed_of(selection.of(AblationSettings).setting)
    words, beside = explain(subject.name, subject.explained, subject.look_for)
    with beside:
        radio("Tokens", SIZES, typed.tokens, partial(take_size, typed), key="bench_tokens")
        st.button("Start over", key="start_over", on_click=choose, kwargs={"setting": ""}, disabled=typed == EXAMPLE)
    show_cells(typed)
    try:
        steps = steps_of_cells(typed)
    except InputError as refusal:
        st.error(str(refusal))
        return
    show_measured(words, bench_sentence(steps))
    show_steps(typed, steps)
    st.markdown(f"**How to read this**\n{READ}")


def names(count: int, letter: str) -> list[str]:
    """ "q1", "q2" …"""
    return [f"{letter}{place + 1}" for place in range(count)]


def show_cells(typed: TypedCells) -> None:
    """Four tables that can be edited. They are told new cells only when these came from elsewhere."""
    state = st.session_state
    if state.get("_bench_shown") != typed:
        state["_bench_base"] = state["_bench_shown"] = typed
        state["_bench_revision"] = state.get("_bench_revision", 0) + 1
    base, revision = state["_bench_base"], state["_bench_revision"]
    frames = frames_of(base)
    for place, (name, frame) in zip(st.columns([3, 3, 3, 4]), frames.items(), strict=True):
        with place:
            st.markdown(f"**{name}**", help=MATRIX_HELP.get(name, MASK_HELP))
            key = f"bench_{name}_{revision}"
            st.data_editor(frame, key=key, on_change=take_cells, args=(base, revision), disabled=["_index"])


def frames_of(typed: TypedCells) -> dict[str, pd.DataFrame]:
    """The cells as tables: numbers as text, so that whatever is typed can be answered; the mask as ticks."""
    letters = zip(MATRICES, typed.matrices, strict=True)
    matrices = {
        name: pd.DataFrame(matrix, index=names(typed.tokens, name.lower()), columns=["1", "2"], dtype="str")
        for name, matrix in letters
    }
    ticks = np.array(typed.mask) == "1"
    keys, queries = names(typed.tokens, "k"), names(typed.tokens, "q")
    return matrices | {"Mask": pd.DataFrame(ticks, index=queries, columns=keys)}


def take_cells(base: TypedCells, revision: int) -> None:
    """What the tables hold now goes into the selection."""
    state = st.session_state
    edited = {name: state.get(f"bench_{name}_{revision}") or {} for name in (*MATRICES, "Mask")}
    frames = {name: with_changes(frame, edited[name]) for name, frame in frames_of(base).items()}
    matrices = tuple(as_cells([list(map(cell_text, row)) for row in frames[name].to_numpy()]) for name in MATRICES)
    mask = tuple(tuple("1" if tick else "0" for tick in row) for row in frames["Mask"].to_numpy())
    typed = TypedCells(matrices=matrices, mask=mask)  # type: ignore[arg-type]
    state["_bench_shown"] = typed  # the tables show it already
    choose(setting=typed.to_setting())


def with_changes(frame: pd.DataFrame, edited: Any) -> pd.DataFrame:
    """A table with the cells that the browser says were edited."""
    edited_frame = frame.astype(object)
    for row, changes in edited.get("edited_rows", {}).items():
        for column, value in changes.items():
            edited_frame.loc[edited_frame.index[int(row)], column] = value
    return edited_frame


def cell_text(cell: Any) -> str:
    """A cell as text; one that was emptied is empty."""
    return "" if cell is None else str(cell).strip()


def take_size(typed: TypedCells, count: int) -> None:
    """More tokens start as 0 and see all; fewer are cut off at the end."""
    grown = [[*matrix, *[("0",) * COORDINATES] * count][:count] for matrix in typed.matrices]
    mask = [[*row, *["0"] * count][:count] for row in (*typed.mask, *[("1",) * count] * count)][:count]
    mask = [row[:count] if place < typed.tokens else ["1"] * count for place, row in enumerate(mask)]
    resized = TypedCells(matrices=tuple(map(as_cells, grown)), mask=as_cells(mask))  # type: ignore[arg-type]
    choose(setting=resized.to_setting())


def steps_of_cells(typed: TypedCells) -> Steps:
    """Every step. InputError for a cell that holds no number."""
    query, key, value = (numbers(name, matrix) for name, matrix in zip(MATRICES, typed.matrices, strict=True))
    return steps_of(query, key, value, np.array(typed.mask) == "1")


def numbers(name: str, matrix: Cells) -> np.ndarray:
    """A matrix of what was typed."""
    return np.array(
        [
            [number(cell, f"{name}, row {row + 1}, column {column + 1}") for column, cell in enumerate(line)]
            for row, line in enumerate(matrix)
        ]
    )


def number(cell: str, where: str) -> float:
    """What a cell says. InputError, as one plain sentence, where that is no number that can be worked with."""
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not cell:
        raise InputError(f"{where} is empty: type a number.")
    if not math.isfinite(value) or abs(value) > LARGEST:
        raise InputError(f"{where} holds “{cell}”: type a number from −1,000,000 to 1,000,000.")
    return value


def show_steps(typed: TypedCells, steps: Steps) -> None:
    """Five matrices, from the products to the context."""
    queries, keys = names(typed.tokens, "q"), names(typed.tokens, "k")
    by_name = {"Products": steps.products, "Scaled": steps.scaled, "Masked": steps.masked, "Weights": steps.weights}
    tables = [matrix_table(name, by_name[name], queries, keys, weights=name == "Weights") for name in by_name]
    matrices([*tables, matrix_table("Context", steps.context, queries, ["1", "2"])], key="steps", hint=POINT)


def bench_sentence(steps: Steps) -> str:
    """The last query in words."""
    last, (key, weight) = len(steps.weights), peak(steps.weights[-1])
    if not steps.weights[-1].any():
        return f"Query {last} may look at no key: its weights and its context are 0."
    context = ", ".join(f"{number:.3g}" for number in steps.context[-1])
    return f"Query {last} gives its largest weight to key {key + 1}: {percent(weight)}. Its context is ({context})."
