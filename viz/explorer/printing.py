"""An SVG as PDF and PNG. Neither a browser nor the network has a part in it.

Letters come from the fonts of the machine that this runs on: where none has a sign, as on small servers those of
Chinese or of emoji, a box stands in its place. The SVG itself leaves fonts to whoever opens it.
"""

import re

MOST_PIXELS = 12_000_000  # four bytes each while it is drawn
# What has a sign for the spaces of a token; of a font that lacks one, the renderer sets the whole word in another.
PRINTED = "DejaVu Sans, "
_SIZE = re.compile(r'<svg[^>]* width="(\d+)" height="(\d+)"')


def pdf(svg: str) -> bytes:
    """One page of the picture's size; what is text in it can be searched and copied."""
    from vl_convert import svg_to_pdf  # its 25 MB are for those who ask for a file

    return svg_to_pdf(in_print(svg))


def png(svg: str, scale: int | float = 3) -> bytes:
    """Pixels: ``scale`` of them to each of the picture's, or as many as make 12 million in all."""
    from vl_convert import svg_to_png

    return svg_to_png(in_print(svg), scale=min(scale, largest_scale(svg)))


def in_print(svg: str) -> str:
    """The picture with a typeface before its own that has more signs, where the machine has it."""
    return svg.replace('font-family="', f'font-family="{PRINTED}', 1)


def largest_scale(svg: str) -> float:
    """The scale at which a picture has the most pixels. ValueError for anything but what ``picture.svg`` returns."""
    size = _SIZE.search(svg)
    if size is None:
        raise ValueError("found an SVG without a width and a height in pixels, expected one of picture.svg")
    width, height = map(int, size.groups())
    return (MOST_PIXELS / (width * height)) ** 0.5
