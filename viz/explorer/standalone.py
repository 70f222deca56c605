"""The explorer as one file of its own, which needs no network, and in a notebook."""

import base64
import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from model.loading.attention_arrays import AttentionArrays, attention_of
from model.trace import Trace
from viz.explorer import source
from viz.explorer.attention_kinds import Kind, kinds_of, kinds_of_arrays
from viz.explorer.head_measures import NO_MEASURES, HeadMeasure
from viz.explorer.packing import pack
from viz.explorer.view import View
from viz.export.provenance import PROGRAM, Provenance
from viz.theme import DARK, FONT, LIGHT, Theme

UNLIMITED = 1 << 40  # bytes: a file holds every layer
NOTEBOOK_HEIGHT = 900  # pixels
TITLE = "Attention"
LINE = "margin: 16px 0 0; font: 13px var(--st-font); color: var(--st-text-color); overflow-wrap: anywhere"


def html_page(
    attention: Any,
    tokens: Sequence[str] | View | None = None,
    keys: Sequence[str] | None = None,
    *,
    view: View | None = None,
    title: str = "",
    provenance: Provenance | None = None,
) -> str:
    """A web page of the explorer with every layer and head in it: views, hovering and switches work from the file.

        html_page(trace)                        a trace
        html_page(trace, View(layer=2))         the view that it opens with; by default of the trace's first attention
        html_page(weights, tokens)              attention of another program: (layer, head, query, key), or one array a
                                                layer, as output_attentions of transformers gives them
        html_page(weights, tokens, keys)        where the keys are other tokens than the queries: cross-attention
        html_page(read_attention("file.npz"))   what model.loading.attention_arrays read

    Nothing in the page is fetched from anywhere, and tokens are in it as data only. provenance: a line under the
    explorer says it, the page's metadata have its facts, as "headlight:text", and it is the title where none is given.
    InputError for arrays that cannot be the weights of an attention.
    """
    opening = tokens if isinstance(tokens, View) else view
    return page_of(kinds_in(attention, tokens, keys), opening, title=title, provenance=provenance)


def kinds_in(attention: Any, tokens: Sequence[str] | View | None, keys: Sequence[str] | None) -> dict[str, Kind]:
    """The kinds of attention of a trace, of what was read from a file, or of weights with their tokens."""
    if isinstance(attention, Trace):
        return kinds_of(attention)
    if isinstance(attention, AttentionArrays):
        return kinds_of_arrays(attention)
    if tokens is None or isinstance(tokens, View):
        raise TypeError("show(weights, tokens): the tokens are missing")
    return kinds_of_arrays(attention_of(attention, tokens, keys))


def page_of(
    kinds: Mapping[str, Kind],
    view: View | None = None,
    *,
    title: str = "",
    provenance: Provenance | None = None,
    measures: Mapping[str, Sequence[HeadMeasure]] = NO_MEASURES,
) -> str:
    """The same for weights that come from elsewhere than a trace, with measures of heads by attention."""
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
<script type="application/json" id="measures">{for_script(messages_of(measures))}</script>
<script type="text/plain" id="packed">{packed}</script>
<script type="module">
{source.script("standalone")}
</script>
</body>
</html>
"""


def messages_of(measures: Mapping[str, Sequence[HeadMeasure]]) -> dict[str, list[dict[str, Any]]]:
    """Measures by attention as the browser takes them."""
    return {name: [measure.to_message() for measure in some] for name, some in measures.items()}


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


def show(
    attention: Any,
    tokens: Sequence[str] | View | None = None,
    keys: Sequence[str] | None = None,
    *,
    view: View | None = None,
) -> InlineHtml:
    """Every head of every layer, in the cell of a notebook, of all that ``html_page`` takes: show(weights, tokens)."""
    return InlineHtml(html_page(attention, tokens, keys, view=view))
