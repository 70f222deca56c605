"""An edited run beside the original as the few lines of Python that make both again."""

from model import Edits

SCRIPT = '''\
"""Save this in the folder of Headlight and run it from there, or in a notebook there."""

from model import {names}
from model.measures.comparison import stream_distances

checkpoint = load_checkpoint({checkpoint!r})
edits = {edits}
before = checkpoint.trace({text!r}{pair})
{after}

for name in ("encoder", "decoder"):
    first, second = getattr(before, name), getattr(after, name)
    if first is not None:
        moved = stream_distances([b.stream_out for b in first.blocks], [b.stream_out for b in second.blocks])
        for layer, distance in enumerate(moved):
            print(f"{{name}}, layer {{layer}}: the stream moved by {{distance:.6f}} of its length")
{prediction}'''
SAME_TEXT = "after = checkpoint.trace({text!r}{pair}, edits=edits)"
SAME_TARGET = """\
# Both runs read the decoder text that the original one wrote:
after = checkpoint.trace_ids(before.encoder.ids.tolist(), before.decoder.ids.tolist(), edits=edits)"""
PREDICTION = """
for trace in (before, after):
    print(checkpoint.probabilities(trace))
"""


def edited_script(
    checkpoint: str, text: str, edits: Edits, *, pair: str = "", writes: bool = False, labels: bool = False
) -> str:
    """A script that traces the text twice and prints how far every layer's stream moved.

    writes: the model is an encoder–decoder, whose decoder reads what the original run wrote. labels: it has classes,
    whose probabilities are printed too.
    """
    fields = {"text": text, "pair": f", pair={pair!r}" if pair else ""}
    return SCRIPT.format(
        names=", ".join([*edits.class_names(), "load_checkpoint"]),
        checkpoint=checkpoint,
        edits=repr(edits),
        after=SAME_TARGET if writes else SAME_TEXT.format(**fields),
        prediction=PREDICTION if labels else "",
        **fields,
    )
