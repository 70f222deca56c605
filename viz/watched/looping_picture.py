"""A film of a training as a picture that moves in a loop (GIF), for slides: a frame for every snapshot."""

import io
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, UInt8
from PIL import Image, ImageDraw, ImageFont

from model.training.watched.history import History
from model.training.watched.language_film import LanguageFilm
from viz.text.watched import WORDS
from viz.theme import LIGHT, Theme, channels, colour_at, colour_scale
from viz.watched.player import SECONDS, place_of

WIDTH, MARGIN, GAP = 960, 28, 40  # pixels
TITLE, NAME, SMALL = 22, 18, 14  # of type
CHART = 130  # tall
NAMES = 46  # wide, beside the curve
MARKS = (1, 10, 100, 1000, 10000)  # steps below it
LARGEST_TILE = 150
LABELS = 76  # wide, before the text
LETTER, BETWEEN = 20, 8  # a line of the text; below what the model takes to come next
LINES = 2  # of what a language model writes
HOLD = 2.0  # seconds of the last frame
SHADES = 256


class Guesses(NamedTuple):
    """A text, and what is taken to come next after each of its tokens, at every snapshot in the order of the steps.

    hits: whether that is right; None where nothing can be known.
    """

    read: Sequence[str]
    said: Sequence[Sequence[str]]
    hits: Sequence[Sequence[bool | None]]


class Take(NamedTuple):
    """One training of a film. weights: of its snapshots, in the order of the steps; written: by the model at each."""

    name: str
    history: History | LanguageFilm
    weights: Float[np.ndarray, "snapshot layer head query key"]
    guesses: Guesses
    written: Sequence[str] = ()

    @classmethod
    def of(
        cls,
        history: History | LanguageFilm,
        weights: Float[np.ndarray, "snapshot layer head query key"],
        run: Mapping[str, Any],
    ) -> "Take":
        """What the player shows of a training. run: the player's data of it."""
        said = [[drawable(each) for each in row] for row in run["guesses"]]
        guesses = Guesses([drawable(token) for token in run["tokens"]], said, run["hits"])
        return cls(run["name"], history, weights, guesses, run["written"] or ())


def drawable(token: str) -> str:
    """A token with signs that the type has in place of those for a blank and the end of a line."""
    return token.replace("␣", "·").replace("↵", "\\n")


class Letter(NamedTuple):
    """Where a token of the text is drawn. left, width: pixels from the column's side; row: of those it needs."""

    left: float
    width: float
    row: int


class Column(NamedTuple):
    """Where a training is drawn. left, width: pixels; tile: the side of a head's picture; letters: of its text."""

    left: int
    width: int
    tile: int
    letters: Sequence[Letter]


def looping_picture(title: str, takes: Sequence[Take], *, theme: Theme = LIGHT) -> bytes:
    """The film: ``SECONDS`` from the first snapshot to the last, then a pause. ValueError for none or more than two."""
    if not 1 <= len(takes) <= 2:
        raise ValueError(f"{len(takes)} trainings, wanted 1 or 2")
    steps = sorted({step for take in takes for step in take.history.steps})
    last = max(take.history.last.step for take in takes)
    columns = columns_of(takes)
    height = height_of(takes, columns)
    frames = [frame(title, takes, columns, height, step, last, theme) for step in steps]
    content = io.BytesIO()
    frames[0].save(
        content, "GIF", save_all=True, append_images=frames[1:], duration=durations(steps, last), loop=0, optimize=False
    )
    return content.getvalue()


def durations(steps: Sequence[int], last: int) -> list[int]:
    """Milliseconds of every frame: as long as its step lasts on the logarithmic axis."""
    places = [place_of(step, last) for step in steps]
    ways = [1000 * SECONDS * (after - before) for before, after in pairwise(places)]
    return [max(20, round(way)) for way in ways] + [round(1000 * HOLD)]


def columns_of(takes: Sequence[Take]) -> list[Column]:
    """The places of the trainings, side by side."""
    width = (WIDTH - 2 * MARGIN - GAP * (len(takes) - 1)) // len(takes)
    tiles = [min(LARGEST_TILE, width // take.weights.shape[2] - 8) for take in takes]
    return [
        Column(MARGIN + place * (width + GAP), width, tile, letters_of(take.guesses, width))
        for place, (take, tile) in enumerate(zip(takes, tiles, strict=True))
    ]


def height_of(takes: Sequence[Take], columns: Sequence[Column]) -> int:
    """What the taller of them needs."""
    rows = [
        written_height(take) + letters_height(column) + take.weights.shape[1] * (column.tile + 8)
        for take, column in zip(takes, columns, strict=True)
    ]
    return MARGIN + 2 * TITLE + 2 * NAME + CHART + 30 + max(rows) + MARGIN


def written_height(take: Take) -> int:
    """What the lines that a language model writes need."""
    return (LINES + 1) * NAME if take.written else 0


def letters_of(guesses: Guesses, width: int) -> list[Letter]:
    """The places of the tokens, each as wide as whatever is written there at any step, in rows that fit the width."""
    letters = list[Letter]()
    left, row = float(LABELS), 0
    for place, token in enumerate(guesses.read):
        texts = [token, *(said[place] for said in guesses.said)]
        wide = max(font(SMALL).getlength(text) for text in texts) + 4
        if letters and left + wide > width:
            left, row = float(LABELS), row + 1
        letters.append(Letter(left, wide, row))
        left += wide
    return letters


def letters_height(column: Column) -> int:
    """What the rows of the text need."""
    return (column.letters[-1].row + 1) * (2 * LETTER + BETWEEN)


@cache
def font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """The type that Pillow brings."""
    return ImageFont.load_default(size)


def frame(
    title: str, takes: Sequence[Take], columns: Sequence[Column], height: int, step: int, last: int, theme: Theme
) -> Image.Image:
    """One moment."""
    image = Image.new("RGB", (WIDTH, height), theme.background)
    draw = ImageDraw.Draw(image)
    draw.text((MARGIN, MARGIN), " ".join(title.split()), fill=theme.text, font=font(TITLE))  # it has no thin blank
    said = f"step {step:,} of {last:,}"
    draw.text((WIDTH - MARGIN, height - MARGIN), said, fill=theme.quiet, font=font(SMALL), anchor="rb")
    for take, column in zip(takes, columns, strict=True):
        top = MARGIN + 2 * TITLE
        place = max(at for at, each in enumerate(take.history.steps) if each <= step)
        moment = take.history.at(take.history.steps[place])
        name = f"{take.name}: accuracy {100 * moment.accuracy:.0f} %"
        draw.text((column.left, top), name, fill=theme.text, font=font(NAME))
        top += 2 * NAME
        if take.written:
            draw.text((column.left, top), wrapped(take.written[place], column.width), fill=theme.text, font=font(SMALL))
            top += written_height(take)
        draw_letters(draw, take.guesses, place, column, top, theme)
        top += letters_height(column)
        draw_curve(draw, take.history, column, top, (step, last), theme)
        draw_heads(image, take.weights[place], column, top + CHART + 30, theme)
    return image


def wrapped(text: str, width: int) -> str:
    """The beginning of a text, as far as it fits into the lines that it has."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if font(SMALL).getlength(longer) <= width:
            lines[-1] = longer
        elif len(lines) < LINES:
            lines.append(word)
        else:
            break
    return "\n".join(lines)


def draw_letters(
    draw: ImageDraw.ImageDraw, guesses: Guesses, place: int, column: Column, top: int, theme: Theme
) -> None:
    """The text, and below each of its tokens what the snapshot at a place takes to come next.

    Filled where that is right, struck out where it is wrong, grey where nothing can be known.
    """
    for line, name in enumerate(("reads", "guesses")):
        y = top + (line + 0.5) * LETTER
        draw.text((column.left, y), WORDS[name], fill=theme.quiet, font=font(SMALL), anchor="lm")
    tokens = zip(column.letters, guesses.read, guesses.said[place], guesses.hits[place], strict=True)
    for letter, token, said, hit in tokens:
        left, y = column.left + letter.left, top + letter.row * (2 * LETTER + BETWEEN)
        x, below = left + letter.width / 2, y + 1.5 * LETTER
        draw.text((x, y + LETTER / 2), token, fill=theme.text, font=font(SMALL), anchor="mm")
        if hit:
            draw.rectangle((left, y + LETTER, left + letter.width - 1, y + 2 * LETTER - 1), fill=theme.accent)
        colour = theme.quiet if hit is None else theme.background if hit else theme.text
        draw.text((x, below), said, fill=colour, font=font(SMALL), anchor="mm")
        if hit is False:
            draw.line([(left + 2, below), (left + letter.width - 3, below)], fill=colour)


def draw_curve(
    draw: ImageDraw.ImageDraw,
    history: History | LanguageFilm,
    column: Column,
    top: int,
    seen: tuple[int, int],
    theme: Theme,
) -> None:
    """Accuracy over the steps, and where the moment stands. seen: its step, and the last of the axis."""
    step, last = seen
    right, bottom = column.left + column.width - NAMES, top + CHART
    for share in (0.0, 0.5, 1.0):
        y = bottom - share * CHART
        draw.line([(column.left, y), (right, y)], fill=theme.grid)
        draw.text((right + NAMES, y), f"{100 * share:.0f} %", fill=theme.quiet, font=font(SMALL), anchor="rm")
    for mark in (each for each in MARKS if each <= last):
        place = column.left + place_of(mark, last) * (right - column.left)
        draw.text((place, bottom + 4), f"{mark:,}", fill=theme.quiet, font=font(SMALL), anchor="mt")
    points = [
        (column.left + place_of(moment.step, last) * (right - column.left), bottom - moment.accuracy * CHART)
        for moment in history.moments
    ]
    draw.line(points, fill=theme.accent, width=3)
    x = column.left + place_of(step, last) * (right - column.left)
    draw.line([(x, top), (x, bottom)], fill=theme.text, width=2)


def draw_heads(
    image: Image.Image, weights: Float[np.ndarray, "layer head query key"], column: Column, top: int, theme: Theme
) -> None:
    """The heads' matrices, a row for each layer."""
    shades = shades_of(theme)
    for layer, heads in enumerate(weights):
        for head, matrix in enumerate(heads):
            tile = Image.fromarray(shades[np.rint(np.sqrt(matrix) * (SHADES - 1)).astype(int)])
            place = column.left + head * (column.tile + 8), top + layer * (column.tile + 8)
            image.paste(tile.resize((column.tile, column.tile), Image.Resampling.NEAREST), place)
            corner = place[0] + column.tile - 1, place[1] + column.tile - 1
            ImageDraw.Draw(image).rectangle([place, corner], outline=theme.grid)


def shades_of(theme: Theme) -> UInt8[np.ndarray, "shade channel"]:
    """The colours of a weight's root, from the page's background on."""
    stops = [(stop**0.5, colour) for stop, colour in colour_scale(theme.weights)]
    return np.array([channels(colour_at(stops, shade / (SHADES - 1))) for shade in range(SHADES)], np.uint8)
