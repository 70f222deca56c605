"""What can be taken away of the view on the screen; each file is computed when it is asked for."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from pages.parts.computed import checkpoint_named, reads_pairs
from pages.parts.exploring import traced
from pages.parts.passes import edits_of
from pages.parts.state.selection import Selection
from pages.parts.theme import theme
from viz import export
from viz.explorer import html_page
from viz.explorer.picture import svg
from viz.explorer.printing import pdf, png
from viz.explorer.snippet import snippet
from viz.theme import LIGHT, Theme

Maker = Callable[[Selection], bytes | str]
NPZ_HELP = "Every layer and head of every attention as float32, with tokens and ids, for numpy.load. Indices from 0."
CSV_HELP = "The heads that are on, of the layer on the screen: a line for every query and key. Indices from 0."
JSON_HELP = "The same numbers, with the settings of the view."
HTML_HELP = (
    "A page of its own with every head of every layer, which works without a network: views, hovering, switches."
)
PYTHON_HELP = "The few lines that make this trace and this view again."
PICTURE_HELP = "The view as it is on the screen, for print."
FONTS_HELP = " Its letters come from the server's fonts: a box stands for one that they lack; the SVG has all of them."


def downloads(selection: Selection, *, any_head: bool) -> None:
    """A list of files: pictures of the view, a page of its own, numbers, a script."""
    colours = theme()
    with st.popover("Download"):
        for label, name, make, explained in pictures(colours):
            button(label, name, partial(make, selection), explained)
        button("Web page (HTML)", "attention.html", partial(page, selection), HTML_HELP)
        button("All weights (NPZ)", "attention.npz", partial(npz, selection), NPZ_HELP)
        button("This view (CSV)", "attention.csv", partial(csv, selection), CSV_HELP, disabled=not any_head)
        button("This view (JSON)", "attention.json", partial(json, selection), JSON_HELP, disabled=not any_head)
        button("As Python", "attention.py", partial(script, selection), PYTHON_HELP)


def button(label: str, name: str, make: Callable[[], bytes | str], explained: str, *, disabled: bool = False) -> None:
    """One file; the page does not run again for it."""
    st.download_button(label, make, name, on_click="ignore", help=explained, disabled=disabled, width="stretch")


def pictures(theme: Theme) -> list[tuple[str, str, Maker, str]]:
    """SVG and PNG in the colours of the page; PDF on white, for paper."""
    return [
        ("Picture (SVG)", "attention.svg", lambda selection: picture(selection, theme), PICTURE_HELP),
        ("Picture (PDF)", "attention.pdf", lambda selection: pdf(picture(selection, LIGHT)), PICTURE_HELP + FONTS_HELP),
        ("Picture (PNG)", "attention.png", lambda selection: png(picture(selection, theme)), PICTURE_HELP + FONTS_HELP),
    ]


def picture(selection: Selection, theme: Theme) -> str:
    """The view as SVG."""
    _, kinds = traced(selection, checkpoint_named(selection.checkpoint))
    return svg(kinds, selection.view, theme=theme)


def page(selection: Selection) -> str:
    """The explorer in a file."""
    trace, _ = traced(selection, checkpoint_named(selection.checkpoint))
    return html_page(trace, selection.view, title=f"Attention: {selection.checkpoint}")


def npz(selection: Selection) -> bytes:
    """The pass on the screen; muted heads are listed in the file."""
    checkpoint = checkpoint_named(selection.checkpoint)
    trace, _ = traced(selection, checkpoint)
    return export.trace_npz(trace, edits=edits_of(selection, checkpoint))


def csv(selection: Selection) -> bytes:
    """The numbers of the view as a table."""
    _, kinds = traced(selection, checkpoint_named(selection.checkpoint))
    return export.selection_csv(kinds[selection.view.attention], selection.view)


def json(selection: Selection) -> bytes:
    """The numbers of the view with what is known of it."""
    _, kinds = traced(selection, checkpoint_named(selection.checkpoint))
    return export.selection_json(kinds[selection.view.attention], selection.view)


def script(selection: Selection) -> str:
    """The view as Python."""
    checkpoint = checkpoint_named(selection.checkpoint)
    pair = selection.pair if reads_pairs(selection.checkpoint) else ""
    return snippet(selection.checkpoint, selection.text, selection.view, edits_of(selection, checkpoint), pair=pair)
