"""The formula as the browser draws it: every part that can be taken out a switch, with what that does beside it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from viz.formula.notation import OF_STACK, EquationGroup, FormulaTerm, Line


@dataclass(frozen=True, kw_only=True)
class Switch:
    """A part that can be pressed. result: what its absence does, "93.9 → 90.2 %"; "" while that is not known."""

    result: str = ""
    chosen: bool = False  # pressed: what is shown below
    shown: bool = False  # what is shown below though nothing is pressed
    out: bool = False  # struck through: it is left out of the run that is shown
    most: bool = False  # no other part matters more


def with_switches(groups: Sequence[EquationGroup], switches: Mapping[str, Switch]) -> list[dict[str, Any]]:
    """The groups as JSON. A part is a switch where it first stands, and struck through wherever it does.

    switches: by part; a part without one is only read.
    """
    seen: set[str] = set()
    return [
        {
            "words": group.words,
            "lines": [
                {"words": line.words, "terms": joined(terms_drawn(line, switches, seen))} for line in group.lines
            ],
        }
        for group in groups
    ]


def with_step(groups: Sequence[EquationGroup], attention: str, step: str) -> list[dict[str, Any]]:
    """The formula on the way to a weight of one attention, as JSON: the terms that a step computes are marked.

    Of two stacks, the one in which the attention stands; the last norm of an encoder is no part of it then.
    """
    stack = OF_STACK[attention][0]
    if step == "last-norm" and stack == "encoder" and any(group.stack == "decoder" for group in groups):
        step = ""
    return [
        {
            "words": group.words,
            "lines": [
                {"words": line.words, "terms": joined(term_marked(term, step) for term in line.terms)}
                for line in group.lines
                if line.attention in ("", attention)
            ],
        }
        for group in groups
        if group.stack in ("", stack)
    ]


def has_step(groups: Sequence[Mapping[str, Any]]) -> bool:
    """Whether any term is marked: a step that a model leaves out has none."""
    return any("present" in term for group in groups for line in group["lines"] for term in line["terms"])


def term_marked(term: FormulaTerm, step: str) -> dict[str, Any]:
    """One term, to be read alone."""
    return {"notation": term.notation} | ({"present": True} if step in term.steps else {})


def terms_drawn(line: Line, switches: Mapping[str, Switch], seen: set[str]) -> Iterator[dict[str, Any]]:
    """Each term of an equation; ``seen`` are the parts that are switches already."""
    for term in line.terms:
        switch = switches.get(term.part) if term.part else None
        entry: dict[str, Any] = {"notation": term.notation}
        if switch is not None and term.part not in seen:
            seen.add(term.part)
            entry |= {"name": term.name, "part": term.part, "result": switch.result}
            entry |= {"chosen": switch.chosen, "shown": switch.shown, "most": switch.most}
        if switch is not None and switch.out:
            entry["out"] = True
        yield entry


def joined(terms: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same with neighbours that are only read as one, so that they wrap and are spaced as text."""
    pieces: list[dict[str, Any]] = []
    for term in terms:
        if pieces and term.keys() == pieces[-1].keys() and term.keys() <= {"notation", "out", "present"}:
            before, after = pieces[-1]["notation"], term["notation"]
            close = before.endswith(("(", "[")) or after.startswith((")", "]", ",", "(", "_"))
            pieces[-1]["notation"] = before + after if close else f"{before} {after}"
        else:
            pieces.append(dict(term))
    return pieces
