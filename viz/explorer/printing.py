"""An SVG as PDF and PNG. Neither a browser nor the network has a part in it.

Letters come from the fonts of the machine that this runs on: where none has a sign, as on small servers those of
Chinese or of emoji, a box stands in its place. The SVG itself leaves fonts to whoever opens it.
"""

import re

from viz.explorer.svg.paint import chunk
from viz.export.provenance import PROGRAM, Provenance

MOST_PIXELS = 12_000_000  # four bytes each while it is drawn
# What has a sign for the spaces of a token; of a font that lacks one, the renderer sets the whole word in another.
PRINTED = "DejaVu Sans, "
_HEADER_ENDS = 33  # a PNG's signature and its first chunk, which has to be the header
# The end of a PDF of one part: the number of its objects, its root, its information, and where its table is.
_TRAILER = re.compile(
    rb"trailer\s*<<\s*/Size (\d+)\s*/Root (\d+) 0 R\s*/Info (\d+) 0 R\s*>>\s*startxref\s+(\d+)\s+%%EOF\s*$"
)
_SIZE = re.compile(r'<svg[^>]* width="(\d+)" height="(\d+)"')


def pdf(svg: str, *, provenance: Provenance | None = None) -> bytes:
    """One page of the picture's size; what is text in it can be searched and copied.

    provenance: its facts stand in the document information, beside title and subject.
    """
    from vl_convert import svg_to_pdf  # its 25 MB are for those who ask for a file

    printed = svg_to_pdf(in_print(svg))
    return printed if provenance is None else with_information(printed, provenance)


def png(svg: str, scale: int | float = 3, *, provenance: Provenance | None = None) -> bytes:
    """Pixels: ``scale`` of them to each of the picture's, or as many as make 12 million in all.

    provenance: its facts stand in the file as texts (iTXt), beside a title and a description.
    """
    from vl_convert import svg_to_png

    printed = svg_to_png(in_print(svg), scale=min(scale, largest_scale(svg)))
    return printed if provenance is None else with_texts(printed, provenance)


def with_texts(png: bytes, provenance: Provenance) -> bytes:
    """The PNG with texts after its header: PNG, third edition, section 11.3.3.4; none of them is compressed."""
    texts = {"Title": provenance.title(), "Description": provenance.sentence(), "Software": PROGRAM}
    texts |= provenance.facts(1)
    chunks = [
        chunk(b"iTXt", name.encode("latin-1") + b"\0\0\0\0\0" + text.encode("utf-8")) for name, text in texts.items()
    ]
    return png[:_HEADER_ENDS] + b"".join(chunks) + png[_HEADER_ENDS:]


def with_information(pdf: bytes, provenance: Provenance) -> bytes:
    """The PDF with another document information, appended as an update: ISO 32000-1, sections 7.5.6 and 14.3.3.

    A PDF without an information to replace stays as it is: the picture's caption has the facts as well.
    """
    trailer = _TRAILER.search(pdf)
    if trailer is None:
        return pdf
    size, root, number, before = trailer.groups()
    entries = {"Title": provenance.title(), "Subject": provenance.sentence(), "Creator": PROGRAM}
    entries |= provenance.facts(1)
    written = b"".join(b"/%b %b\n" % (name.encode(), pdf_text(text)) for name, text in entries.items())
    start = pdf + b"\n"
    whole = start + b"%b 0 obj\n<<\n%b>>\nendobj\n" % (number, written)
    table = b"xref\n0 1\n0000000000 65535 f\r\n%b 1\n%010d 00000 n\r\n" % (number, len(start))
    values = b"/Size %b /Root %b 0 R /Info %b 0 R /Prev %b" % (size, root, number, before)
    return whole + table + b"trailer\n<< %b >>\nstartxref\n%d\n%%%%EOF\n" % (values, len(whole))


def pdf_text(text: str) -> bytes:
    """A text string in UTF-16, written in hexadecimal digits, in which nothing has to be escaped."""
    return b"<%b>" % ("\ufeff" + text).encode("utf-16-be").hex().encode()


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
