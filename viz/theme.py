"""Colours and sizes of every figure, for light and dark pages."""

from collections.abc import Sequence
from dataclasses import dataclass

FONT = '"Source Sans", "Source Sans Pro", system-ui, sans-serif'
FONT_SIZE = 14


@dataclass(frozen=True, kw_only=True)
class Theme:
    """One page's colours, those of .streamlit/config.toml among them.

    ``weights`` runs from weight 0, the page's background, to weight 1. ``above`` and ``below`` run from 0, the page's
    background as well, to the largest positive and negative number. Their lightness changes by equal steps of OKLab,
    and their ends are as saturated as sRGB allows there: blue stays blue and orange orange.
    """

    background: str
    surface: str  # what lies on it
    text: str
    quiet: str  # secondary text, still 4.5 : 1 on the background
    grid: str
    accent: str
    second: str  # a second series beside the accent, told apart by its dash as well
    weights: tuple[str, ...]
    orange: tuple[str, ...]  # the same from another hue, and without one
    grey: tuple[str, ...]
    above: tuple[str, ...]  # signed numbers: people with any of the common deficiencies tell one side from the other
    below: tuple[str, ...]
    heads: tuple[str, ...]  # twelve that people with any of the common colour-vision deficiencies can tell apart

    @property
    def scales(self) -> dict[str, tuple[str, ...]]:
        """The sequential scales by their names."""
        return {"blue": self.weights, "orange": self.orange, "grey": self.grey}

    @property
    def differences(self) -> list[tuple[float, str]]:
        """Stops from 0 to 1 of the scale for signed numbers: orange below, the page's background at 0.5, blue above."""
        colours = (*reversed(self.below), *self.above[1:])
        return [(place / (len(colours) - 1), colour) for place, colour in enumerate(colours)]


# Okabe and Ito's and Tol's colours, with the light ones darkened for white and the dark ones lightened for black.
HEADS_LIGHT = (
    "#0072b2", "#d55e00", "#009e73", "#b8568f", "#8a6d00", "#3a9bd9",
    "#882255", "#3d8f85", "#4b3fa8", "#7d7d1f", "#117733", "#aa4499",
)  # fmt: skip
HEADS_DARK = (
    "#5ab4e5", "#ff9a57", "#3ecf9f", "#f0a6cd", "#e0c341", "#9bd3f5",
    "#e07aa8", "#7fd8c8", "#a99cf0", "#cfcf6a", "#6fc98a", "#e08ae0",
)  # fmt: skip
MOST_CURVES = len(HEADS_LIGHT)  # in one picture: each has a colour

LIGHT = Theme(
    background="#ffffff",
    surface="#f3f6f8",
    text="#1c2733",
    quiet="#55616d",
    grid="#d5dde3",
    accent="#1f6f8b",
    second="#b4560a",
    weights=("#ffffff", "#dcebf0", "#b3d3de", "#83b6c8", "#5497ae", "#2c7891", "#155a73", "#0a3c52", "#041f2e"),
    orange=("#ffffff", "#f8e7d8", "#f0cba8", "#e5a871", "#d3823f", "#b4601c", "#8c450d", "#622e06", "#381902"),
    grey=("#ffffff", "#e6e9eb", "#cbd0d4", "#abb2b8", "#88919a", "#66707a", "#47515a", "#2b333b", "#12181d"),
    above=("#ffffff", "#e2eeff", "#c5ddff", "#a7cbff", "#88baff", "#6ca7fb", "#5095f5", "#3182ee", "#066fe4"),
    below=("#ffffff", "#ffebe1", "#ffd6c2", "#fdc1a4", "#f7ad89", "#f0996d", "#e88551", "#e07132", "#d55d00"),
    heads=HEADS_LIGHT,
)

DARK = Theme(
    background="#10161c",
    surface="#1a232c",
    text="#e6ebef",
    quiet="#a5b1bb",
    grid="#33404c",
    accent="#7cc3da",
    second="#f0a05a",
    weights=("#10161c", "#12303d", "#15495d", "#1c647e", "#2f819d", "#559fb8", "#86bfd2", "#bbdde8", "#f0fafd"),
    orange=("#10161c", "#2f2013", "#4c2f15", "#6c4117", "#90581f", "#b4743a", "#d2975f", "#ebc297", "#fdf1e4"),
    grey=("#10161c", "#232b32", "#38414a", "#505a64", "#6b7680", "#89949d", "#a9b2b9", "#ccd3d8", "#f5f7f8"),
    above=("#10161c", "#192532", "#1f354e", "#25466a", "#2b5786", "#3269a3", "#397bc1", "#418edf", "#49a2fe"),
    below=("#10161c", "#312116", "#4c2e18", "#673b1a", "#834a1c", "#a0581f", "#bd6821", "#db7824", "#fa8927"),
    heads=HEADS_DARK,
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


def difference_scale(theme: Theme) -> list[tuple[float, str]]:
    """Stops from −1 (orange) over 0 (the background) to 1 (blue), with finer steps near 0 on both sides."""
    below = [(-stop, colour) for stop, colour in colour_scale(theme.below)]
    return [*below[:0:-1], *colour_scale(theme.above)]


def colour_at(stops: Sequence[tuple[float, str]], number: float) -> str:
    """The colour of a number between the stops of a scale, mixed in RGB; beyond them, that of the last."""
    above = next((place for place, (stop, _) in enumerate(stops) if stop >= number), len(stops) - 1)
    (low, first), (high, second) = stops[max(above - 1, 0)], stops[above]
    share = min((number - low) / (high - low), 1.0) if high > low else 0.0
    mixed = (round(a + (b - a) * share) for a, b in zip(channels(first), channels(second), strict=True))
    return "#" + "".join(f"{value:02x}" for value in mixed)


def channels(colour: str) -> tuple[int, int, int]:
    """Red, green and blue of "#rrggbb"."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
