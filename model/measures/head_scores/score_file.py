"""The scores of a checkpoint's heads as a value, and as a small JSON file beside the checkpoint."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from model.loading.bounded_files import LARGEST_JSON, read_bytes, refuse, strict_json
from model.measures.head_kinds import ERRORS, LEAST_EXCESS, Scores
from model.measures.head_scores.gold_hits import GoldScore
from model.measures.head_scores.kind_sums import KindSums

FILE = "head_scores.json"  # of the bundled data; a text file of one's own has another: ``file_of_texts``
DIGITS = 4
LONGEST_TEXT = 300  # characters of a text in which an example stands
HEADS_WITH_EXAMPLES = 3  # of each kind
ATTENTIONS = ("encoder", "decoder", "cross")
LARGEST_INDEX = 1 << 31
LONGEST_NUMBER = 10  # digits of it


@dataclass(frozen=True, kw_only=True)
class Example:
    """The largest weight of a head in the cells of a kind: in which text, from where to where. All count from 0."""

    layer: int
    head: int
    text: int
    query: int
    key: int
    weight: float
    query_token: str
    key_token: str


@dataclass(frozen=True, kw_only=True, eq=False)
class KindTable:
    """One kind of one attention. ``errors``: the standard errors of score − null over texts; None of a single text."""

    texts: int
    queries: int
    scores: Float[np.ndarray, "layer head"]
    nulls: Float[np.ndarray, "layer head"]
    errors: Float[np.ndarray, "layer head"] | None
    examples: tuple[Example, ...] = ()

    @property
    def exceeding(self) -> Bool[np.ndarray, "layer head"]:
        """Which heads lie above their null, by 0.05 and by three standard errors; none of a single text."""
        if self.errors is None:
            return np.zeros(self.scores.shape, bool)
        return self.scores - self.nulls > np.maximum(LEAST_EXCESS, ERRORS * self.errors)

    @property
    def strongest(self) -> tuple[int, int]:
        """Layer and head with the largest score − null of those above it; of all, where none is."""
        excess = self.scores - self.nulls
        among = np.where(self.exceeding, excess, -np.inf) if self.exceeding.any() else excess
        layer, head = divmod(int(among.argmax()), excess.shape[1])
        return layer, head

    def example_of(self, layer: int, head: int) -> Example | None:
        """The largest weight of a head; None where none was kept."""
        return next((each for each in self.examples if (each.layer, each.head) == (layer, head)), None)


@dataclass(frozen=True, kw_only=True, eq=False)
class HeadScores:
    """What was measured, by which command, of how many examples of each data set.

    kinds: by attention and kind. texts: the beginnings of those in which examples stand, by their number. stopped:
    before all of the data was measured.
    """

    command: str
    counts: dict[str, int]
    stopped: bool
    kinds: dict[str, dict[str, KindTable]]
    texts: dict[int, str]
    syntax: tuple[GoldScore, ...]
    coreference: tuple[GoldScore, ...]

    def above_null(self, attention: str, layer: int, head: int) -> tuple[str, ...]:
        """The kinds whose null a head lies above, the one with the largest excess first."""
        tables = self.kinds.get(attention, {})
        excess = {kind: float((table.scores - table.nulls)[layer, head]) for kind, table in tables.items()}
        kinds = (kind for kind, table in tables.items() if table.exceeding[layer, head])
        return tuple(sorted(kinds, key=lambda kind: -excess[kind]))


def file_of_texts(texts: Path) -> str:
    """The file's name for a set of texts of one's own."""
    return f"head_scores-{texts.stem}.json"


def score_files(folder: Path) -> list[str]:
    """The names of the files of scores in a checkpoint's folder: that of the bundled data first."""
    names = {path.name for path in folder.glob("head_scores-*.json")}
    return [*([FILE] if (folder / FILE).exists() else []), *sorted(names)]


def kind_table(sums: KindSums) -> KindTable:
    """The table of a kind, with the examples of the heads that exceed its null most."""
    table = KindTable(texts=sums.texts, queries=sums.queries, scores=sums.scores, nulls=sums.nulls, errors=sums.errors)
    order = np.argsort(sums.nulls - sums.scores, axis=None, kind="stable")[:HEADS_WITH_EXAMPLES]
    places = [np.unravel_index(number, sums.scores.shape) for number in order.tolist()]
    return KindTable(**vars(table) | {"examples": tuple(examples_at(sums, places))})


def examples_at(sums: KindSums, places: list[Any]) -> list[Example]:
    """The strongest weights of these heads; none where the kind is not about single weights."""
    best = sums.strongest
    if best is None:
        return []
    return [
        Example(
            layer=int(layer),
            head=int(head),
            **dict(zip(("text", "query", "key"), best.place[layer, head].tolist(), strict=True)),
            weight=float(best.weight[layer, head]),
            query_token=str(best.tokens[layer, head, 0]),
            key_token=str(best.tokens[layer, head, 1]),
        )
        for layer, head in places
    ]


# Written


def write_head_scores(path: Path, scores: HeadScores) -> None:
    """Write the file, the same for the same scores, each innermost list on one line."""
    text = json.dumps(to_json(scores), indent=1, ensure_ascii=False)
    lists = re.compile(r"\[[^\[\]{}]*\]")  # newlines in it are never in a string, where they would be escaped
    path.write_text(lists.sub(lambda found: re.sub(r"\s*\n\s*", " ", found[0]), text) + "\n", encoding="utf-8")


def to_json(scores: HeadScores) -> dict[str, Any]:
    """Plain JSON values, rounded."""
    return {
        "command": scores.command,
        "counts": scores.counts,
        "stopped": scores.stopped,
        "kinds": {
            attention: {kind: table_json(table) for kind, table in tables.items()}
            for attention, tables in scores.kinds.items()
        },
        "texts": {str(number): text for number, text in scores.texts.items()},
        "syntax": [rounded_fields(score) for score in scores.syntax],
        "coreference": [rounded_fields(score) for score in scores.coreference],
    }


def table_json(table: KindTable) -> dict[str, Any]:
    """One table."""
    matrices = {name: getattr(table, name) for name in ("scores", "nulls", "errors")}
    lists = {name: None if each is None else each.round(DIGITS).tolist() for name, each in matrices.items()}
    examples = [rounded_fields(example) for example in table.examples]
    return {"texts": table.texts, "queries": table.queries, **lists, "examples": examples}


def rounded_fields(record: Example | GoldScore) -> dict[str, Any]:
    """The fields of a record, its numbers rounded."""
    return {name: round(value, DIGITS) if isinstance(value, float) else value for name, value in asdict(record).items()}


# Read


def read_head_scores(folder: Path, file: str = FILE) -> HeadScores | None:
    """The scores beside a checkpoint; None where there are none. CheckpointError for a file of another kind."""
    if not (folder / file).exists():
        return None
    values = Fields(strict_json(read_bytes(folder, file, LARGEST_JSON), file), file)
    texts = values.mapping("texts", str)
    if not all(number.isdecimal() and len(number) <= LONGEST_NUMBER for number in texts):
        refuse(file, "texts", "another key", "the numbers of texts")
    return HeadScores(
        command=values.of("command", str),
        counts=values.mapping("counts", int),
        stopped=values.of("stopped", bool),
        kinds={name: read_tables(each, name) for name, each in values.inner("kinds").objects().items()},
        texts={int(number): text for number, text in texts.items()},
        syntax=tuple(each.record(GoldScore) for each in values.list_of("syntax")),
        coreference=tuple(each.record(GoldScore) for each in values.list_of("coreference")),
    )


@dataclass(frozen=True)
class Fields:
    """An object of a JSON file, whose values are checked as they are taken."""

    values: Mapping[str, Any]
    file: str

    def of(self, name: str, kind: type) -> Any:
        """A value of a type; an int is at least 0, a float from 0 to 1."""
        value = self.values.get(name)
        return self.checked(name, value, kind)

    def checked(self, name: str, value: Any, kind: type) -> Any:
        """The value, or CheckpointError; an int may stand for a float, a bool for nothing else."""
        types = (int, float) if kind is float else (kind,)
        largest = 1 if kind is float else LARGEST_INDEX
        right = isinstance(value, types) and isinstance(value, bool) == (kind is bool)
        if not right or (kind in (int, float) and not 0 <= value <= largest):
            refuse(self.file, name, value, f"{kind.__name__}{f' from 0 to {largest}' if kind in (int, float) else ''}")
        return value

    def mapping(self, name: str, kind: type) -> dict[str, Any]:
        """An object with values of one type."""
        return {key: self.checked(name, value, kind) for key, value in self.of(name, dict).items()}

    def inner(self, name: str) -> "Fields":
        """An object in this one."""
        return Fields(self.of(name, dict), self.file)

    def objects(self) -> dict[str, "Fields"]:
        """An object of objects."""
        return {key: Fields(self.checked(key, value, dict), self.file) for key, value in self.values.items()}

    def list_of(self, name: str) -> list["Fields"]:
        """A list of objects."""
        return [Fields(self.checked(name, value, dict), self.file) for value in self.of(name, list)]

    def record(self, make: Callable[..., Any]) -> Any:
        """A dataclass whose fields are these."""
        types: dict[str, type] = {field.name: field.type for field in fields(make)}  # type: ignore[arg-type, misc]
        return make(**{name: self.of(name, kind) for name, kind in types.items()})

    def matrix(self, name: str) -> Scores:
        """Numbers from 0 to 1 by layer and head."""
        rows = [self.checked(name, row, list) for row in self.of(name, list)]
        if not rows or not rows[0] or len({len(row) for row in rows}) > 1:
            refuse(self.file, name, "rows of other lengths", "one of equal length for each layer")
        return np.array([[self.checked(name, value, float) for value in row] for row in rows], np.float64)


def read_tables(values: Fields, attention: str) -> dict[str, KindTable]:
    """The tables of one attention, all of as many layers and heads."""
    if attention not in ATTENTIONS:
        refuse(values.file, "kinds", attention, f"one of {', '.join(ATTENTIONS)}")
    tables = {kind: read_table(each) for kind, each in values.objects().items()}
    if len({table.scores.shape for table in tables.values()}) > 1:
        refuse(values.file, attention, "tables of several sizes", "one size")
    return tables


def read_table(values: Fields) -> KindTable:
    """One table, whose matrices are of one size and hold the heads of its examples."""
    scores, nulls = values.matrix("scores"), values.matrix("nulls")
    errors = values.matrix("errors") if values.values.get("errors") is not None else None
    if any(each is not None and each.shape != scores.shape for each in (nulls, errors)):
        refuse(values.file, "nulls", "a size other than that of scores", "the same")
    examples = tuple(each.record(Example) for each in values.list_of("examples"))
    if any(each.layer >= scores.shape[0] or each.head >= scores.shape[1] for each in examples):
        refuse(values.file, "examples", "a head that is not in the table", "one that is")
    return KindTable(
        texts=values.of("texts", int),
        queries=values.of("queries", int),
        scores=scores,
        nulls=nulls,
        errors=errors,
        examples=examples,
    )
