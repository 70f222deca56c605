"""An edited run beside the original as the few lines of Python that make both again."""

from pathlib import Path

from model import Edits
from viz.export.loading_code import loading_code, loading_import
from viz.export.package_check import package_check
from viz.export.provenance import Provenance, comment
from viz.export.trace_code import Target, trace_code

SCRIPT = '''\
"""An edited run of Headlight beside the original."""

{facts}{check}{path}from model import {names}
from model.measures.comparison import stream_distances

{loading}
edits = {edits}
{before}
{after}

for name in ("encoder", "decoder"):
    first, second = getattr(before, name), getattr(after, name)
    if first is not None:
        moved = stream_distances([b.stream_out for b in first.blocks], [b.stream_out for b in second.blocks])
        for layer, distance in enumerate(moved):
            print(f"{{name}}, layer {{layer}}: the stream moved by {{distance:.6f}} of its length")
{prediction}'''
SAME_TARGET = """\
# Both runs read the decoder text that the original one {did}:
after = checkpoint.trace_again(before, edits)"""
PREDICTION = """
for trace in (before, after):
    print(checkpoint.probabilities(trace))
"""


def edited_script(
    checkpoint: str | Path,
    text: str,
    edits: Edits,
    target: Target | None = None,
    provenance: Provenance | None = None,
    /,
    *,
    pair: str = "",
    writes: bool = False,
    labels: bool = False,
) -> str:
    """A script that traces the text twice and prints how far every layer's stream moved.

    checkpoint: as in ``loading_code``.
    writes: the model is an encoder–decoder, whose decoder reads what the original run wrote. labels: it has classes,
    whose probabilities are printed too. target: what such a decoder reads where it is not the greedy text.
    """
    after = trace_code(text, ", edits=edits", pair=pair, name="after")
    if writes or target is not None:
        after = SAME_TARGET.format(did="wrote" if target is None else "read")
    return SCRIPT.format(
        names=", ".join([*edits.class_names(), "load_checkpoint"]),
        path=loading_import(checkpoint),
        loading=loading_code(checkpoint),
        edits=repr(edits),
        facts=comment(provenance),
        check=package_check("model"),
        before=trace_code(text, pair=pair, target=target, name="before"),
        after=after,
        prediction=PREDICTION if labels else "",
    )
