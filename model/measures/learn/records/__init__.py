"""What was recorded for the page Learn: JSON files beside this one, each with the command that writes it anew."""

import json
from pathlib import Path
from typing import Any

RECORDS = Path(__file__).resolve().parent


def read(name: str) -> dict[str, Any]:
    """The record of a name."""
    return json.loads((RECORDS / f"{name}.json").read_text(encoding="utf-8"))


def write(path: Path, record: dict[str, Any]) -> None:
    """Write a record where ``read`` looks for it, or elsewhere."""
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
