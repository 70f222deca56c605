"""A continued text as the few lines of Python that write it again."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from model import Edits
from viz.export.loading_code import loading_code, loading_import
from viz.export.package_check import package_check
from viz.export.provenance import Provenance, comment

SCRIPT = '''\
"""A text that Headlight continued, written again."""

{facts}{check}{path}from model import {names}

{loading}
text = {text!r}
options = {options!r}{edits}
chosen = {chosen!r}  # by hand, or by other settings: the place among the written tokens, from 0, and the token
count = {count}

written = []
while len(written) < count:
    if len(written) in chosen:
        written.append(chosen[len(written)])
    else:
        stop = min([place for place in chosen if place > len(written)], default=count)
        part = checkpoint.generate(text, max_tokens=stop - len(written), written=written, **options)
        written += part.token_ids

print(text + checkpoint.tokenizer.decode(written))
print(written)
'''


def written_script(
    checkpoint: str | Path,
    text: str,
    written: Sequence[int],
    chosen: Mapping[int, int],
    options: Mapping[str, object],
    edits: Edits,
    *,
    provenance: Provenance | None = None,
) -> str:
    """A script that prints the continued text and the ids of what was written.

    checkpoint: as in ``loading_code``.
    chosen: the tokens that the options would not have taken, by their place. options: of ``Checkpoint.generate``.
    """
    changed = edits != Edits()
    return SCRIPT.format(
        names=", ".join([*(edits.class_names() if changed else []), "load_checkpoint"]),
        facts=comment(provenance),
        check=package_check("model"),
        path=loading_import(checkpoint),
        loading=loading_code(checkpoint),
        text=text,
        options=dict(options),
        edits=f'\noptions["edits"] = {edits!r}' if changed else "",
        chosen=dict(chosen),
        count=len(written),
    )
