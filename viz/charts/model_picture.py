"""What a checkpoint is made of, as a small picture: a square for every head, a row for every layer."""

from model import Config
from model.edits.checks import sizes_of
from viz.explorer.svg.paint import Length, Panel, beside, box, element, label, stacked
from viz.theme import FONT, LIGHT, Theme

SQUARE, GAP, BETWEEN = 9, 3, 28  # pixels
CAPTION = 16
WIDEST, TALLEST = 260, 110  # pixels of a picture: of a large model its squares are smaller


def model_picture(config: Config, *, theme: Theme = LIGHT) -> str:
    """Its stacks as SVG, the first layer at the top; of two stacks the decoder stands at the right.

    A decoder that reads an encoder has two squares for each head: one attends to its own text, one to the encoder's.
    """
    stacks = stacks_of(config)
    crosses = theme.second if len(stacks) > 1 else None
    panels = [stack(name, one, theme, crosses if name == "decoder" else None) for name, one in stacks.items()]
    whole = beside(panels, BETWEEN)
    scale = min(1.0, WIDEST / whole.width, TALLEST / whole.height)
    return element(
        "svg",
        whole.body,
        xmlns="http://www.w3.org/2000/svg",
        width=f"{whole.width * scale:.0f}",
        height=f"{whole.height * scale:.0f}",
        viewBox=f"0 0 {whole.width:.0f} {whole.height:.0f}",
        font_family=FONT,
        role="img",
        aria_label=stacks_in_words(config),
    )


def stack(name: str, config: Config, theme: Theme, cross: str | None) -> Panel:
    """The heads of one stack over its name. cross: the colour of those that attend to another text."""
    rows = []
    for _ in range(config.layers):
        kinds = [row(config.heads, theme.accent), *([row(config.heads, cross)] if cross else [])]
        rows.append(beside(kinds, 2 * GAP))
    caption = Panel(label(name, 0, CAPTION / 2, 12, fill=theme.quiet), 48.0, CAPTION)
    return stacked([stacked(rows, GAP), caption], 2 * GAP)


def row(heads: int, colour: str) -> Panel:
    """The heads of one layer."""
    squares = [box(place * (SQUARE + GAP), 0, SQUARE, SQUARE, fill=colour, rx=2) for place in range(heads)]
    return Panel("".join(squares), width_of(heads), SQUARE)


def width_of(heads: int) -> Length:
    """Pixels that so many heads take."""
    return heads * (SQUARE + GAP) - GAP


def stacks_in_words(config: Config) -> str:
    """The picture in words."""
    stacks = [f"{name} of {one.layers} layers with {one.heads} heads each" for name, one in stacks_of(config).items()]
    return " and ".join(stacks)


def stacks_of(config: Config) -> dict[str, Config]:
    """The configs that have the sizes of each stack, by its name."""
    return {name: sizes for name in config.stacks if (sizes := sizes_of(config, name)) is not None}
