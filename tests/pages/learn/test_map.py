"""The map on its pages: which box is marked, what each opens, and that it is the map of the model on the screen."""

import json
import xml.etree.ElementTree as ET
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from model import available_checkpoints, load_checkpoint
from model.measures.one_weight import STEPS
from tests.pages.test_every_page import SENTENCE, opened, taken
from viz.architecture.boxes import map_of
from viz.architecture.places import boxes_of_step

NAME = "headlight_architecture"


def maps(app: AppTest) -> list[dict[str, Any]]:
    """What the maps of a page were given."""
    protos = [element.proto for element in app.get("bidi_component") if element.proto.component_name == NAME]
    return [json.loads(proto.json) for proto in protos]


def boxes(drawing: dict[str, Any]) -> dict[str, ET.Element]:
    return {each.attrib["data-box"]: each for each in ET.fromstring(drawing["svg"]).iter() if "data-box" in each.attrib}


@pytest.mark.parametrize("name", available_checkpoints())
@pytest.mark.parametrize("step", STEPS)
def test_inside_marks_the_boxes_of_the_present_step(name, step):
    app = opened("inside.py", checkpoint=name, step=step, text=SENTENCE)
    assert not app.exception
    (drawing,) = maps(app)
    lit = {box for box, element in boxes(drawing).items() if element.attrib.get("aria-current") == "step"}
    attention = app.session_state["_selection"].view.attention
    assert lit == boxes_of_step(attention, step) & boxes(drawing).keys()


def test_a_box_that_inside_itself_shows_is_a_button_of_the_page():
    app = opened("inside.py")
    (drawing,) = maps(app)
    feed_forward = boxes(drawing)["encoder.feed_forward"]
    assert feed_forward.attrib["role"] == "button"
    assert "encoder.feed_forward" not in drawing["pages"]
    assert "step" in taken(app, step="feed-forward").query_params


@pytest.mark.parametrize("name", available_checkpoints())
def test_every_box_of_a_checkpoint_opens_its_page_with_the_model(name):
    app = opened("checkpoints.py", text=SENTENCE)
    place = available_checkpoints().index(name)
    drawing = maps(app)[place]
    config = load_checkpoint(name, device="cpu").config
    assert boxes(drawing).keys() == {box.name for box in map_of(config).boxes} == drawing["pages"].keys()
    for address in {element.attrib["href"] for element in boxes(drawing).values()}:
        page, query = urlsplit(address).path.removeprefix("./"), dict(parse_qsl(urlsplit(address).query))
        after = opened(f"{page or 'explore'}.py", **query)
        assert not after.exception
        assert not after.error
        assert after.session_state["_selection"].checkpoint == name
        assert not any("no usable value" in info.value for info in after.info)


def test_the_links_that_boxes_press_lead_where_the_boxes_say():
    app = opened("checkpoints.py", text=SENTENCE)
    protos = iter([link.proto for link in app.get("page_link") if link.proto.label.startswith("Opens ")])
    for drawing in maps(app):
        links = [next(protos) for _ in range(1 + max(drawing["pages"].values()))]
        for name, element in boxes(drawing).items():
            link, target = links[drawing["pages"][name]], urlsplit(element.attrib["href"])
            assert link.page.removeprefix("explore") == target.path.removeprefix("./")
            assert link.query_string == target.query
    assert next(protos, None) is None


def test_the_shapes_are_those_of_the_selected_text():
    app = opened("checkpoints.py", text=SENTENCE)
    for name, drawing in zip(available_checkpoints(), maps(app), strict=True):
        tokens = len(load_checkpoint(name, device="cpu").tokenizer.encode(SENTENCE).ids)
        assert f": {tokens} tokens" in drawing["svg"]


@pytest.mark.parametrize("text", ["", "\u200b", "<b>x</b> $y$", "שלום 😀", "long " * 900])
def test_the_map_bears_any_text(text):
    app = opened("checkpoints.py", text=text)
    assert not app.exception
    assert len(maps(app)) == len(available_checkpoints())
    assert all("<b>" not in drawing["svg"] for drawing in maps(app))
