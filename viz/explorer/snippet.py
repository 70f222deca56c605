"""A view of the explorer as the few lines of Python that make it again."""

from dataclasses import fields

from model import Edits
from viz.explorer.view import View

SCRIPT = '''\
"""Save this in the folder of Headlight and run it from there, or in a notebook there."""

from pathlib import Path

from model import {names}
from viz.explorer import View, html_page, show

checkpoint = load_checkpoint({checkpoint!r})
trace = checkpoint.trace({text!r}{pair}{edits})
view = View({view})

# As a web page of its own, which needs no network:
Path("attention.html").write_text(html_page(trace, view), encoding="utf-8")

# In a notebook:
show(trace, view)
'''


def snippet(checkpoint: str, text: str, view: View, edits: Edits, *, pair: str = "") -> str:
    """A script that loads the checkpoint of this name, traces the text (and its pair) and shows the view of it."""
    changed = edits != Edits()
    names = [*(edits.class_names() if changed else []), "load_checkpoint"]
    return SCRIPT.format(
        names=", ".join(names),
        checkpoint=checkpoint,
        text=text,
        pair=f", pair={pair!r}" if pair else "",
        edits=f", edits={edits!r}" if changed else "",
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
