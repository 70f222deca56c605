"""A checkpoint's card as tables and lines. A card may come from anywhere: what is missing or odd in it is left out."""

import re
from collections.abc import Mapping, Sequence

from viz.tokens import markdown_text

EVALUATION_COLUMNS = {"result": "result", "what": "what", "examples": "examples"}
WEB_ADDRESS = re.compile(r"https?:/{2}[\w.-]+(?:/[\w./~%-]*)?")
TRAINING_FACTS = ("seed", "steps", "examples", "seconds", "machine", "versions", "notes")


def evaluations_by_command(card: Mapping[str, object]) -> dict[str, dict[str, list[str]]]:
    """For every command, in the order of the card, a table of what it prints: columns of text."""
    rows = [dict(row) | {"result": _result(row)} for row in _records(card, "evaluations")]
    commands = dict.fromkeys(_cell(row.get("command")) for row in rows)
    return {
        command: _columns([row for row in rows if _cell(row.get("command")) == command], EVALUATION_COLUMNS)
        for command in commands
    }


def evaluations_that_begin(card: Mapping[str, object], beginning: str) -> dict[str, object]:
    """A card of these evaluations alone, their names without the beginning."""
    rows = [row for row in _records(card, "evaluations") if _cell(row.get("what")).startswith(beginning)]
    return {"evaluations": [dict(row) | {"what": _cell(row["what"]).removeprefix(beginning)} for row in rows]}


def data_lines(card: Mapping[str, object]) -> list[str]:
    """What it was trained and measured on, with licences: one line of Markdown for each set of data."""
    return [_data_line(row) for row in _records(card, "data")]


def _data_line(row: Mapping[str, object]) -> str:
    name, use, licence = (markdown_text(_cell(row.get(field))) for field in ("name", "use", "licence"))
    source = _cell(row.get("source"))
    shown = f"<{source}>" if WEB_ADDRESS.fullmatch(source) else markdown_text(source)
    parts = {"Used for": use, "Licence": licence, "Source": shown}
    return "  \n".join([f"**{name}**", *(f"{title}: {part}" for title, part in parts.items() if part)])


def training_facts(card: Mapping[str, object]) -> dict[str, str]:
    """How it was trained, but for the command: name and value, both text."""
    training = card.get("training")
    found = training if isinstance(training, Mapping) else {}
    facts = {name: written(found[name]) for name in TRAINING_FACTS if found.get(name) not in (None, "", {}, [])}
    if isinstance(found.get("seconds"), int | float):
        facts["time"] = duration(float(found["seconds"]))
        del facts["seconds"]
    return facts


def limits(card: Mapping[str, object]) -> list[str]:
    """What the checkpoint cannot do."""
    found = card.get("limits")
    return [written(limit) for limit in found] if isinstance(found, Sequence) and not isinstance(found, str) else []


def text_of(card: Mapping[str, object], *path: str) -> str:
    """The text at a place in the card, "" where there is none."""
    place: object = card
    for name in path:
        place = place.get(name) if isinstance(place, Mapping) else None
    return "" if place is None else written(place)


def written(value: object) -> str:
    """A value of the card as one text."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {written(part)}" for name, part in value.items())
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)


def duration(seconds: float) -> str:
    """ "1 h 12 min", "6 min", "40 s"."""
    minutes = round(seconds / 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min" if seconds >= 60 else f"{seconds:.0f} s"


def size(count: int) -> str:
    """ "2.4 million" for a number of parameters, exact below a million."""
    return f"{count / 1e6:.2f} million" if count >= 1_000_000 else f"{count:,}"


def megabytes(count: int) -> str:
    """ "9.6 MB"."""
    return f"{count / 1e6:.1f} MB"


def _records(card: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    found = card.get(name)
    listed = found if isinstance(found, list | tuple) else []
    return [record for record in listed if isinstance(record, Mapping)]


def _result(row: Mapping[str, object]) -> str:
    value, unit = row.get("value"), str(row.get("unit") or "")
    number = f"{value:.6g}" if isinstance(value, float) else "" if value is None else written(value)
    return f"{number} {unit}".strip()


def _columns(rows: Sequence[Mapping[str, object]], names: Mapping[str, str]) -> dict[str, list[str]]:
    cells = {title: [_cell(row.get(field)) for row in rows] for field, title in names.items()}
    return {title: column for title, column in cells.items() if any(column)}


def _cell(value: object) -> str:
    return "" if value is None else written(value)
