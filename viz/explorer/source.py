"""The explorer's browser modules as one script. No build step: the files are joined as they are when they are needed.

A browser cannot import one module from another that it got as a string, so the imports between the files are taken
out, and with them the word ``export``. Every name at the top of a file is therefore unique among all of them, and among
those of layout.py.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from viz.explorer import layout
from viz.theme import DARK, FONT, LIGHT, Theme

FOLDER = Path(__file__).parent / "browser"
PANELS = tuple(f"panels/{name}" for name in ("stack", "grid", "matrix", "lines", "words"))
EXPLORER = tuple(
    f"explorer/{name}" for name in ("controls", "state", "scene", "requests", "sentences", "keys", "explorer")
)
MODULES = ("element", "data", "paint", *PANELS, *EXPLORER)
IN_STYLES = (
    "SHARES",
    "SHARES_BELOW",
    "BETWEEN",
    "BETWEEN_ROWS",
    "SMALL_TYPE",
    "SMALL_LINE",
    "BELOW_TITLE",
    "TOKEN_TYPE",
    "TOKEN_HEIGHT",
    "TOKEN_GAP",
    "TOKEN_PADDING",
    "TOKEN_ROUND",
    "NARROWEST_TOKEN",
    "AROUND_TOKENS",
    "BELOW_TOKENS",
    "TABLE_LINE",
    "TABLE_PADDING",
    "TABLE_WEIGHT",
    "MARK_WIDTH",
)
MARKUP = '<div class="headlight" role="group" aria-label="Attention explorer"></div>'


def script(*endings: str) -> str:
    """The modules, and after them the one that starts them: "streamlit" or "standalone"."""
    return joined_modules(*MODULES, *endings)


def drawing_script(name: str) -> str:
    """The script of a component that draws beside the explorer: "comparison" or "tables"."""
    return joined_modules("element", "paint", name)


@cache
def joined_modules(*names: str) -> str:
    """Modules as one script, after the colours and the sizes."""
    modules = "\n".join(without_imports(FOLDER / f"{name}.js") for name in names)
    constants = {"THEMES": themes(), **layout.constants()}
    return f"const {{ {', '.join(constants)} }} = {json.dumps(constants)}\n{modules}"


@cache
def with_element(path: Path) -> str:
    """The script of another component than the explorer, after what it imports.

    It may import element.js and paint.js, and modules beside it that import nothing but types.
    """
    script = path.read_text(encoding="utf-8")
    imported = [name for name in ("element", "paint") if f'/{name}.js"' in script]
    beside = [path.with_name(name) for name in re.findall(r'^import .* from "\./(\w+\.js)"$', script, re.MULTILINE)]
    own = "\n".join(map(without_imports, [*beside, path]))
    if "paint" in imported:
        return f"{joined_modules(*imported)}\n{own}"
    return "\n".join([*(without_imports(FOLDER / f"{name}.js") for name in imported), own])


def without_imports(path: Path) -> str:
    """A module as a part of a larger script."""
    return re.sub(
        r'^(import [^"]*"[^"]+"\n|export (?!default))', "", path.read_text(encoding="utf-8"), flags=re.MULTILINE
    )


@cache
def mailbox() -> str:
    """The script of the small component that brings the explorer what is not its data."""
    return (FOLDER / "mailbox.js").read_text(encoding="utf-8")


@cache
def styles(name: str = "explorer") -> str:
    """A component's own style sheet; its colours are Streamlit's variables, the explorer's sizes those of layout.py."""
    path = FOLDER / ("explorer/explorer.css" if name == "explorer" else f"{name}.css")
    sheet = path.read_text(encoding="utf-8")
    return f".headlight {{ {sizes()} }}\n{sheet}" if name == "explorer" else sheet


def sizes() -> str:
    """What the explorer's style sheet takes from layout.py, as CSS variables."""
    values = {name: getattr(layout, name) for name in IN_STYLES}
    return " ".join(f"--{name.lower().replace('_', '-')}: {css_value(value)};" for name, value in values.items())


def css_value(value: object) -> str:
    """A length of layout.py, the shares that columns have of the width, or a word as it is."""
    if isinstance(value, Mapping):
        return " ".join(f"minmax(0, {share}fr)" for share in value.values())
    return f"{value}px" if isinstance(value, int) else str(value)


def themes() -> dict[str, object]:
    """The colours of viz.theme for the canvases."""
    return {"light": colours(LIGHT), "dark": colours(DARK), "font": FONT}


def colours(theme: Theme) -> dict[str, object]:
    """One theme's colours by the names that the browser's modules use."""
    names = ("background", "text", "quiet", "grid", "second", "accent", "heads")
    signed = {"above": theme.above, "below": theme.below}
    return {name: getattr(theme, name) for name in names} | {"scales": theme.scales | signed}
