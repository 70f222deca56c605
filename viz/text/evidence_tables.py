"""What was checked, as a sentence, tables and a file; and the checks of what viz itself makes of a trace."""

import io
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from model import Trace
from model.measures.evidence import Check, CheckResult, Comparison, Skipped, gather
from viz.charts.head_statistics import TITLES
from viz.explorer.attention_kinds import Kind, kinds_of
from viz.explorer.packing import pack, pack_layer, unpack, unpack_layer
from viz.export.data_files import csv_file, trace_npz
from viz.export.provenance import Provenance, facts_of
from viz.tokens import counted, markdown_text

GROUPS = {
    "attention": "Attention",
    "stream": "The stream, layer by layer",
    "positions": "Positions and what enters",
    "prediction": "Prediction",
    "pictures": "Pictures and files",
}
PICTURES = (
    Check(
        name="bytes",
        group="pictures",
        quantity="weights in the picture, marked “≈”",
        screen="Explore: every view",
        reference="the weights of the pass, after packing, as the browser unpacks them",
        absolute=0.004,
        relative=0.0,
    ),
    Check(
        name="file",
        group="pictures",
        quantity="weights in the file",
        screen="Explore: Download, All weights (NPZ)",
        reference="the weights of the pass, after reading the file back: the same to the last bit",
        absolute=0.0,
        relative=0.0,
    ),
)
LARGEST_FILE = 16_000_000  # bytes of weights: to compress more takes longer than all other checks
TOO_LARGE = "Packing so many weights takes too long for this page. A shorter text is checked."
RESULTS = {True: "✓ agrees", False: "✗ differs", None: "does not apply"}
NARROWEST = {"Result": 8, "Quantity": 12, "Compared with": 20, "On the screen": 14}  # characters of a line
LONGEST_LINE = 28
PAGES = {"Explore": "explore", "Inside a head": "inside", "Positions": "positions", "Break the formula": "break"}
SHORTEST_PLACE = 15
NO_BREAK, NO_BREAK_HYPHEN, MAY_BREAK = "\u00a0", "\u2011", "\u200b"
FROM_ONE = ("layer", "head", "key-value head", "query", "key", "position")
SAID = {"position": "token"}
NAMES: Mapping[str, Mapping[str, str]] = {
    "stack": {"cross": "cross-attention"},
    "attention": {"self": "self-attention", "cross": "cross-attention"},
    "statistic": TITLES,
}


def picture_findings(trace: Trace) -> list[CheckResult]:
    """What the explorer's bytes and the downloaded file hold, against the trace."""
    kinds = kinds_of(trace)
    return gather(PICTURES, [*in_bytes(kinds), *in_file(trace, kinds)])


def in_bytes(kinds: Mapping[str, Kind]) -> Iterator[Comparison]:
    """Every layer as the browser gets it."""
    packed = unpack(pack(kinds))
    entries = {entry["name"]: entry for entry in packed.header["kinds"]}
    for name, kind in kinds.items():
        for layer, weights in enumerate(kind.weights):
            sent = packed.layers.get((name, layer))
            sent = unpack_layer(pack_layer(kind, layer), entries[name]) if sent is None else sent
            place: dict[str, str | int] = {"stack": name, "layer": layer}
            yield Comparison(check="bytes", ours=sent, expected=weights, place=place, axes=("head", "query", "key"))


def in_file(trace: Trace, kinds: Mapping[str, Kind]) -> Iterator[Comparison | Skipped]:
    """All weights as they are downloaded."""
    if sum(weights.nbytes for kind in kinds.values() for weights in kind.weights) > LARGEST_FILE:
        yield Skipped(check="file", reason=TOO_LARGE)
        return
    with np.load(io.BytesIO(trace_npz(trace))) as file:
        for name, kind in kinds.items():
            axes = ("layer", "head", "query", "key")
            expected = np.stack(kind.weights)
            yield Comparison(
                check="file", ours=file[f"{name}_weights"], expected=expected, place={"stack": name}, axes=axes
            )


def title(findings: Sequence[CheckResult]) -> str:
    """What was found, as a line: how many numbers agree, or how many checks fail."""
    checked = [finding for finding in findings if finding.passed is not None]
    wrong = sum(not finding.passed for finding in checked)
    if wrong:
        return f"{wrong} of {len(checked)} checks {'differs' if wrong == 1 else 'differ'} from the reference."
    return f"All {sum(finding.count for finding in checked):,} compared numbers agree with their references."


def sentence(findings: Sequence[CheckResult]) -> str:
    """How many checks agree, and which comes nearest to what is allowed; in Markdown."""
    checked = [finding for finding in findings if finding.passed is not None]
    wrong = [finding for finding in checked if not finding.passed]
    agree = f"**{len(checked) - len(wrong)} of {len(checked)} checks agree**"
    if wrong:
        names = ", ".join(markdown_text(finding.check.quantity) for finding in wrong)
        return f"{agree}; **{len(wrong)} do not: {names}**. The rows below say where.{left_out(findings)}"
    worst = max(checked, key=lambda finding: finding.share)
    return (
        f"{agree}, on {sum(finding.count for finding in checked):,} numbers. The check that is nearest to its limit, "
        f"{markdown_text(worst.check.quantity)}, differs by at most {worst.difference:.2g}; {worst.allowed:.2g} is "
        f"allowed.{left_out(findings)}"
    )


def left_out(findings: Sequence[CheckResult]) -> str:
    """How many checks say nothing here."""
    count = sum(finding.passed is None for finding in findings)
    return f" {counted_checks(count)} not apply to this model or text; each row says why." if count else ""


def counted_checks(count: int) -> str:
    """ "One check does", "5 checks do"."""
    return "One check does" if count == 1 else f"{count} checks do"


def table(findings: Sequence[CheckResult], address: str = "") -> dict[str, list[str]]:
    """The rows of one group, in Markdown; numbers with all digits, so that they can be copied.

    ``address`` is what a link to another page carries, as "text=A+dog".
    """
    rows = [row(finding) for finding in findings]
    columns = {name: [unbroken(markdown_text(one[name]), NARROWEST.get(name, 0)) for one in rows] for name in rows[0]}
    columns["At"] = [place_lines(one["At"]) for one in rows]
    return columns | {"On the screen": [page_links_text(finding.check.screen, address) for finding in findings]}


def place_lines(place: str) -> str:
    """A place that breaks at its commas alone, and not at all of them."""
    parts = (markdown_text(part).replace(" ", NO_BREAK).replace("\\-", NO_BREAK_HYPHEN) for part in place.split(", "))
    return unbroken(", ".join(parts), SHORTEST_PLACE)


def page_links_text(screen: str, address: str) -> str:
    """The places on the screen, each leading to its page."""
    places = []
    for place in screen.split("; "):
        stem, words = PAGES.get(place.split(":")[0]), unbroken(markdown_text(place), NARROWEST["On the screen"])
        places.append(f"[{words}]({stem}{'?' if address else ''}{address})" if stem else words)
    return "; ".join(places)


def unbroken(text: str, least: int) -> str:
    """The text with spaces that do not break where a line would be shorter than so many characters.

    On a narrow screen a table would otherwise give every column the width of its longest word. A long word stands on a
    line of its own and breaks after "_", or all columns would be as wide as the table has no room for.
    """
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and (len(lines[-1]) >= least or len(lines[-1]) + len(word) > LONGEST_LINE):
            lines.append("")
        lines[-1] += f"{NO_BREAK if lines[-1] else ''}{word}"
    return " ".join(lines).replace("\\_", f"\\_{MAY_BREAK}")


def row(finding: CheckResult) -> dict[str, str]:
    """One finding in words."""
    check = finding.check
    compared = finding.passed is not None and finding.count > 0
    return {
        "Result": RESULTS[finding.passed],
        "Quantity": check.quantity,
        "Largest difference": f"{finding.difference:.2g}" if compared else "",
        "Allowed": f"{finding.allowed:.2g}" if compared else "",
        "Ours": exactly(finding.ours) if compared else "",
        "Reference": exactly(finding.expected) if compared else "",
        "At": where(finding) if compared else "",
        "Compared with": finding.reason or compared_with(finding),
        "Numbers": f"{finding.count:,}" if finding.count else "",
        "On the screen": check.screen,
    }


def compared_with(finding: CheckResult) -> str:
    """The reference, and what it was computed for where that is not everything."""
    only = f"; only for {' and '.join(finding.parts)}" if finding.parts else ""
    return f"{finding.check.reference}{only}"


def exactly(number: float) -> str:
    """All digits that tell it from every other number."""
    return repr(float(number))


def where(finding: CheckResult) -> str:
    """ "encoder, layer 2, self-attention, head 3, query 5, key 1": tokens, layers, heads from 1, the rest from 0."""
    return ", ".join(place_part(name, value) for name, value in finding.place)


def place_part(name: str, value: str | int) -> str:
    """One part of a place in words."""
    if name in NAMES:
        return NAMES[name].get(str(value), str(value))
    number = counted(value) if name in FROM_ONE and isinstance(value, int) else str(value)
    return f"{SAID.get(name, name)} {number}"


def findings_csv(findings: Sequence[CheckResult], *, provenance: Provenance | None = None) -> bytes:
    """One line for every check, numbers in full, places from 0; as ``export.csv_file`` writes them."""
    header = [
        "group", "check", "quantity", "on_the_screen", "result", "ours", "reference", "largest_difference", "allowed",
        "absolute_tolerance", "relative_tolerance", "numbers_compared", "place", "compared_with", "reason",
    ]  # fmt: skip
    return csv_file([header], map(csv_row, findings), facts=facts_of(provenance))


def csv_row(finding: CheckResult) -> tuple[object, ...]:
    check, numbers = finding.check, ("", "", "", "")
    if finding.passed is not None:
        four = (finding.ours, finding.expected, finding.difference, finding.allowed)
        numbers = tuple(map(exactly, four))  # type: ignore[assignment]  # four of them, too
    place = " ".join(f"{name}={value}" for name, value in finding.place)
    result = {True: "agrees", False: "differs", None: "does not apply"}[finding.passed]
    words = (check.group, check.name, check.quantity, check.screen, result)
    bounds = (check.absolute, check.relative, finding.count, place, compared_with(finding), finding.reason)
    return (*words, *numbers, *bounds)
