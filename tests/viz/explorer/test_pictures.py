"""Pictures, files and scripts of the explorer give back the numbers and tokens that the view shows."""

import base64
import csv
import io
import json
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from model import Edits, HeadSite, Overwrite, load_checkpoint
from tests import tiny
from tests.viz.charts.test_figures import contrast
from viz.explorer.attention_kinds import Kind, Text, kinds_of
from viz.explorer.printing import MOST_PIXELS, largest_scale, pdf, png
from viz.explorer.snippet import snippet
from viz.explorer.svg.paint import fitted, ink_on, interpolated, safe, text_width
from viz.explorer.svg.picture import svg
from viz.explorer.view import View, drawn_weights, largest_of, shown_numbers, strength
from viz.export.data_files import MOST_ROWS, selection_csv, selection_json, trace_npz
from viz.theme import DARK, LIGHT, Theme
from viz.tokens import visible

ROOT = Path(__file__).parents[3]
SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"
ATTENTIONS = pytest.mark.parametrize("attention", ["encoder", "decoder", "cross"])
THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
HOSTILE = [
    "<script>x</script>",
    "&amp;",
    "]]>",
    "the",
    "the",
    "\x00\x07",
    "\ufffe",
    "\u202ea",
    "שלום",
    "w" * 200,
    "",
    "😀",
]
HOSTILE += ["https://example.org/a.png", "\"'", "a  b"]


def traced() -> Any:
    return tiny.checkpoint("encoder-decoder").trace(tiny.TEXT, target="a cat saw")


def kinds() -> dict[str, Kind]:
    return kinds_of(traced())


def kind_of(tokens: list[str], layers: int = 2, heads: int = 3, **facts: Any) -> dict[str, Kind]:
    text = Text(stack="encoder", tokens=tuple(tokens), **facts)
    weights = np.random.default_rng(0).dirichlet(np.ones(len(tokens)), size=(layers, heads, len(tokens)))
    return {
        "encoder": Kind(
            name="encoder", queries=text, keys=text, weights=tuple(weights.astype(np.float32)), causal=False
        )
    }


def parsed(picture: str) -> ElementTree.Element:
    return ElementTree.fromstring(picture)


def elements(picture: str, name: str) -> list[ElementTree.Element]:
    return list(parsed(picture).iter(SVG + name))


def texts(picture: str, **attributes: str) -> list[str]:
    """The texts with these attributes, in the order of the file; font_size stands for font-size."""
    svg_attributes = {name.replace("_", "-"): value for name, value in attributes.items()}
    return [text.text or "" for text in elements(picture, "text") if svg_attributes.items() <= text.attrib.items()]


def pixels(image: ElementTree.Element) -> np.ndarray:
    data = image.attrib[HREF].removeprefix("data:image/png;base64,")
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))))


def colours_of(theme: Theme, name: str, strengths: np.ndarray) -> np.ndarray:
    """The rule of paint.js, written a second time: 256 steps between the colours of the scale."""
    scale = theme.scales.get(name) or {"above": theme.above, "below": theme.below}[name]
    stops = np.array([[int(stop[at : at + 2], 16) for at in (1, 3, 5)] for stop in scale], float)
    places = np.floor(strengths * 255 + 0.5) / 255 * (len(stops) - 1)
    left = np.minimum(places.astype(int), len(stops) - 2)
    return stops[left] + (stops[left + 1] - stops[left]) * (places - left)[..., None]


def matrix_of(picture: str) -> np.ndarray:
    """The pixels of the heatmap: the first of two rasters, the other is its scale."""
    heatmap, _ = elements(picture, "image")
    return pixels(heatmap)


def lines_of(picture: str, theme: Theme = LIGHT) -> Iterator[tuple[int, int, int, float, float]]:
    """Head, row, column, width and opacity of every line; rows are told by the order of the heights."""
    paths = [
        (path, [float(number) for number in re.findall(r"[\d.]+", path.attrib["d"])])
        for path in elements(picture, "path")
    ]
    starts, ends = (sorted({points[at] for _, points in paths}) for at in (1, -1))
    for path, points in paths:
        dash = ["", "6 3", "2 3", "9 3 2 3"].index(path.get("stroke-dasharray", ""))
        head = 12 * dash + theme.heads.index(path.attrib["stroke"])
        look = (float(path.attrib["stroke-width"]), float(path.attrib["stroke-opacity"]))
        yield head, starts.index(points[1]), ends.index(points[-1]), *look


# The matrix


@ATTENTIONS
@THEMES
def test_a_pixel_of_the_matrix_has_the_shade_of_the_mean_weight(attention, theme):
    trace = traced()
    blocks = trace.encoder.blocks if attention == "encoder" else trace.decoder.blocks
    part = blocks[1].cross_attention if attention == "cross" else blocks[1].self_attention
    picture = svg(kinds_of(trace), View(attention=attention, layer=1, show="matrix"), theme=theme)
    expected = colours_of(theme, "blue", np.sqrt(part.weights.numpy().mean(axis=0)))
    assert matrix_of(picture).shape == expected.shape
    assert np.abs(matrix_of(picture) - expected).max() <= 0.51


@pytest.mark.parametrize("scale", ["root", "linear", "log"])
@pytest.mark.parametrize("maximum", ["one", "shared", "head"])
def test_the_matrix_follows_scale_maximum_threshold_top_and_heads(scale, maximum):
    attentions = kinds()
    view = View(
        show="matrix", scale=scale, maximum=maximum, threshold=0.05, top=3, off=frozenset({(0, 2)}), colours="grey"
    )
    mean = attentions["encoder"].weights[0][[0, 1, 3]].mean(axis=0, dtype=np.float64).astype(np.float32)
    full = {"one": 1.0, "shared": float(attentions["encoder"].weights[0][[0, 1, 3]].max()), "head": float(mean.max())}[
        maximum
    ]
    expected = colours_of(LIGHT, "grey", strength(drawn_weights(mean, view), view, full))
    assert np.abs(matrix_of(svg(attentions, view)) - expected).max() <= 0.51


def test_the_matrix_has_the_rows_and_columns_that_the_view_leaves():
    attentions = kind_of(
        ["[S]", "un", "##like", "it", "[E]"], special=(True, False, False, False, True), words=(None, 0, 0, 1, None)
    )
    view = View(show="matrix", special="renormalised", words=True)
    picture = svg(attentions, view)
    assert texts(picture, text_anchor="end", font_size="12") == ["unlike", "it"]
    mean = shown_numbers(attentions["encoder"], view).mean
    assert np.allclose(mean.sum(axis=1), 1, atol=1e-6)
    assert np.abs(matrix_of(picture) - colours_of(LIGHT, "blue", np.sqrt(mean))).max() <= 0.51


def test_the_labels_of_the_matrix_stand_in_order_beside_their_rows_and_columns():
    attentions = kinds()
    picture = svg(attentions, View(attention="cross", show="matrix"))
    labels = [text for text in elements(picture, "text") if text.attrib["font-size"] == "12"]
    rows = [text for text in labels if text.get("text-anchor") == "end"]
    columns = [text for text in labels if "rotate" in text.get("transform", "")]
    assert [text.text for text in rows] == list(attentions["cross"].queries.tokens)
    assert [text.text for text in columns] == list(attentions["cross"].keys.tokens)
    heights = [float(text.attrib["y"]) for text in rows]
    places = [float(text.attrib["transform"].split("(")[1].split()[0]) for text in columns]
    assert heights == sorted(set(heights))
    assert places == sorted(set(places))


@pytest.mark.parametrize(("marks", "covered"), [({"query": 2}, 30), ({"key": 1}, 30), ({"query": 2, "key": 1}, 25)])
def test_all_cells_of_the_matrix_but_those_of_marked_tokens_are_veiled(marks, covered):
    picture = svg(kind_of(list("abcdef")), View(show="matrix", **marks))
    heatmap, _ = elements(picture, "image")
    veils = [one for one in elements(picture, "rect") if one.get("fill-opacity") == "0.8"]
    areas = [float(one.attrib["width"]) * float(one.attrib["height"]) for one in (heatmap, *veils)]
    assert sum(areas[1:]) / areas[0] * 36 == pytest.approx(covered, rel=1e-3)


@pytest.mark.parametrize("tokens", [6, 700])
def test_the_edge_of_a_marked_row_lies_on_its_cells(tokens):
    picture = svg(kind_of([f"w{place}" for place in range(tokens)], layers=1, heads=1), View(show="matrix", query=2))
    heatmap, _ = elements(picture, "image")
    (edge,) = [one for one in elements(picture, "rect") if one.get("stroke") == LIGHT.second]
    left, top, width, height = (float(heatmap.attrib[name]) for name in ("x", "y", "width", "height"))
    expected = (left, top + 2 * height / tokens, width, max(height / tokens, 1))
    edge_box = tuple(float(edge.attrib[name]) for name in ("x", "y", "width", "height"))
    assert edge_box == pytest.approx(expected, abs=1e-3)
    assert edge.attrib["stroke-width"] == "2"


def test_a_long_text_prints_every_so_many_labels_and_always_the_marked_one():
    tokens = [f"word{position}" for position in range(300)]
    picture = svg(kind_of(tokens, layers=1, heads=1), View(show="matrix", query=101))
    rows = [text for text in elements(picture, "text") if text.get("text-anchor") == "end"]
    heights = np.array([float(text.attrib["y"]) for text in rows])
    assert "word101" in [text.text for text in rows]
    assert np.diff(heights).min() >= 12
    assert matrix_of(picture).shape[:2] == (300, 300)


# Lines


@ATTENTIONS
def test_width_and_opacity_of_every_line_give_the_weight_back(attention):
    attentions = kinds()
    weights = attentions[attention].weights[0]
    lines = list(lines_of(svg(attentions, View(attention=attention, show="lines"))))
    assert len(lines) == len({line[:3] for line in lines}) == (weights > 0).sum()
    for head, row, column, width, opacity in lines:
        assert ((width - 0.6) / 3) ** 2 == pytest.approx(weights[head, row, column], abs=1e-4)
        assert (opacity - 0.06) / 0.94 == pytest.approx(weights[head, row, column], abs=1e-4)


def test_lines_follow_scale_maximum_threshold_and_top_of_each_head():
    attentions = kind_of(list("abcdef"))
    view = View(show="lines", scale="log", maximum="head", threshold=0.02, top=3, off=frozenset({(0, 1)}))
    seen = shown_numbers(attentions["encoder"], view)
    numbers, full = drawn_weights(seen.weights, view), largest_of(seen.weights, view)
    lines = list(lines_of(svg(attentions, view)))
    assert len(lines) == (numbers > 0).sum()
    for head, row, column, width, _ in lines:
        place = seen.heads.index(head)
        expected = strength(numbers[place], view, full[place])[row, column]
        assert (width - 0.6) / 3 == pytest.approx(expected, abs=1e-4)


def test_the_strongest_line_lies_on_top():
    widths = [line[3] for line in lines_of(svg(kinds(), View(show="lines")))]
    assert widths == sorted(widths)


def test_after_twelve_heads_the_next_dash():
    picture = svg(kind_of(["a", "b"], layers=1, heads=14), View(show="lines"))
    assert {line[0] for line in lines_of(picture)} == set(range(14))
    names = [text for text in texts(picture, font_size="13", fill=LIGHT.text) if text.startswith("head")]
    assert names == [f"head {head}" for head in range(1, 15)]


def test_of_very_many_lines_the_strongest_are_drawn_and_the_caption_says_so():
    attentions = kind_of([f"w{position}" for position in range(60)], layers=1, heads=2)
    picture = svg(attentions, View(show="lines"))
    widths = np.array([float(path.attrib["stroke-width"]) for path in elements(picture, "path")])
    expected = np.sort(attentions["encoder"].weights[0].reshape(-1))[-1200:]
    assert np.allclose(((widths - 0.6) / 3) ** 2, expected, atol=1e-3)
    assert "the 1,200 strongest of 7,200" in caption_of(picture)


def test_a_marked_query_has_its_lines_over_the_faded_others_and_its_keys_shaded():
    attentions = kinds()
    picture = svg(attentions, View(show="lines", query=2))
    faded = [group for group in elements(picture, "g") if group.get("opacity") == "0.14"]
    count = attentions["encoder"].weights[0].shape
    assert len(elements(picture, "path")) - len(list(faded[0])) == count[0] * count[2]
    mean = attentions["encoder"].weights[0].mean(axis=0)[2]
    fills = [bytes.fromhex(box.attrib["fill"][1:]) for box in elements(picture, "rect")[2 : 2 + len(mean)]]
    assert np.abs(np.array([list(fill) for fill in fills]) - colours_of(LIGHT, "blue", np.sqrt(mean))).max() <= 0.51


@pytest.mark.parametrize("count", [3, 20, 45])
def test_a_marked_token_hides_none_of_its_neighbours(count):
    tokens = [f"word{position}" for position in range(count)]
    picture = svg(kind_of(tokens, layers=1, heads=1), View(show="lines", query=count // 2))
    frame = next(box for box in elements(picture, "rect") if box.get("stroke-width") == "2")
    place = float(frame.attrib["y"]) + float(frame.attrib["height"]) / 2
    rows = [
        float(text.attrib["y"]) - 0.35 * 13 for text in elements(picture, "text") if text.get("text-anchor") == "end"
    ]
    others = [abs(row - place) for row in rows[1:] if abs(row - place) > 1]
    assert len(others) == count - 1
    assert min(others) >= float(frame.attrib["height"]) - 1e-3


# The grid


@ATTENTIONS
def test_every_thumbnail_stands_in_its_layer_and_head_with_its_weights(attention):
    kind = kinds()[attention]
    images = elements(svg({attention: kind}, View(attention=attention, show="grid")), "image")
    across, down = (sorted({float(image.attrib[axis]) for image in images}) for axis in "xy")
    tiles = {(down.index(float(i.attrib["y"])), across.index(float(i.attrib["x"]))): pixels(i) for i in images}
    weights = np.stack(kind.weights)
    expected = {site: weights[site] for site in product(range(kind.layers), range(kind.heads))}
    expected |= {(layer, kind.heads): weights[layer].mean(axis=0) for layer in range(kind.layers)}
    expected |= {(kind.layers, head): weights[:, head].mean(axis=0) for head in range(kind.heads)}
    assert tiles.keys() == expected.keys()
    for site, tile in tiles.items():
        assert np.abs(tile - colours_of(LIGHT, "blue", np.sqrt(expected[site]))).max() <= 0.51


def test_heads_that_are_off_are_dimmed_and_those_on_of_the_layer_outlined():
    picture = svg(kinds(), View(show="grid", layer=1, off=frozenset({(1, 0), (0, 3)})))
    groups = [group for group in elements(picture, "g") if group.find(f"{SVG}image") is not None]
    dimmed = [place for place, group in enumerate(group.get("opacity") for group in groups) if group == "0.22"]
    assert dimmed == [3, 5], "layer 0 has four heads and a mean before those of layer 1"
    assert sum(box.get("stroke-width") == "2" for box in elements(picture, "rect")) == 3


@pytest.mark.parametrize(("marks", "covered"), [({"query": 0}, 30), ({"key": 2}, 30), ({"query": 1, "key": 1}, 30)])
def test_all_of_a_thumbnail_but_the_row_or_column_of_the_marked_token_is_veiled(marks, covered):
    picture = svg(kind_of(list("abcdef")), View(show="grid", **marks))
    tiles = elements(picture, "image")
    veils = [one for one in elements(picture, "rect") if one.get("fill-opacity") == "0.72"]
    area = float(tiles[0].attrib["width"]) * float(tiles[0].attrib["height"])
    veiled_area = sum(float(one.attrib["width"]) * float(one.attrib["height"]) for one in veils)
    assert veiled_area / area * 36 == pytest.approx(covered * len(tiles), rel=1e-3)
    assert {one.attrib["fill"] for one in veils} == {LIGHT.background}
    assert not [one for one in elements(svg(kinds(), View(show="grid")), "rect") if one.get("fill-opacity")]


@pytest.mark.parametrize(("off", "named"), [({(0, 0), (0, 2)}, ["2"]), ({(0, 0)}, []), (set(), [])])
def test_the_number_of_the_head_that_is_on_alone_stands_out(off, named):
    picture = svg(kind_of(["a", "b"]), View(show="grid", layer=0, off=frozenset(off)))
    assert texts(picture, fill=LIGHT.text, text_anchor="middle") == named


def heights_of(element: ElementTree.Element, above: float = 0.0) -> dict[str | None, float]:
    """How far below the top every text stands."""
    shift = re.match(r"translate\([\d.]+ ([\d.]+)\)", element.get("transform", ""))
    below = above + (float(shift[1]) if shift else 0.0)
    own = {element.text: below + float(element.get("y", "0"))} if element.tag == SVG + "text" else {}
    return own | {name: height for child in element for name, height in heights_of(child, below).items()}


@pytest.mark.parametrize(("layers", "heads", "rows"), [(4, 8, 1), (2, 2, 1), (12, 12, 2), (24, 16, 2), (40, 2, 1)])
def test_thumbnails_beside_lines_and_matrix_can_be_pointed_at_and_others_have_a_row(layers, heads, rows):
    picture = svg(kind_of(["a", "b", "c"], layers=layers, heads=heads), View())
    places = heights_of(parsed(picture))
    assert len({places[name] for name in ("All heads", "Lines", "Matrix")}) == rows
    assert places["Lines"] == places["Matrix"]
    side = float(elements(picture, "image")[0].attrib["width"])
    assert side >= (24 if layers < 40 and heads < 16 else 12)
    assert 20 + (layers + 1) * (side + 3) <= max(720, 20 + (layers + 1) * 15)


def test_a_thumbnail_of_a_long_text_keeps_the_largest_weight_of_each_block():
    kind = kind_of(["a"] * 64, layers=1, heads=1)["encoder"]
    tile = pixels(elements(svg({"encoder": kind}, View(show="grid", maximum="one")), "image")[0])
    blocks = kind.weights[0][0].reshape(32, 2, 32, 2).max(axis=(1, 3))
    assert np.abs(tile - colours_of(LIGHT, "blue", np.sqrt(blocks))).max() <= 0.51


@pytest.mark.parametrize("maximum", ["shared", "head"])
def test_thumbnails_share_a_maximum_or_have_their_own(maximum):
    images = [pixels(image) for image in elements(svg(kinds(), View(show="grid", maximum=maximum)), "image")]
    full = np.array([int(LIGHT.weights[-1][at : at + 2], 16) for at in (1, 3, 5)])
    reached = [(image == full).all(axis=-1).any() for image in images]
    assert all(reached) if maximum == "head" else sum(reached) == 1


# Text and table


def fills_behind_tokens(picture: str) -> np.ndarray:
    fills = [box.attrib["fill"] for box in elements(picture, "rect") if box.get("rx") and box.get("fill") != "none"]
    return np.array([[int(fill[at : at + 2], 16) for at in (1, 3, 5)] for fill in fills])


@pytest.mark.parametrize("marked", [{}, {"query": 2}, {"key": 1}, {"query": 2, "key": 1}])
def test_the_text_is_shaded_by_what_the_marked_token_attends_to_or_gets(marked):
    attentions = kinds()
    mean = attentions["encoder"].weights[0].mean(axis=0)
    weights = mean[2] if "query" in marked else mean[:, 1] if marked else mean.mean(axis=0)
    picture = svg(attentions, View(show="text", **marked))
    assert texts(picture, text_anchor="middle") == list(attentions["encoder"].keys.tokens)
    assert np.abs(fills_behind_tokens(picture) - colours_of(LIGHT, "blue", np.sqrt(weights))).max() <= 0.51


def test_a_word_stays_in_its_box_in_a_wide_typeface():
    picture = svg(kind_of(["unforgettable", "cinematography"]), View(show="text"))
    first = next(box for box in elements(picture, "rect") if box.get("rx"))
    wide = 13962 / 2048 * 14  # in DejaVu Sans, by its table of widths
    assert float(first.attrib["width"]) > wide + 4


def test_queries_and_keys_of_cross_attention_are_two_texts():
    attentions = kinds()
    kind = attentions["cross"]
    picture = svg(attentions, View(attention="cross", show="text", query=1))
    assert texts(picture, text_anchor="middle") == [*kind.queries.tokens, *kind.keys.tokens]
    weights = np.concatenate([np.zeros(len(kind.queries.tokens)), kind.weights[0].mean(axis=0)[1]])
    assert np.abs(fills_behind_tokens(picture) - colours_of(LIGHT, "blue", np.sqrt(weights))).max() <= 0.51


def test_the_two_texts_of_a_pair_stand_apart_where_one_looks_at_the_other():
    attentions = kind_of(list("abcde"), segments=(0, 0, 0, 1, 1))
    assert texts(svg(attentions, View(show="text", segments="AB")), text_anchor="middle") == list("abcde")
    assert "Only attention from the first text to the second text." in caption_of(svg(attentions, View(segments="AB")))


@ATTENTIONS
def test_the_table_holds_the_exact_floats_of_the_marked_query(attention):
    kind = kinds()[attention]
    picture = svg({attention: kind}, View(attention=attention, show="table", query=1, off=frozenset({(0, 2)})))
    cells = texts(picture, font_size="13", text_anchor="end")
    table = np.array(cells).reshape(4, -1)
    assert list(table[:, 0]) == ["mean", "head 1", "head 2", "head 4"]
    assert np.array_equal(table[1:, 1:].astype(np.float32), kind.weights[0][[0, 1, 3], 1])
    assert texts(picture, font_weight="600", text_anchor="start")[1:] == [
        f"{at + 1} · {key}" for at, key in enumerate(kind.keys.tokens)
    ]


# All of them


def caption_of(picture: str) -> str:
    """The last lines, joined: text in the small size and the quiet colour."""
    return " ".join(texts(picture, font_size="13", fill=LIGHT.quiet))


@ATTENTIONS
@THEMES
def test_all_views_stand_in_one_picture(attention, theme):
    kind = kinds()[attention]
    picture = svg({attention: kind}, View(attention=attention, layer=1, query=0), theme=theme)
    tiles = (kind.layers + 1) * (kind.heads + 1) - 1
    assert len(elements(picture, "image")) == tiles + 2
    assert {"Text", "All heads", "Lines", "Matrix"} <= set(texts(picture, fill=theme.quiet))
    assert len(elements(picture, "path")) >= (kind.weights[1] > 0).sum()


@pytest.mark.parametrize("show", ["all", "grid", "lines", "matrix", "text", "table"])
def test_hostile_tokens_are_text_in_order_and_nothing_else(show):
    picture = svg(kind_of(HOSTILE, layers=1, heads=2), View(show=show, query=5, key=8))
    names = {element.tag.removeprefix(SVG) for element in parsed(picture).iter()}
    assert names <= {"svg", "title", "g", "rect", "text", "image", "path", "line"}
    addresses = [element.get(HREF, "data:") for element in parsed(picture).iter()]
    assert all(address.startswith("data:image/png;base64,") or address == "data:" for address in addresses)
    assert {name for element in parsed(picture).iter() for name in element.attrib if name.startswith("on")} == set()
    if show in ("text", "all"):
        printed = texts(picture, text_anchor="middle", font_size="14")
        assert printed == [printable(token) for token in HOSTILE]


def printable(token: str) -> str:
    return visible(token).replace("\ufffe", "U+FFFE")


def test_nothing_in_a_picture_refers_to_anything_outside():
    picture = svg(kinds(), View())
    assert set(re.findall(r"https?://[^\s\"]+", picture)) == {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert "url(" not in picture


@given(st.text())
def test_any_text_reads_back_from_the_file(text):
    expected_text = re.sub(
        "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", lambda bad: f"U+{ord(bad[0]):04X}", text
    )
    element = ElementTree.fromstring(f'<a b="{safe(text)}">{safe(text)}</a>')
    assert (element.text or "") == expected_text.replace("\r\n", "\n").replace("\r", "\n")


@given(st.text(min_size=1, max_size=40), st.integers(30, 200))
def test_a_text_that_is_cut_fits_its_room(text, room):
    cut = fitted(text, room, 12)
    assert cut == text or text_width(cut, 12) <= max(room, text_width("…", 12))


@pytest.mark.parametrize("mark", ["[UNK]", "<unk>"])
def test_where_a_token_has_no_room_its_mark_goes_before_its_word_does(mark):
    name = f"{mark} Oupss"
    assert fitted(name, text_width(name, 12), 12) == name == visible(name)
    assert fitted(name, text_width("Oupss", 12), 12) == "Oupss" == visible(name, 8)
    assert visible(f"{mark} Oupsssssss", 8) == "Oupssss…"
    assert (
        visible(f"{mark} שלום", 8) == fitted(visible(f"{mark} שלום"), text_width("שלום", 12), 12) == "\u2068שלום\u2069"
    )
    assert visible(mark, 4)[-1] == "…", "there is no word"


def test_right_to_left_text_stays_isolated_when_it_is_cut():
    cut = fitted(visible("שלום" * 5), 60, 12)
    assert (cut[0], cut[-2:]) == ("\u2068", "…\u2069")


@THEMES
def test_labels_can_be_read_on_every_shade(theme):
    for scale in (*theme.scales.values(), theme.above, theme.below):
        grounds = ["#" + bytes(colour.tolist()).hex() for colour in interpolated(scale)]
        assert min(contrast(ink_on(theme, ground), ground) for ground in grounds) >= 4.5


def test_the_caption_says_what_is_shown_and_what_was_done_to_it():
    attentions = kind_of(["[S]", "un", "##like", "it"], special=(True, False, False, False), words=(None, 0, 0, 1))
    view = View(
        show="matrix", layer=1, special="renormalised", words=True, threshold=0.05, top=2, key=2, scale="linear"
    )
    caption = caption_of(svg(attentions, replace(view, off=frozenset({(1, 1)}))))
    for part in (
        "Encoder self-attention, layer 2 of 2, the mean of heads 1 and 3 of 3. Query attends to key.",
        "Colour follows the weight; full at weight 1.",
        "Special tokens hidden, rows add up to 1 again.",
        "Word pieces merged: the sum over keys, the mean over queries.",
        "Weights below 0.05 are not drawn. Only the 2 largest weights of each query are drawn.",
        "Marked: key 2–3 · unlike.",
    ):
        assert part in caption
    shared = View(show="lines", scale="log", maximum="shared")
    largest = attentions["encoder"].weights[0].max()
    assert f"full at the largest weight of all heads shown, {largest:#.3g}." in caption_of(svg(attentions, shared))
    assert "full at the largest weight of all heads shown." in caption_of(svg(attentions, replace(shared, show="grid")))
    assert "head 2 of 3." in caption_of(svg(attentions, View(show="lines", off=frozenset({(0, 0), (0, 2)}))))


@pytest.mark.parametrize("show", ["all", "grid", "lines", "matrix", "text", "table"])
def test_a_view_without_heads_or_without_tokens_is_drawn_empty(show):
    attentions = kind_of(["a", "b"], special=(True, True))
    nothing = frozenset((0, head) for head in range(3))
    assert "no head is on" in caption_of(svg(attentions, View(show=show, off=nothing)))
    assert parsed(svg(attentions, View(show=show, special="hidden"))).tag == SVG + "svg"


@pytest.mark.parametrize(
    ("view", "complaint"), [(View(layer=9), "layer: found 9"), (View(attention="cross"), "found 'cross'")]
)
def test_what_is_not_there_is_refused(view, complaint):
    with pytest.raises(ValueError, match=complaint):
        svg(kind_of(["a"]), view)


def test_everything_lies_inside_the_picture():
    picture = svg(kind_of(HOSTILE, layers=3, heads=40), View(query=3))
    root = parsed(picture)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for x, y, text in placed(root, 0, 0):
        end = (
            x if text.get("text-anchor") == "end" else x + text_width(text.text or "", float(text.attrib["font-size"]))
        )
        assert 0 <= x <= width
        assert 0 <= y <= height
        assert "rotate" in text.get("transform", "") or end <= width


def placed(element: ElementTree.Element, x: float, y: float) -> Iterator[tuple[float, float, ElementTree.Element]]:
    """Every text with where it stands."""
    shift = re.match(r"translate\(([\d.-]+) ([\d.-]+)\)", element.get("transform", ""))
    x, y = (x + float(shift[1]), y + float(shift[2])) if shift else (x, y)
    if element.tag == SVG + "text":
        yield x + float(element.attrib["x"]), y + float(element.attrib["y"]), element
    for child in element:
        yield from placed(child, x, y)


# PDF and PNG


def test_a_png_has_the_colours_of_the_matrix_at_the_scale_that_was_asked_for():
    picture = svg(kinds(), View(show="matrix"))
    image = np.asarray(Image.open(io.BytesIO(png(picture, scale=2))).convert("RGB"))
    root = parsed(picture)
    assert image.shape[:2] == (2 * int(root.attrib["height"]), 2 * int(root.attrib["width"]))
    seen = {tuple(colour) for colour in image.reshape(-1, 3).tolist()}
    assert {tuple(colour) for colour in matrix_of(picture).reshape(-1, 3).tolist()} <= seen


def test_a_pdf_is_one_page_with_its_text_as_text():
    file = pdf(svg(kinds(), View()))
    assert file.startswith(b"%PDF-")
    assert len(re.findall(rb"/Type\s*/Page\b", file)) == 1
    assert b"/FontFile2" in file


def has_typeface() -> bool:
    listed = shutil.which("fc-list") and subprocess.run(["fc-list"], capture_output=True, text=True, check=True).stdout
    return "DejaVu Sans:" in (listed or "")


@pytest.mark.skipif(
    not has_typeface(), reason="needs the typeface DejaVu Sans, which Chromium's package brings on Debian"
)
def test_a_sign_for_a_space_changes_no_typeface():
    text = Text(stack="decoder", tokens=(" once", " upon"))
    kind = Kind(
        name="decoder", weights=(np.tril(np.ones((1, 2, 2), np.float32)),), queries=text, keys=text, causal=True
    )
    file = pdf(svg({"decoder": kind}, View(attention="decoder")))
    assert {name.split(b"+")[-1] for name in re.findall(rb"/BaseFont ?/(\S+)", file)} == {b"DejaVuSans"}


def test_a_very_large_picture_gets_fewer_pixels():
    assert largest_scale('<svg xmlns="x" width="4000" height="12000">') ** 2 * 4000 * 12000 == pytest.approx(
        MOST_PIXELS
    )
    with pytest.raises(ValueError, match="width and a height"):
        largest_scale("<svg/>")


def test_the_printer_is_loaded_by_those_who_print():
    script = "import sys, viz.explorer.printing, viz.explorer.svg.picture; print('vl_convert' in sys.modules)"
    assert run_python(script).strip() == "False"


# Numbers


def run_python(script: str, **options: Any) -> str:
    command = [sys.executable, "-W", "error", "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, **options).stdout


@ATTENTIONS
def test_the_csv_and_the_json_give_back_the_numbers_of_the_view(attention):
    kind = kinds()[attention]
    view = View(attention=attention, layer=1, off=frozenset({(1, 0)}), threshold=0.5)
    weights = kind.weights[1][1:]
    rows = list(csv.DictReader(io.StringIO(selection_csv(kind, view).decode("utf-8-sig"))))
    read = [[row[f"layer_1_head_{head}"] for row in rows] for head in (1, 2, 3)]
    assert np.array_equal(np.array(read, np.float32).reshape(weights.shape), weights)
    assert np.allclose(
        np.array([row["layer_1_mean"] for row in rows], float), weights.mean(axis=0).reshape(-1), rtol=1e-6
    )
    assert [(row["query"], row["key"]) for row in rows] == [(str(q), str(k)) for q, k in np.ndindex(weights.shape[1:])]
    record = json.loads(selection_json(kind, view))
    assert np.array_equal(np.array(record["weights"], np.float32), weights)
    assert np.array_equal(np.array(record["mean"], np.float32), shown_numbers(kind, view).mean)
    assert View.from_message(record["view"]) == view
    assert (record["attention"], record["layer"], record["heads"]) == (attention, 1, [1, 2, 3])
    assert [key["token"] for key in record["keys"]] == list(kind.keys.tokens)


def test_files_of_a_view_leave_out_renormalise_and_merge_as_it_does():
    facts: dict[str, Any] = {"special": (True, False, False, False), "words": (None, 0, 0, 1)}
    kind = kind_of(["[S]", "un", "##like", "it"], **facts)["encoder"]
    view = View(special="renormalised", words=True)
    record = json.loads(selection_json(kind, view))
    assert record["queries"] == [{"first": 1, "last": 2, "token": "unlike"}, {"first": 3, "last": 3, "token": "it"}]
    assert np.array_equal(np.array(record["weights"], np.float32), shown_numbers(kind, view).weights)
    rows = list(csv.DictReader(io.StringIO(selection_csv(kind, view).decode("utf-8-sig"))))
    assert [(row["query"], row["key_token"]) for row in rows] == [
        ("1", "unlike"),
        ("1", "it"),
        ("3", "unlike"),
        ("3", "it"),
    ]


@given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=6))
def test_every_float_reads_back_bit_for_bit(row):
    text = Text(stack="encoder", tokens=tuple(map(str, range(len(row)))))
    weights = np.array([[row] * len(row)], np.float32)
    kind = Kind(name="encoder", queries=text, keys=text, weights=(weights,), causal=False)
    assert np.array_equal(np.array(json.loads(selection_json(kind, View()))["weights"], np.float32), weights)
    rows = csv.DictReader(io.StringIO(selection_csv(kind, View()).decode("utf-8-sig")))
    assert [np.float32(line["layer_0_head_0"]) for line in rows] == row * len(row)


def test_no_cell_of_the_csv_can_start_a_formula():
    tokens = ["=1+1", "+1", "-1", "@a", "\ta", 'a,b\n"c"']
    rows = list(csv.reader(io.StringIO(selection_csv(kind_of(tokens, 1, 1)["encoder"], View()).decode("utf-8-sig"))))
    assert [row[3] for row in rows[1:7]] == ["'=1+1", "'+1", "'-1", "'@a", "'\ta", 'a,b\n"c"']
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for row in rows for cell in row)


@pytest.mark.parametrize("export", [selection_csv, selection_json])
def test_too_many_rows_and_no_heads_are_refused_in_one_sentence(export):
    text = Text(stack="encoder", tokens=("a",) * 1001)
    weights = np.broadcast_to(np.float32(0.5), (1, 1001, 1001))
    kind = Kind(name="encoder", queries=text, keys=text, weights=(weights,), causal=False)
    with pytest.raises(ValueError, match=f"1,002,001 rows .* at most {MOST_ROWS:,}: take the NPZ"):
        export(kind, View())
    with pytest.raises(ValueError, match="No head of layer 1 is on"):
        export(kind, View(off=frozenset({(0, 0)})))
    with pytest.raises(ValueError, match="There is no layer 3"):
        export(kind, View(layer=2))


def test_the_npz_file_holds_all_attention_of_a_trace():
    trace = traced()
    muted = Edits(muted=frozenset({HeadSite("decoder", 1, 2, "cross"), HeadSite("encoder", 0, 3)}))
    file = np.load(io.BytesIO(trace_npz(trace, edits=muted)))
    assert np.array_equal(file["encoder_weights"], trace.encoder.weights().numpy())
    assert np.array_equal(file["decoder_weights"], trace.decoder.weights().numpy())
    assert np.array_equal(file["cross_weights"], trace.decoder.cross_weights().numpy())
    for stack in ("encoder", "decoder"):
        assert file[f"{stack}_tokens"].tolist() == list(getattr(trace, stack).tokens)
        assert file[f"{stack}_ids"].tolist() == getattr(trace, stack).ids.tolist()
    assert [file[f"{name}_muted"].tolist() for name in ("encoder", "decoder", "cross")] == [[[0, 3]], [], [[1, 2]]]
    assert Edits.from_text(str(file["edits"])) == muted
    assert "cross_weights" not in np.load(io.BytesIO(trace_npz(tiny.checkpoint().trace(tiny.TEXT))))


# The script


def test_the_script_makes_the_trace_and_the_view_again(tmp_path):
    text = "It's \"good\" '''\n{text} \\ \u202e 😀"
    view = View(layer=1, off=frozenset({(1, 0), (0, 2)}), query=3, special="hidden", threshold=0.1)
    edits = Edits(muted=frozenset({HeadSite("encoder", 1, 0)}))
    script = snippet("sentiment", text, view, edits)
    checks = """
import json
attention = trace.encoder.blocks[1].self_attention
zero = [bool((head == 0).all()) for head in attention.context]
page = Path("attention.html").read_text(encoding="utf-8")
print(json.dumps([trace.encoder.tokens, zero, view.to_message(), page == show(trace, view).page]))
"""
    file = tmp_path / "script.py"
    file.write_text(script + checks, encoding="utf-8")
    run = "exec(open('script.py', encoding='utf-8').read())"
    setup = f"import os, sys; sys.path.insert(0, os.getcwd()); os.chdir({str(tmp_path)!r}); {run}"
    tokens, zero, message, same = json.loads(run_python(setup))
    checkpoint = load_checkpoint("sentiment")
    assert [tuple(tokens)] == [kind.queries.tokens for kind in kinds_of(checkpoint.trace(text)).values()]
    assert zero == [True] + [False] * (checkpoint.config.heads - 1)
    assert View.from_message(message) == view
    assert same


def test_the_script_says_only_what_differs_from_the_default():
    script = snippet("sentiment", "a", View(layer=2), Edits())
    assert "view = View(layer=2)\n" in script
    assert "checkpoint.trace('a')\n" in script
    assert "Edits" not in script


def test_the_script_imports_what_its_edits_are_made_of():
    edits = Edits(temperature=2.0, overwritten=frozenset({Overwrite(HeadSite("encoder", 0, 1), 2, 3, 0.5)}))
    script = snippet("sentiment", "a", View(), edits)
    assert "from model import Edits, HeadSite, Overwrite, load_checkpoint\n" in script
    assert f"checkpoint.trace('a', edits={edits!r})\n" in script
