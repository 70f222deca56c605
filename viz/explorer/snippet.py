"""A view of the explorer as the few lines of Python that make it again."""

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from model import Edits
from viz.explorer.view import View
from viz.export.loading_code import loading_code
from viz.export.package_check import package_check
from viz.export.provenance import Provenance, comment
from viz.export.trace_code import Target, trace_code

SCRIPT = '''\
"""A view of Headlight, as a web page and in a notebook."""

{facts}{check}from pathlib import Path

from model import {names}
from viz.explorer import View, html_page, show

{loading}
{trace}
view = View({view})

# As a web page of its own, which needs no network:
Path("attention.html").write_text(html_page(trace, view), encoding="utf-8")

# In a notebook:
show(trace, view)
'''


def snippet(
    checkpoint: str | Path,
    text: str,
    view: View,
    edits: Edits,
    *,
    pair: str = "",
    target: Target | None = None,
    written: Sequence[int] | None = None,
    provenance: Provenance | None = None,
) -> str:
    """A script that loads the checkpoint, traces the text (and its pair) and shows the view of it.

    checkpoint: as in ``loading_code``. target, written: what the decoder read besides, as in ``trace_code``.
    """
    changed = edits != Edits()
    names = [*(edits.class_names() if changed else []), "load_checkpoint"]
    return SCRIPT.format(
        names=", ".join(names),
        loading=loading_code(checkpoint),
        facts=comment(provenance),
        check=package_check("model", "viz"),
        trace=trace_code(text, f", edits={edits!r}" if changed else "", pair=pair, target=target, written=written),
        view=settings(view),
    )


def settings(view: View) -> str:
    """The fields of a view that are not as they are by default."""
    plain = View()
    changed = {field.name: getattr(view, field.name) for field in fields(View)}
    changed = {name: value for name, value in changed.items() if value != getattr(plain, name)}
    return ", ".join(f"{name}={set_of(value) if name == 'off' else repr(value)}" for name, value in changed.items())


def set_of(values: frozenset) -> str:
    """A set in an order that does not change from one run to the next."""
    return f"frozenset([{', '.join(map(repr, sorted(values)))}])"
