"""The picture to share: its size, its words, which never run off it, and the weights that its curves stand for."""

import io
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from model import load_checkpoint
from pages.parts.frame import downloads
from pages.parts.frame.downloads import words_of
from tests.first_example import FOUND_NAME, LOVED, QUERY
from tests.pages.test_every_page import opened
from viz.explorer.attention_kinds import kinds_of
from viz.explorer.view import View
from viz.export.share_picture import (
    HEIGHT,
    MARGIN,
    SMALL,
    THICKEST,
    WIDTH,
    Bar,
    ShareWords,
    bars_png,
    bars_svg,
    plain_text,
    share_png,
    share_svg,
)
from viz.sentences.curve_look import LOOK
from viz.theme import DARK, LIGHT

TEXT = "The film was slow, but I loved it."
ALONE = frozenset((3, head) for head in range(8) if head != 3)
WORDS = ShareWords(
    text=TEXT,
    title='Every word looks at "loved".',
    sentence="Layer 4, head 4 gives it 99 % of its attention.",
    address="localhost:8501/?layer=3",
)


@pytest.fixture(scope="module")
def trace():
    return load_checkpoint("sentiment").trace(TEXT)


@pytest.fixture(scope="module")
def kind(trace):
    return kinds_of(trace)["encoder"]


def drawn(svg: str) -> dict[tuple[int, int], tuple[float, float]]:
    """Weight and width of every curve, by query and key."""
    paths = [path.attrib for path in ElementTree.fromstring(svg).iter() if "data-weight" in path.attrib]
    return {
        (int(path["data-query"]), int(path["data-key"])): (float(path["data-weight"]), float(path["stroke-width"]))
        for path in paths
    }


def texts(svg: str) -> list[str]:
    return ["".join(text.itertext()) for text in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("off", [ALONE, frozenset(), frozenset({(3, 0), (3, 1)})])
def test_every_curve_has_the_weight_of_the_heads_that_are_on_and_is_as_wide_as_it_is_large(trace, kind, off):
    on = [head for head in range(8) if (3, head) not in off]
    weights = trace.encoder.blocks[3].self_attention.weights[on].double().mean(dim=0).numpy()
    curves = drawn(share_svg(kind, View(layer=3, off=off), WORDS))
    assert set(curves) == set(map(tuple, np.argwhere(weights >= LOOK.faintest * weights.max()).tolist()))
    for place, (weight, width) in curves.items():
        assert weight == pytest.approx(weights[place], abs=1e-6)
        assert width == pytest.approx(LOOK.width(weights[place] / weights.max(), len(weights)), abs=1e-3)


def test_the_sentence_stands_twice_and_the_words_and_whose_head_it_is_once(trace, kind):
    lines = texts(share_svg(kind, View(layer=3, off=ALONE), WORDS))
    for token in set(trace.encoder.tokens):
        assert lines.count(token) == 2 * trace.encoder.tokens.count(token)
    assert [WORDS.title, WORDS.sentence] == lines[1:3]
    assert any(line.startswith("Layer 4, head 4: ") for line in lines)
    assert lines[-1] == f"Headlight · {WORDS.address}"


def test_a_query_that_is_kept_stands_out(kind):
    svg = share_svg(kind, View(layer=3, off=ALONE, query=2), WORDS)
    strong = {
        int(path.attrib["data-query"])
        for path in ElementTree.fromstring(svg).iter()
        if float(path.attrib.get("stroke-opacity", 0)) > LOOK.faded
    }
    assert strong == {2}


def pixels(png: bytes) -> np.ndarray:
    image = Image.open(io.BytesIO(png))
    assert (image.size, image.format) == ((WIDTH, HEIGHT), "PNG")
    return np.asarray(image.convert("RGB")).astype(int)


LONG = " ".join(f"word{place}" for place in range(200))
HOSTILE = [
    "", "a", "x" * 400, LONG, "<script>alert(1)</script> & **b** $x$", "שלום עולם good", "देवनागरी 漢字 😀 👩\u200d👧",
    "\u202e\u200b a\x00b", "W" * 90 + " " + "M" * 90, "il" * 300,
]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "theme"), list(zip(HOSTILE, [LIGHT, DARK] * 5, strict=True)), ids=range(len(HOSTILE))
)
def test_nothing_runs_off_whatever_the_words(kind, words, theme):
    told = ShareWords(text=words, title=words, sentence=f"{words} {words}", address=f"localhost/?text={words}")
    picture = pixels(share_png(kind, View(layer=0), told, theme=theme))
    ground = [int(theme.background[place : place + 2], 16) for place in (1, 3, 5)]
    edge = MARGIN // 2
    for part in (picture[10:, :edge], picture[10:, -edge:], picture[-12:], picture[10:24]):
        assert np.abs(part - ground).max() <= 2
    assert np.abs(picture - ground).max() > 100


def test_long_texts_and_texts_without_a_head_that_is_on_are_drawn():
    trace = load_checkpoint("sentiment").trace(LONG)
    kind = kinds_of(trace)["encoder"]
    svg = share_svg(kind, View(), WORDS)
    assert drawn(svg)
    assert any("The text's end is left out." in line for line in texts(svg))
    assert not drawn(share_svg(kind, View(off=frozenset((0, head) for head in range(8))), WORDS))


def test_cross_attention_has_its_two_texts():
    trace = load_checkpoint("translate-en-fr").trace("The red house is big.")
    kind = kinds_of(trace)["cross"]
    curves = drawn(share_svg(kind, View(attention="cross", layer=1), replace(WORDS, text="The red house is big.")))
    layer = trace.decoder.blocks[1] if trace.decoder is not None else None
    assert layer is not None
    assert layer.cross_attention is not None
    weights = layer.cross_attention.weights.double().mean(dim=0).numpy()
    assert {place: weight for place, (weight, _) in curves.items()} == pytest.approx(
        {place: weights[place] for place in curves}, abs=1e-6
    )


def test_the_words_are_those_of_the_finding_without_their_markup():
    finding = {
        "title": 'Every word looks at \\"loved\\"\\.',
        "sentence": "**Layer 4**, `head` [4](x) gives \\*all\\*\\.",
    }
    words = words_of(finding, "here", TEXT)
    assert (words.title, words.sentence) == ('Every word looks at "loved".', "Layer 4, head 4 gives *all*.")
    assert plain_text("a \\[b\\]\\(c\\) \\\\") == "a [b](c) \\"


def test_numbers_are_bars_as_long_as_they_are_large_under_the_same_words():
    bars = [
        Bar(name="with positions", length=1.0, label="5.1 %"),
        Bar(name="without positions", length=0.25, label="1 %"),
    ]
    svg = bars_svg(bars, "The largest change.", WORDS)
    wide = [
        float(box.attrib["width"])
        for box in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}rect")
        if float(box.attrib["height"]) == THICKEST
    ]
    assert wide == pytest.approx([(WIDTH - 2 * MARGIN) / 3, (WIDTH - 2 * MARGIN) / 12], abs=0.01)
    assert {"with positions", "5.1 %", "without positions", "1 %", "The largest change.", WORDS.title} <= set(
        texts(svg)
    )
    assert Image.open(io.BytesIO(bars_png(bars, "", WORDS))).size == (WIDTH, HEIGHT)


def test_a_bar_in_the_other_direction_has_another_colour():
    there, back = Bar(name="a", length=1.0, label="+5"), Bar(name="b", length=1.0, label="−5", against=True)
    fills = [
        box.attrib["fill"]
        for box in ElementTree.fromstring(bars_svg([there, back], "", WORDS)).iter("{http://www.w3.org/2000/svg}rect")
        if float(box.attrib["height"]) == THICKEST
    ]
    assert fills[0] == LIGHT.accent
    assert len(set(fills)) == 2


def test_no_sentence_is_cut_in_its_middle_where_one_before_it_fits():
    first = "The first sentence stands whole (p = 0.04)."
    told = replace(WORDS, sentence=f"{first} Then {LONG}.")
    assert first in texts(bars_svg([], "", told))
    cut = texts(bars_svg([], "", replace(WORDS, sentence=f"{LONG}.")))
    assert any(line.endswith("…") for line in cut)


def test_many_bars_are_thin_and_stay_above_the_foot():
    bars = [Bar(name=f"number {place}", length=0.5, label="5 %") for place in range(40)]
    for count in (1, 2, 5, 40):
        svg = ElementTree.fromstring(bars_svg(bars[:count], "", WORDS))
        panel = svg.findall("{http://www.w3.org/2000/svg}g")[1]
        boxes = [box.attrib for box in panel.iter("{http://www.w3.org/2000/svg}rect")]
        assert min(count, 8) <= len(boxes) <= count
        top = float(panel.attrib["transform"].split(",")[-1].split()[-1].rstrip(")"))
        assert all(SMALL <= float(box["height"]) <= THICKEST for box in boxes)
        assert top + max(float(box["y"]) + float(box["height"]) for box in boxes) <= HEIGHT - 66 - SMALL / 2


@pytest.mark.parametrize(
    ("page", "address", "whose", "marked"),
    [
        ("inside.py", {}, FOUND_NAME, (QUERY, LOVED)),
        ("inside.py", {"layer": "1", "head": "2", "query": "3"}, "Layer 2, head 3", None),
        ("evidence.py", {"layer": "1", "head": "2"}, "Layer 2, head 3", None),
        ("translate.py", {}, "Layer 3, mean of 8 heads", (2, 1)),
        ("translate.py", {"translation": "reading.1.3~moment.read~step.2"}, "Layer 2, head 4", (3, 6)),
    ],
)
def test_the_picture_of_a_page_draws_what_its_title_is_about(page, address, whose, marked, monkeypatch):
    makers, views = {}, []

    def svg_of(*told, **_):
        views.append(told[1])
        return share_svg(*told)

    monkeypatch.setattr(downloads, "button", lambda label, _, make, *__, **___: makers.update({label: make}))
    monkeypatch.setattr(downloads, "share_png", svg_of)
    assert not opened(page, **address).exception
    (make,) = (make for label, make in makers.items() if label.startswith("Picture to share"))
    assert [text for text in texts(make()) if text.startswith(f"{whose}:")]
    assert marked in (None, (views[0].query, views[0].key))


def test_there_is_no_picture_to_share_of_the_mean_of_all_layers(monkeypatch):
    labels = []
    monkeypatch.setattr(downloads, "button", lambda label, *_, **__: labels.append(label))
    opened("translate.py", translation="reading.all")
    assert "Web page (HTML)" in labels
    assert not [label for label in labels if label.startswith("Picture to share")]
