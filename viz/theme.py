"""Colours and sizes of every figure, for light and dark pages."""

from collections.abc import Sequence
from dataclasses import dataclass

FONT = '"Source Sans", "Source Sans Pro", system-ui, sans-serif'
FONT_SIZE = 14


@dataclass(frozen=True, kw_only=True)
class Theme:
    """One page's colours, those of .streamlit/config.toml among them.

    ``weights`` runs from weight 0, the page's background, to weight 1.
    """

    background: str
    text: str
    quiet: str  # secondary text, still 4.5 : 1 on the background
    grid: str
    accent: str
    second: str  # a second series beside the accent, told apart by its dash as well
    weights: tuple[str, ...]


LIGHT = Theme(
    background="#ffffff",
    text="#1c2733",
    quiet="#55616d",
    grid="#d5dde3",
    accent="#1f6f8b",
    second="#b4560a",
    weights=("#ffffff", "#dcebf0", "#b3d3de", "#83b6c8", "#5497ae", "#2c7891", "#155a73", "#0a3c52", "#041f2e"),
)

DARK = Theme(
    background="#10161c",
    text="#e6ebef",
    quiet="#a5b1bb",
    grid="#33404c",
    accent="#7cc3da",
    second="#f0a05a",
    weights=("#10161c", "#12303d", "#15495d", "#1c647e", "#2f819d", "#559fb8", "#86bfd2", "#bbdde8", "#f0fafd"),
)


def theme_of(kind: str | None) -> Theme:
    """The theme called "dark"; the light one for anything else, since a browser may not have told yet."""
    return DARK if kind == "dark" else LIGHT


def colour_scale(colours: Sequence[str]) -> list[tuple[float, str]]:
    """Stops for a scale from 0 to 1 with finer steps near 0, where most weights of a long sentence lie.

    The stops are squares, so colour follows the root of a weight; the scale itself stays 0 to 1 and linear.
    """
    last = len(colours) - 1
    return [((place / last) ** 2, colour) for place, colour in enumerate(colours)]
