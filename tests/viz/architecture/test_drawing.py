"""The map as SVG: it parses, every box is in it, inside it and apart from the others, and its words can be read."""

import itertools
import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from model import Config
from tests import tiny
from tests.model.measures.learn.sizes.test_parameters import VARIANTS
from viz.architecture.boxes import map_of
from viz.architecture.drawing import Link, draw_map
from viz.architecture.openings import box_links
from viz.explorer.svg.paint import contrast
from viz.theme import DARK, LIGHT, Theme

SVG = "{http://www.w3.org/2000/svg}"
PHONE = 358  # pixels beside the margins of a phone's page


def drawn(config: Config, **options: Any) -> ET.Element:
    """The map with a link at every box, parsed."""
    links = {box.name: Link(label=f"Opens {box.name}", target="./inside?a=1&b=2") for box in map_of(config).boxes}
    return ET.fromstring(draw_map(map_of(config), **({"links": links} | options)))


def boxes_in(picture: ET.Element) -> dict[str, ET.Element]:
    return {each.attrib["data-box"]: each for each in picture.iter() if "data-box" in each.attrib}


def words_in(element: ET.Element) -> str:
    return " ".join("".join(text.itertext()) for text in element.iter(f"{SVG}text"))


@pytest.mark.parametrize(("architecture", "changes"), VARIANTS)
def test_every_box_is_drawn_with_its_words_and_opens_something(architecture, changes):
    config = tiny.config(architecture, **changes)
    boxes = boxes_in(drawn(config))
    assert list(boxes) == [box.name for box in map_of(config).boxes]
    for box in map_of(config).boxes:
        element = boxes[box.name]
        assert element.tag == f"{SVG}a"
        assert element.attrib["href"] == "./inside?a=1&b=2"
        assert box.title in element.attrib["aria-label"]
        assert f"Opens {box.name}" in element.attrib["aria-label"]
        assert words_in(element).startswith(box.title)
        if box.parameters:
            assert f"{box.parameters:,} parameters" in words_in(element)


@pytest.mark.parametrize(("architecture", "changes"), VARIANTS)
def test_boxes_stand_apart_from_the_bottom_to_the_top_and_within_the_picture(architecture, changes):
    config = tiny.config(architecture, **changes)
    picture = drawn(config)
    width, height = map(float, picture.attrib["viewBox"].split()[2:])
    placed = {name: next(element.iter(f"{SVG}rect")).attrib for name, element in boxes_in(picture).items()}
    for column in map_of(config).columns:
        edges = [(float(placed[box.name]["y"]), float(placed[box.name]["height"])) for box in column.boxes]
        assert all(below >= above + size for (below, _), (above, size) in itertools.pairwise(edges))
        assert -edges[-1][0] <= height
    assert width <= 1.1 * PHONE, "on a phone it is drawn nearly as large as here"


def test_the_number_of_layers_stands_in_every_frame():
    text = words_in(drawn(tiny.config("encoder-decoder", layers=5, decoder_layers=3)))
    assert "× 5, " in text
    assert "× 3, " in text


def test_a_label_of_a_stranger_is_text():
    picture = draw_map(map_of(tiny.config("encoder", labels=("<b>bad</b>", "a & b"))))
    assert "<b>" not in picture
    assert "<b>bad</b> or a & b" in words_in(boxes_in(ET.fromstring(picture))["classifier"])


def test_what_is_lit_is_marked_and_what_is_not_there_marks_nothing():
    config = tiny.config("encoder")
    boxes = boxes_in(drawn(config, lit={"encoder.self_attention", "nowhere"}))
    marked = [name for name, element in boxes.items() if element.attrib.get("aria-current") == "step"]
    assert marked == ["encoder.self_attention"]
    assert draw_map(map_of(config), lit={"nowhere"}) == draw_map(map_of(config))


def test_a_box_that_the_page_answers_is_a_button_and_one_without_a_link_is_neither():
    config = tiny.config("encoder")
    boxes = boxes_in(drawn(config, links={"encoder.feed_forward": Link(label="Shows it")}))
    button, plain = boxes["encoder.feed_forward"].attrib, boxes["encoder.embedding"].attrib
    assert (button["role"], button["tabindex"]) == ("button", "0")
    assert plain.keys() == {"data-box"}


def test_small_it_has_names_alone_and_all_words_in_its_labels():
    config = tiny.config("encoder")
    small = boxes_in(drawn(config, small=True))["encoder.feed_forward"]
    assert words_in(small) == "Feed-forward"
    assert "16 → 24 → 16" in small.attrib["aria-label"]


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_words_can_be_read_on_every_box(theme: Theme):
    for architecture, changes in VARIANTS:
        picture = drawn(tiny.config(architecture, **changes), theme=theme)
        for element in boxes_in(picture).values():
            background = next(element.iter(f"{SVG}rect")).attrib["fill"]
            assert re.fullmatch("#[0-9a-f]{6}", background)
            for text in element.iter(f"{SVG}text"):
                assert contrast(text.attrib["fill"], background) >= 4.5


def test_the_encoders_output_leads_to_the_cross_attention():
    lines = [path.attrib for path in drawn(tiny.config("encoder-decoder")).iter(f"{SVG}path")]
    assert sum(path.get("stroke") == LIGHT.second for path in lines) == 1
    assert not any(path.get("stroke") == LIGHT.second for path in drawn(tiny.config("decoder")).iter(f"{SVG}path"))


@pytest.mark.parametrize(("architecture", "changes"), VARIANTS)
def test_every_box_opens_a_page(architecture, changes):
    config = tiny.config(architecture, **changes)
    openings = box_links(map_of(config), config)
    assert openings.keys() == {box.name for box in map_of(config).boxes}
    assert {opening.page for opening in openings.values()} <= {
        "explore", "inside", "positions", "break", "translate", "write"
    }  # fmt: skip
