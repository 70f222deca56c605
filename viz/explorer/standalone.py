"""The explorer as one file of its own, which needs no network, and in a notebook."""

import base64
import html
import json
from collections.abc import Mapping
from dataclasses import dataclass

from model.trace import Trace
from viz.explorer import source
from viz.explorer.attention_kinds import Kind, kinds_of
from viz.explorer.packing import pack
from viz.explorer.view import View
from viz.export.provenance import PROGRAM, Provenance
from viz.theme import DARK, FONT, LIGHT, Theme

UNLIMITED = 1 << 40  # bytes: a file holds every layer
NOTEBOOK_HEIGHT = 900  # pixels
TITLE = "Attention"
LINE = "margin: 16px 0 0; font: 13px var(--st-font); color: var(--st-text-color); overflow-wrap: anywhere"


def html_page(trace: Trace, view: View | None = None, *, title: str = "", provenance: Provenance | None = None) -> str:
    """A web page of the explorer with every layer and head in it: views, hovering and switches work from the file.

    ``view`` is what it opens with; by default the first kind of attention that the trace has. Nothing in the page is
    fetched from anywhere, and tokens are in it as data only. provenance: a line under the explorer says it, the page's
    metadata have its facts, as "headlight:text", and it is the title where none is given.
    """
    return page_of(kinds_of(trace), view, title=title, provenance=provenance)


def page_of(
    kinds: Mapping[str, Kind], view: View | None = None, *, title: str = "", provenance: Provenance | None = None
) -> str:
    """The same for weights that come from elsewhere than a trace."""
    opening = view if view is not None and view.attention in kinds else View(attention=next(iter(kinds)))
    title = title or (TITLE if provenance is None else provenance.title())
    packed = base64.b64encode(pack(kinds, limit=UNLIMITED)).decode("ascii")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>{html.escape(title)}</title>
{metadata(provenance)}<style>
{variables(LIGHT)}
@media (prefers-color-scheme: dark) {{ {variables(DARK)} }}
body {{ margin: 16px; background: var(--st-background-color); }}
{source.styles()}
</style>
</head>
<body>
{source.MARKUP}
{line(provenance)}<script type="application/json" id="view">{for_script(opening.to_message())}</script>
<script type="text/plain" id="packed">{packed}</script>
<script type="module">
{source.script("standalone")}
</script>
</body>
</html>
"""


# Whatever a token says, the file asks nothing of anybody.
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"


def metadata(provenance: Provenance | None) -> str:
    """The facts as elements of a page's head; nothing where there are none."""
    if provenance is None:
        return ""
    named = {"description": provenance.sentence(), "generator": PROGRAM}
    named |= {f"headlight:{name}": fact for name, fact in provenance.facts(1).items()}
    return "".join(f'<meta name="{name}" content="{attribute(text)}">\n' for name, text in named.items())


def attribute(text: str) -> str:
    """The text in an attribute; a carriage return as its number, since a browser would take it for another line end."""
    return html.escape(text).replace("\r", "&#13;")


def line(provenance: Provenance | None) -> str:
    """The facts as a caption under the explorer."""
    return "" if provenance is None else f'<p style="{LINE}">{html.escape(provenance.sentence())}</p>\n'


def for_script(message: object) -> str:
    """JSON that cannot end the element that it stands in."""
    return json.dumps(message).replace("<", "\\u003c")


def variables(theme: Theme) -> str:
    """Streamlit's colour variables, for a page without Streamlit."""
    names = {"background": theme.background, "secondary-background": theme.surface, "text": theme.text}
    colours = {f"{name}-color": colour for name, colour in names.items()}
    colours |= {"border-color": theme.grid, "link-color": theme.accent, "primary-color": theme.accent, "font": FONT}
    return ":root { " + " ".join(f"--st-{name}: {value};" for name, value in colours.items()) + " }"


@dataclass(frozen=True)
class InlineHtml:
    """The explorer in a notebook: Jupyter renders it where it is the value of a cell."""

    page: str

    def _repr_html_(self) -> str:
        """The page in a frame, since its styles are its own."""
        frame = f'width="100%" height="{NOTEBOOK_HEIGHT}" style="border: 0" sandbox="allow-scripts"'
        return f'<iframe srcdoc="{html.escape(self.page)}" {frame}></iframe>'


def show(trace: Trace, view: View | None = None) -> InlineHtml:
    """Every head of every layer, in the cell of a notebook."""
    return InlineHtml(html_page(trace, view))
