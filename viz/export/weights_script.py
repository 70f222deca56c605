"""A text with overwritten weights beside the same without, as a script that asserts the figures of the page."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from model import Edits
from viz.export.edited_script import SAME_TARGET
from viz.export.loading_code import loading_code, loading_import
from viz.export.package_check import package_check
from viz.export.provenance import Provenance, comment
from viz.export.trace_code import Target, trace_code

TOLERANCE = 1e-4  # another machine adds in another order
SCRIPT = '''\
"""A text read by Headlight with some weights overwritten, beside the same without; the figures are asserted."""

{facts}{check}{path}from model import {names}
from model.measures.comparison import stream_distances
from model.measures.outcome import outcome_of, outcome_value

{loading}
others = {others}
edits = {edits}
{before}
{after}

outcome = outcome_of(checkpoint, before)
stacks = [(getattr(before, name), getattr(after, name)) for name in ("encoder", "decoder")]
moved = [
    distance
    for first, second in stacks
    if first is not None
    for distance in stream_distances([b.stream_out for b in first.blocks], [b.stream_out for b in second.blocks])
]
found = [outcome_value(outcome, before, before), outcome_value(outcome, before, after), *moved]
expected = {expected}
layers = [f"layer {{layer}} of all stacks: the stream moved" for layer in range(len(moved))]
names = ["the answer before", "the answer after", *layers]
for name, number, figure in zip(names, found, expected, strict=True):
    print(f"{{name}}: {{number:.6f}}")
    assert abs(number - figure) < {tolerance}, f"{{name}}: {{number}}, the page had {{figure}}"
'''


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What the page showed: ``outcome_value`` before and after, and how far the stream of every layer moved."""

    before: float
    after: float
    moved: Sequence[float]

    def numbers(self) -> list[float]:
        """All of them, in the order of the script."""
        return [float(number) for number in (self.before, self.after, *self.moved)]


def weights_script(
    checkpoint: str | Path,
    text: str,
    edits: Edits,
    others: Edits,
    figures: Figures,
    *,
    pair: str = "",
    target: Target | None = None,
    writes: bool = False,
    provenance: Provenance | None = None,
) -> str:
    """A script that traces the text with ``others`` and with ``edits``, and asserts the page's figures.

    checkpoint: as in ``loading_code``. writes: an encoder–decoder, whose second pass reads what the first one read.
    target: what its decoder reads where it is not the greedy text.
    """
    before = trace_code(text, ", edits=others", pair=pair, target=target, name="before")
    after = trace_code(text, ", edits=edits", pair=pair, name="after")
    if writes:
        after = SAME_TARGET.format(did="wrote" if target is None else "read")
    return SCRIPT.format(
        names=", ".join([*sorted({*edits.class_names(), *others.class_names()}), "load_checkpoint"]),
        path=loading_import(checkpoint),
        loading=loading_code(checkpoint),
        edits=repr(edits),
        others=repr(others),
        expected=figures.numbers(),
        tolerance=TOLERANCE,
        facts=comment(provenance),
        check=package_check("model"),
        before=before,
        after=after,
    )
