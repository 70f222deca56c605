"""The exact weights as files: NPZ for everything, CSV and JSON for what is on the screen.

Each takes what it was made from, as ``provenance``, and is without it as it would be otherwise.
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

import numpy as np
from jaxtyping import Float

from model import Edits, Trace
from viz.explorer.attention_kinds import Kind, Text, kinds_of
from viz.explorer.head_measures import HeadMeasure
from viz.explorer.view import ShownNumbers, TokenGroup, View, shown_numbers
from viz.export.provenance import Provenance, fact_lines, facts_of

MOST_ROWS = 1_000_000
SITES = {"encoder": ("encoder", "self"), "decoder": ("decoder", "self"), "cross": ("decoder", "cross")}
NO_EDITS = Edits()
_STARTS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def trace_npz(trace: Trace, *, edits: Edits = NO_EDITS, provenance: Provenance | None = None) -> bytes:
    """An NPZ file of all attention that a trace has, without pickle.

    ``encoder_weights``, ``decoder_weights`` and ``cross_weights`` (layer, head, query, key) in float32, each with the
    (layer, head) pairs that ``edits`` muted, as in ``encoder_muted``; tokens and ids by stack, as in ``decoder_ids``;
    all ``edits`` as the text that ``Edits.from_text`` reads. Of ``provenance`` one text for each fact, as ``counting``;
    it brings its edits along, and ValueError is raised where ``edits`` are others.
    """
    if provenance is not None and edits not in (NO_EDITS, provenance.edits):
        raise ValueError(f"edits: found {edits}, expected those of the provenance, {provenance.edits}")
    edits = edits if provenance is None else provenance.edits
    arrays: dict[str, np.ndarray] = {"edits": np.array(edits.to_text(), np.str_)}
    for name, kind in kinds_of(trace).items():
        stack, attention = SITES[name]
        here = [site for site in sorted(edits.muted) if (site.stack, site.attention) == (stack, attention)]
        arrays[f"{name}_weights"] = np.stack(kind.weights).astype(np.float32, copy=False)
        arrays[f"{name}_muted"] = np.array([(site.layer, site.head) for site in here], np.int64).reshape(-1, 2)
        arrays[f"{stack}_tokens"] = np.array(kind.queries.tokens, np.str_)
        arrays[f"{stack}_ids"] = np.asarray(getattr(trace, stack).ids, np.int64)
    return npz(arrays, provenance=provenance)


def kinds_npz(kinds: Mapping[str, Kind], *, provenance: Provenance | None = None) -> bytes:
    """The same for attention of another program: weights and tokens, which ``read_attention`` reads again."""
    arrays: dict[str, np.ndarray] = {}
    for name, kind in kinds.items():
        arrays[f"{name}_weights"] = np.stack(kind.weights).astype(np.float32, copy=False)
        for text in (kind.queries, kind.keys):
            arrays[f"{text.stack}_tokens"] = np.array(text.tokens, np.str_)
    return npz(arrays, provenance=provenance)


def npz(arrays: Mapping[str, np.ndarray], *, provenance: Provenance | None = None) -> bytes:
    """Arrays by their names as one file, without pickle, and with them the facts; ``edits`` as ``from_text`` reads."""
    facts = facts_of(provenance) | ({"edits": provenance.edits.to_text()} if provenance is not None else {})
    texts = {name: np.array(fact, np.str_) for name, fact in facts.items()}
    file = io.BytesIO()
    np.savez_compressed(file, **{**texts, **arrays})  # type: ignore[arg-type]  # by any name but two of its own
    return file.getvalue()


def selection_csv(kind: Kind, view: View, *, provenance: Provenance | None = None) -> bytes:
    """One line for every query and key of a view, a column for each head that is on and one for their mean.

    Rows are left out, renormalised and merged as the view says; no threshold is applied. A merged word stands at the
    position of its first piece. All is counted from 0, and numbers are the shortest decimals that give the same
    float32 back; UTF-8 with the byte-order mark that spreadsheets need. Raises ValueError where
    no head is on, or for more than a million lines.

    provenance: lines "# name: fact" before the header. Read such a file with ``pandas.read_csv(file, skiprows=n)``,
    where its first line says n. Not with ``comment="#"``: tokens such as "##ly" have the sign in them.
    """
    selected = selection(kind, view)
    columns = [
        (f"layer_{view.layer}_head_{head}", weights)
        for head, weights in zip(selected.heads, selected.weights, strict=True)
    ]
    if len(columns) > 1:
        columns.insert(0, (f"layer_{view.layer}_mean", selected.mean))
    header = ["query", "query_token", "key", "key_token", *(name for name, _ in columns)]
    return csv_file([header], csv_rows(kind, selected, [weights for _, weights in columns]), facts=facts_of(provenance))


def measures_csv(measures: Sequence[HeadMeasure], attention: str, *, provenance: Provenance | None = None) -> bytes:
    """One line for every head, a column for each measure; empty where a head has none. All is counted from 0.

    ValueError without a measure.
    """
    if not measures:
        raise ValueError("measures: found none, expected one or more")
    header = ["attention", "layer", "head", *(measure.name for measure in measures)]
    rows = (
        [attention, *site, *("" if np.isnan(one.values[site]) else float(one.values[site]) for one in measures)]
        for site in np.ndindex(measures[0].values.shape)
    )
    return csv_file([header], rows, facts=facts_of(provenance))


def csv_rows(
    kind: Kind, selected: ShownNumbers, columns: Sequence[Float[np.ndarray, "query key"]]
) -> Iterator[tuple[object, ...]]:
    """A row for every query and key, with the weight of each column as the shortest decimal."""
    keys = [(group.first, cell(group_name(kind.keys, group))) for group in selected.keys]
    for row, group in enumerate(selected.queries):
        query = (group.first, cell(group_name(kind.queries, group)))
        numbers = zip(*(map(str, weights[row]) for weights in columns), strict=True)
        yield from ((*query, *key, *weights) for key, weights in zip(keys, numbers, strict=True))


def csv_file(*rows: Iterable[Sequence[object]], facts: Mapping[str, str]) -> bytes:
    """Rows after the lines of the facts, as UTF-8 with a byte-order mark."""
    text = io.StringIO()
    text.writelines(fact_lines(facts))
    csv.writer(text, lineterminator="\n").writerows(chain(*rows))
    return text.getvalue().encode("utf-8-sig")


def selection_json(kind: Kind, view: View, *, provenance: Provenance | None = None) -> bytes:
    """The same numbers with the view's settings: ``weights`` by head, query and key, ``mean`` by query and key.

    ``queries`` and ``keys`` give the positions that each row and column stands for, and its token as it is;
    ``provenance`` the facts, where there are some. Raises ValueError as ``selection_csv`` does.
    """
    selected = selection(kind, view)
    facts: dict[str, object] = {} if provenance is None else {"provenance": provenance.facts()}
    facts |= {
        "attention": kind.name,
        "layer": view.layer,
        "heads": selected.heads,
        "view": view.to_message(),
        "queries": [described(kind.queries, group) for group in selected.queries],
        "keys": [described(kind.keys, group) for group in selected.keys],
    }
    mean, weights = json_rows(selected.mean), json_list(map(json_rows, selected.weights))
    return f'{json.dumps(facts)[:-1]}, "mean": {mean}, "weights": {weights}}}\n'.encode("ascii")


def selection(kind: Kind, view: View) -> ShownNumbers:
    """What a view shows. ValueError, in one sentence, where that is nothing or too much for a text file."""
    if view.layer >= kind.layers:
        raise ValueError(f"There is no layer {view.layer + 1}: this attention has {kind.layers}.")
    if not view.heads_on(kind.heads):
        raise ValueError(f"No head of layer {view.layer + 1} is on: switch one on to take its weights away.")
    rows = np.prod(kind.weights[view.layer].shape[1:])
    if rows > MOST_ROWS:
        raise ValueError(f"This selection has {rows:,} rows and a text file takes at most {MOST_ROWS:,}: take the NPZ.")
    return shown_numbers(kind, view)


def group_name(text: Text, group: TokenGroup) -> str:
    """A row's or column's token as the text has it, the pieces of a word joined."""
    first, *others = text.tokens[group.first : group.last + 1]
    return first + "".join(piece.removeprefix("##") for piece in others)


def described(text: Text, group: TokenGroup) -> dict[str, object]:
    """A row or column for JSON."""
    return {"first": group.first, "last": group.last, "token": group_name(text, group)}


def json_rows(weights: Float[np.ndarray, "query key"]) -> str:
    """A matrix, each number as the shortest decimal that gives the same float32 back."""
    return json_list(json_list(map(str, row)) for row in weights)


def json_list(items: Iterable[str]) -> str:
    """Items that are JSON already, as a list."""
    return f"[{', '.join(items)}]"


def cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula: one that could start a formula gets an apostrophe in front."""
    return f"'{text}" if text.startswith(_STARTS_A_FORMULA) else text
