"""Where a file comes from reads back out of every kind of file, whatever was typed; and what a file is called."""

import ast
import csv
import io
import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from functools import cache
from html.parser import HTMLParser
from itertools import islice
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from model import Edits, HeadSite
from model.measures.evidence import CheckResult, evidence
from model.measures.one_weight import WeightSite, path_of
from tests import tiny
from tests.viz.explorer.test_pictures import SVG
from viz.charts.alignment import alignment_csv
from viz.explorer import View, html_page
from viz.explorer.attention_kinds import kinds_of
from viz.explorer.printing import pdf, png, with_information
from viz.explorer.snippet import snippet
from viz.explorer.standalone import POLICY
from viz.explorer.svg.picture import MARGIN, svg
from viz.export.continuation_script import written_script
from viz.export.data_files import npz, selection_csv, selection_json, trace_npz
from viz.export.edited_script import edited_script
from viz.export.provenance import SHORTENED, Provenance, fact_lines, file_name, one_line
from viz.text.evidence_tables import findings_csv
from viz.theme import LIGHT
from viz.walkthrough import step_sentences

EDITS = Edits(muted=frozenset({HeadSite("encoder", 0, 1)}))
TEXTS = {
    "plain": "The dog bit the man.",
    "markup": '</script><b onclick="f()">&amp;]]> -->\'',
    "formula": "=1+1,=1+1;-1|@a\t+1",
    "quotes": 'he said, "hello',
    "lines": "a\nb\r\nc\rd\u2028e\x0bf",
    "odd": "\\ \\n # % \x00\x07\ufffe U+0000 é ${1} {0}",
    "half a pair": "\ud800 \x00",
    "emoji": "👩\u200d👧 😀",
    "right to left": "שלום \u202e abc",
    "long": "W" * 2000,
    "long, right to left": "שלום " * 400,
}
ALL_TEXTS = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)


@cache
def traced() -> Any:
    return tiny.checkpoint("encoder-decoder").trace(tiny.TEXT, target="a cat saw", edits=EDITS)


def provenance_of(text: str) -> Provenance:
    return Provenance(checkpoint=text, text=text, pair=text, target=text, target_by="typed", edits=EDITS)


# Facts and sentences


def test_the_facts_are_those_that_there_are():
    facts = Provenance(checkpoint="sentiment", text="A film.").facts()
    assert list(facts) == ["checkpoint", "text", "edits", "counting", "program"]
    assert (facts["text"], facts["edits"]) == ("A film.", "none")
    everything = provenance_of("a").facts()
    assert list(everything) == [
        *("checkpoint", "text", "pair", "target", "target_by"),
        *("edits", "counting", "program"),
    ]
    assert Edits.from_text(everything["edits"]) == EDITS
    assert "from 0 here" in everything["counting"]
    assert "from 1 here" in provenance_of("a").facts(1)["counting"]


def test_what_xml_does_not_allow_stands_as_its_number_in_every_fact():
    assert Provenance(checkpoint="a", text="\x00\ud800\ufffe😀\r\n").facts()["text"] == "U+0000U+D800U+FFFE😀\r\n"


def test_a_caption_says_all_of_it_in_two_sentences():
    assert Provenance(checkpoint="sentiment", text="A film.").sentence() == (
        "Checkpoint sentiment, text “A film.”, no edits. Layers, heads and positions count from 1."
    )
    provenance = Provenance(
        checkpoint="translate-en-fr", text="A cat.", target="Un chat.", target_by="beam search", edits=EDITS
    )
    assert provenance.sentence() == (
        "Checkpoint translate-en-fr, text “A cat.”, target “Un chat.” (beam search), edits mute_e0.1, which count from "
        "0. Layers, heads and positions count from 1."
    )
    assert "second text “B.”" in Provenance(checkpoint="a", text="A.", pair="B.").sentence()


@ALL_TEXTS
def test_a_caption_is_one_short_line_in_which_nothing_is_invisible(text):
    sentence = provenance_of(text).sentence()
    assert len(sentence) < 5 * SHORTENED
    isolates_and_joiners = "\u2068\u2069\u200d"
    assert all(character.isprintable() or character in isolates_and_joiners for character in sentence)


@given(st.text(st.characters()))
def test_one_line_gives_its_text_back(text):
    line = one_line(text)
    assert json.loads(f'"{line}"') == text
    assert line.isprintable()
    assert '"' not in line


# Files


class Metadata(HTMLParser):
    """The metadata of a page, its elements, and what stands in its paragraphs."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.meta: dict[str, str] = {}
        self.elements: list[str] = []
        self.paragraph = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        fields = dict(attrs)
        if tag == "meta" and "name" in fields:
            self.meta[str(fields["name"])] = str(fields["content"])

    def handle_data(self, data: str) -> None:
        self.paragraph += data if self.elements[-1:] == ["p"] else ""


def in_svg(file: str) -> dict[str, str]:
    (metadata,) = ElementTree.fromstring(file).iter(SVG + "metadata")
    return json.loads(metadata.text or "")


def in_png(file: bytes) -> dict[str, str]:
    texts: Any = Image.open(io.BytesIO(file)).info
    return {name: str(text) for name, text in texts.items() if isinstance(text, str) and name[0].islower()}


def in_pdf(file: bytes) -> dict[str, str]:
    """The document information as a reader finds it: from the end of the file over its tables, the latest first."""
    at = int(re.findall(rb"startxref\s+(\d+)\s+%%EOF\s*$", file)[0])
    trailers, places = list[bytes](), dict[int, int]()
    while at:
        table, trailer = file[at:].split(b"trailer", 1)
        assert table.startswith(b"xref")
        number = 0
        for first, kind in re.findall(rb"(\d+) \d+(?: ([nf]))?\s*\n", table):
            if not kind:
                number = int(first)
                continue
            places.setdefault(number, int(first))
            number += 1
        trailers.append(trailer[: trailer.index(b">>")])
        before = re.search(rb"/Prev (\d+)", trailers[-1])
        at = int(before[1]) if before else 0
    assert all(file[place:].startswith(b"%d 0 obj" % number) for number, place in places.items() if number)
    root, information = (int(re.findall(rb"/%b (\d+) 0 R" % name, trailers[0])[0]) for name in (b"Root", b"Info"))
    assert b"/Catalog" in file[places[root] :].split(b"endobj")[0]
    information_object = file[places[information] :]
    entries = re.findall(rb"/(\w+) <([0-9a-f]+)>\n", information_object[: information_object.index(b"endobj")])
    texts = {name.decode(): bytes.fromhex(digits.decode()).decode("utf-16") for name, digits in entries}
    return {name: text for name, text in texts.items() if name[0].islower()}


def in_page(file: str) -> dict[str, str]:
    meta = Metadata(file).meta
    return {name.removeprefix("headlight:"): text for name, text in meta.items() if name.startswith("headlight:")}


def in_npz(file: bytes) -> dict[str, str]:
    arrays = np.load(io.BytesIO(file))
    return {name: str(arrays[name]) for name in arrays if arrays[name].dtype.kind == "U" and arrays[name].ndim == 0}


def in_csv(file: bytes) -> dict[str, str]:
    lines = [line[2:].split(": ", 1) for line in file.decode("utf-8-sig").split("\n") if line.startswith("# ")]
    facts = {name: json.loads(f'"{fact}"') for name, fact in lines}
    assert facts.pop("read") == f"pandas.read_csv(file, skiprows={len(lines)})"
    return facts


def in_json(file: bytes) -> dict[str, str]:
    return json.loads(file)["provenance"]


def csv_of_view(provenance: Provenance | None = None) -> bytes:
    return selection_csv(kinds_of(traced())["encoder"], View(), provenance=provenance)


def csv_of_links(provenance: Provenance | None = None) -> bytes:
    weights = np.array([[1 / 3, 0.25], [0.1, 0.7]])
    return alignment_csv(weights, ["un", "=chat"], ["a", "cat, "], frozenset({(0, 0), (1, 1)}), provenance=provenance)


def csv_of_findings(provenance: Provenance | None = None) -> bytes:
    return findings_csv(findings(), provenance=provenance)


@cache
def findings() -> list[CheckResult]:
    checkpoint = tiny.checkpoint()
    return evidence(checkpoint, checkpoint.trace(tiny.TEXT))


def picture(provenance: Provenance | None) -> str:
    return svg(kinds_of(traced()), View(show="matrix"), provenance=provenance)


# How each file is made, how its facts are read, and where it counts from.
FILES: dict[str, tuple[Callable[[Provenance], Any], Callable[[Any], dict[str, str]], int]] = {
    "svg": (picture, in_svg, 1),
    "png": (lambda provenance: png(picture(provenance), provenance=provenance), in_png, 1),
    "pdf": (lambda provenance: pdf(picture(provenance), provenance=provenance), in_pdf, 1),
    "html": (lambda provenance: html_page(traced(), provenance=provenance), in_page, 1),
    "npz": (lambda provenance: trace_npz(traced(), edits=EDITS, provenance=provenance), in_npz, 0),
    "npz of steps": (lambda provenance: npz({"product_terms": np.ones(3)}, provenance=provenance), in_npz, 0),
    "csv": (csv_of_view, in_csv, 0),
    "csv of links": (csv_of_links, in_csv, 0),
    "csv of findings": (csv_of_findings, in_csv, 0),
    "json": (
        lambda provenance: selection_json(kinds_of(traced())["encoder"], View(), provenance=provenance),
        in_json,
        0,
    ),
}


@ALL_TEXTS
@pytest.mark.parametrize("kind", FILES)
def test_every_fact_reads_back_from_every_file(kind, text):
    make, read, first = FILES[kind]
    provenance = provenance_of(text)
    assert read(make(provenance)) == provenance.facts(first)


def test_without_edits_an_npz_has_them_as_edits_reads_them():
    plain = Provenance(checkpoint="a", text="b")
    assert in_npz(npz({}, provenance=plain)) == plain.facts() | {"edits": ""}


def test_edits_that_are_not_those_of_the_provenance_are_refused():
    with pytest.raises(ValueError, match="expected those of the provenance"):
        trace_npz(traced(), edits=EDITS, provenance=Provenance(checkpoint="a", text="b"))


@ALL_TEXTS
@pytest.mark.parametrize("make", [csv_of_view, csv_of_links, csv_of_findings])
def test_after_its_facts_a_csv_file_is_what_it_is_without_them(make, text):
    file, plain = make(provenance_of(text)), make()
    skipped = int(re.findall(r"skiprows=(\d+)", file.decode("utf-8-sig"))[0])
    assert file.split(b"\n", skipped)[-1] == plain.removeprefix(b"\xef\xbb\xbf")
    pd.testing.assert_frame_equal(
        pd.read_csv(io.BytesIO(file), skiprows=skipped), pd.read_csv(io.BytesIO(plain)), check_exact=True
    )
    rows = islice(csv.reader(io.StringIO(file.decode("utf-8-sig"))), skipped)
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for row in rows for cell in row)


def test_a_formula_after_any_mark_that_parts_cells_is_taken_apart():
    (_, line) = fact_lines({"text": "=1,=1;+1|-1,@a, =1"})
    assert line == "# text: =1,\\u003d1;\\u002b1|\\u002d1,\\u0040a, =1\n"


def test_facts_change_no_number_of_a_file():
    provenance = provenance_of("a")
    with_facts = np.load(io.BytesIO(trace_npz(traced(), edits=EDITS, provenance=provenance)))
    without = np.load(io.BytesIO(trace_npz(traced(), edits=EDITS)))
    assert all(np.array_equal(with_facts[name], without[name]) for name in without)
    assert set(with_facts) - set(without) == provenance.facts().keys() - {"edits"}
    kind = kinds_of(traced())["encoder"]
    told = json.loads(selection_json(kind, View(), provenance=provenance))
    del told["provenance"]
    assert told == json.loads(selection_json(kind, View()))
    drawn = picture(provenance)
    printed = pdf(drawn)
    assert with_information(printed, provenance).startswith(printed)
    assert with_information(b"%PDF of another shape", provenance) == b"%PDF of another shape"
    bare, told_of = (
        np.asarray(Image.open(io.BytesIO(file))) for file in (png(drawn), png(drawn, provenance=provenance))
    )
    assert np.array_equal(bare, told_of)


@ALL_TEXTS
@pytest.mark.parametrize(("show", "width"), [("matrix", None), ("text", 260), ("all", None)])
def test_the_caption_of_a_picture_stays_in_its_frame(show, width, text):
    drawn = svg(kinds_of(traced()), View(show=show), width=width, provenance=provenance_of(text))
    root = ElementTree.fromstring(drawn)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        *("svg", "title", "desc", "metadata", "g", "rect", "text", "image", "path", "line"),
    }
    pixels = np.asarray(Image.open(io.BytesIO(png(drawn, scale=1))).convert("RGB"))
    ground = np.array([int(LIGHT.background[at : at + 2], 16) for at in (1, 3, 5)])
    edge = MARGIN // 2
    for side in (pixels[:, :edge], pixels[:, -edge:], pixels[:edge], pixels[-edge:]):
        assert (side == ground).all()


@ALL_TEXTS
def test_a_page_says_it_as_text_alone_and_keeps_its_policy(text):
    plain, page = html_page(traced()), html_page(traced(), provenance=provenance_of(text))
    metadata = Metadata(page)
    assert metadata.paragraph.strip() == provenance_of(text).sentence()
    assert metadata.meta["description"] == provenance_of(text).sentence()
    assert POLICY in page
    more = [element for element in metadata.elements if element not in ("meta", "p")]
    assert more == [element for element in Metadata(plain).elements if element != "meta"]
    assert page.count("</script>") == plain.count("</script>")


def test_the_title_of_a_page_is_its_own_or_that_of_its_text():
    provenance = Provenance(checkpoint="sentiment", text="<b>A film.")
    assert "<title>sentiment: “&lt;b&gt;A film.”</title>" in html_page(traced(), provenance=provenance)
    assert "<title>Mine</title>" in html_page(traced(), title="Mine", provenance=provenance)
    assert "<title>Attention</title>" in html_page(traced())


# Scripts


def script_of_a_weight(provenance: Provenance | None = None) -> str:
    checkpoint = tiny.checkpoint()
    site = WeightSite(attention="encoder", layer=0, head=1, query=2, key=1)
    path = path_of(checkpoint.model, checkpoint.trace(tiny.TEXT), site)
    return step_sentences.script(path, checkpoint="tiny", text="a", pair="", provenance=provenance)


SCRIPTS: dict[str, Callable[[Provenance | None], str]] = {
    "view": lambda provenance: snippet("tiny", "a", View(), EDITS, provenance=provenance),
    "broken": lambda provenance: edited_script("tiny", "a", EDITS, None, provenance),
    "written": lambda provenance: written_script("tiny", "a", [1, 2], {}, {}, EDITS, provenance=provenance),
    "weight": script_of_a_weight,
}


@ALL_TEXTS
@pytest.mark.parametrize("make", SCRIPTS.values(), ids=SCRIPTS)
def test_facts_are_comments_of_a_script_and_change_no_statement(make, text):
    provenance = provenance_of(text)
    script, plain = make(provenance), make(None)
    assert ast.dump(ast.parse(script)) == ast.dump(ast.parse(plain))
    comments = [line[2:].split(": ", 1) for line in script.splitlines() if re.match("# [a-z_]+: ", line)]
    comment_facts = {name: json.loads(f'"{fact}"') for name, fact in comments}
    facts = provenance.facts()
    assert comment_facts == {name: facts[name] for name in ("target", "target_by", "counting", "program")}


# Names of files


def test_a_file_is_called_by_its_page_its_checkpoint_and_what_is_selected():
    name = file_name("explore", "sentiment", "text=A+film&layer=2", "svg")
    assert name == "explore-sentiment-99026f39.svg"
    assert file_name("explore", "sentiment", "text=A+film&layer=3", "svg") != name


@given(*[st.text(st.characters(exclude_categories=[])) for _ in range(4)])
def test_whatever_the_names_are_a_file_has_a_plain_one(page, checkpoint, selection, ending):
    name = file_name(page, checkpoint, selection, ending)
    part = "[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?"
    assert re.fullmatch(rf"{part}-{part}-[0-9a-f]{{8}}\.{part}", name)
    assert PurePosixPath(name).name == PureWindowsPath(name).name == name


@pytest.mark.parametrize(
    ("checkpoint", "plain"),
    [
        ("../../etc/passwd", "etc-passwd"),
        ("C:\\models\\Mine", "c-models-mine"),
        ("модель", "checkpoint"),
        ("", "checkpoint"),
        ("a" * 500, "a" * 40),
        ("bert_base.v2 ", "bert-base-v2"),
        ("con\x00\n", "con"),
    ],
)
def test_a_checkpoint_in_a_name_keeps_its_letters_and_digits(checkpoint, plain):
    assert file_name("write", checkpoint, "", "csv") == f"write-{plain}-e3b0c442.csv"
