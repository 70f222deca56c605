"""The page Edit, without a browser: its numbers against whole passes with the same edits, and what it refuses."""

import base64
import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import Edits, HeadSite, InputError, load_checkpoint
from model.edits import Overwrite
from model.edits.file_form import EditFile
from model.measures.comparison import stream_distances
from model.measures.edited_weights import of_head, without_weights
from pages.parts.edit.history import MOST_TEXTS, History
from pages.parts.edit.kept_edits import LONGEST_HELD, changes_of
from pages.parts.edit.settings import LONGEST_EDIT
from pages.parts.edit.weight_editor import sent_cells
from pages.parts.state.page_fields import CODEC
from tests.folders import KINDS
from tests.pages.test_break import compared, values
from tests.pages.test_every_page import button, component, link, opened, typed
from tests.pages.test_families import TEXT as SHORT
from tests.pages.test_heads import text_of
from viz.explorer.attention_kinds import kinds_of
from viz.text.causes.edited_weights import ONE_KEY

PAGE = "edit.py"
TEXT = "The film was slow, but I loved it."
LONGER = "I wanted to like it, but the plot makes no sense."  # 13 tokens, 169 weights
SITE = HeadSite("encoder", 1, 2)
EDIT = "weight_e1.2.3.2-0.9n"
CASES = [
    ("sentiment", {}, HeadSite("encoder", 1, 2), "encoder"),
    ("stories", {}, HeadSite("decoder", 1, 2), "decoder"),
    ("translate-en-fr", {"attention": "encoder"}, HeadSite("encoder", 1, 2), "encoder"),
    ("translate-en-fr", {"attention": "decoder"}, HeadSite("decoder", 0, 2), "decoder"),
    ("translate-en-fr", {"attention": "cross"}, HeadSite("decoder", 1, 2, "cross"), "cross"),
]


def loaded(name: Any) -> Any:
    """A checkpoint, whose traces have what its kind has."""
    return load_checkpoint(name, device="cpu")


def editor(app: AppTest) -> dict[str, Any]:
    """What the browser edits."""
    assert not app.exception
    assert not app.error
    found: dict[str, Any] = json.loads(component(app, "headlight_weight_editor").json)
    return found


def base_of(figure: dict[str, Any]) -> np.ndarray:
    """The weights without what is overwritten in the head."""
    numbers = np.frombuffer(base64.b64decode(figure["base"]), "<f4")
    return numbers.reshape(len(figure["rows"]), figure["sent"])


def attention(trace: Any, site: HeadSite) -> Any:
    block = getattr(trace, site.stack).blocks[site.layer]
    return block.cross_attention if site.attention == "cross" else block.self_attention


def edit_of(site: HeadSite, value: float = 0.9) -> Edits:
    return Edits(overwritten=frozenset([Overwrite(site, 2, 1, value, renormalise=True)]))


@pytest.mark.parametrize(("name", "address", "site", "kind"), CASES)
def test_every_number_is_that_of_the_pass_with_the_edit(name, address, site, kind):
    checkpoint, edits = loaded(name), edit_of(site)
    before = checkpoint.trace(TEXT)
    after = checkpoint.trace_again(before, edits)
    app = opened(PAGE, text=TEXT, checkpoint=name, edits=edits.to_text(), **address)
    figure = editor(app)
    assert np.array_equal(base_of(figure), attention(before, site).weights[site.head].numpy())
    assert figure["cells"] == [[2, 1, 0.9, True]]
    logits = [trace.logits if trace.logits.ndim == 2 else trace.logits[None] for trace in (before, after)]
    for row in figure["answer"]["rows"]:
        probabilities = [each.double().softmax(-1) for each in logits]
        for when, each in zip(("before", "after"), probabilities, strict=True):
            assert np.abs(each.numpy() - row[when]).min() < 1e-6
    moved = [(b.stream_out, a.stream_out) for b, a in zip(
        getattr(before, site.stack).blocks, getattr(after, site.stack).blocks, strict=True)]  # fmt: skip
    expected = stream_distances(*zip(*moved, strict=True))
    assert [row["distance"] for row in values(app, 0)] == pytest.approx(expected.tolist(), abs=1e-6)
    heads = {(row["layer"], row["head"]): row["effect"] for row in values(app, 1)}
    both = [kinds_of(trace)[kind].weights for trace in (before, after)]
    for (layer, head), effect in heads.items():
        change = np.abs(both[1][layer][head].astype(float) - both[0][layer][head]).sum(-1).mean() / 2
        assert effect == pytest.approx(change, abs=1e-6)


def test_the_head_that_moved_most_is_compared_and_another_can_be_pressed():
    checkpoint = loaded("sentiment")
    before = checkpoint.trace(TEXT)
    after = checkpoint.trace(TEXT, edits=Edits.from_text(EDIT))
    app = opened(PAGE, text=TEXT, edits=EDIT)
    moved = {(row["layer"], row["head"]): row["effect"] for row in values(app, 1)}
    del moved[1, 2]
    layer, head = max(moved, key=moved.__getitem__)
    assert f"layer {layer + 1}, head {head + 1}," in compared(app)["said"]
    chosen = compared(opened(PAGE, text=TEXT, edits=EDIT, moved="3.5"))
    pair = [trace.encoder.blocks[3].self_attention.weights[5].double().numpy() for trace in (before, after)]
    assert np.array(chosen["change"]) == pytest.approx(pair[1] - pair[0])
    second = sorted(moved, key=moved.__getitem__)[-2]
    app.button(key=f"moved_encoder_{second[0]}_{second[1]}").click().run()
    assert f"layer {second[0] + 1}, head {second[1] + 1}," in compared(app)["said"]
    assert link(app, f"Inside layer {second[0] + 1}, head {second[1] + 1}, without the edit")


def test_the_finding_states_the_answer_before_and_after_and_the_weight():
    checkpoint = loaded("sentiment")
    before, after = (checkpoint.classify(TEXT, edits=Edits.from_text(text))["positive"] for text in ("", EDIT))
    weights = checkpoint.trace(TEXT, edits=Edits.from_text(EDIT)).encoder.blocks[1].self_attention.weights[2, 3]
    said = text_of(opened(PAGE, text=TEXT, edits=EDIT))
    assert f"If “slow” looks at “was” with {100 * weights[2]:.0f} %" in said
    change = (
        f"goes from {100 * before:.1f} % to {100 * after:.1f} %" if abs(after - before) >= 0.01 else "hardly changes"
    )
    assert f"the verdict “positive” {change}." in said


@pytest.mark.parametrize("renormalise", [True, False])
def test_a_weight_that_falls_is_named_and_not_the_one_that_gains_by_it(renormalise):
    weights = loaded("sentiment").trace(TEXT).encoder.blocks[1].self_attention.weights[2, 3]
    key = int(weights.argmax())
    edits = Edits(overwritten=frozenset([Overwrite(SITE, 3, key, 0.0, renormalise=renormalise)]))
    app = opened(PAGE, text=TEXT, edits=edits.to_text())
    token = editor(app)["columns"][key]["text"]
    said = text_of(app)
    assert f"looks at “{token}” with 0.0 %" in said
    assert f"the weight was {100 * weights[key]:.1f} %" in said


def test_no_weight_is_named_that_is_as_it_was_where_another_of_its_row_is_other_than_it_was():
    """As after a half for one key, for which the others made room, and then its own weight again beside them."""
    weights = loaded("sentiment").trace(TEXT).encoder.blocks[1].self_attention.weights[2, 3].double().numpy()
    values = np.where(np.arange(len(weights)) == 2, weights, weights / 2)
    cells = [Overwrite(SITE, 3, key, float(f"{value:.4g}")) for key, value in enumerate(values)]
    said = text_of(opened(PAGE, text=TEXT, edits=Edits(overwritten=frozenset(cells)).to_text()))
    assert said.startswith("With other weights for one query of one head, ")
    assert "the weight was" not in said


def test_of_a_text_of_one_token_it_is_said_that_nothing_can_make_room():
    app = opened(PAGE, text="Good")
    assert ONE_KEY in text_of(app)
    assert not [button for button in app.button if str(button.key).startswith("pattern_")]
    cell = Overwrite(HeadSite("encoder", 1, 2), 0, 0, 0.5)
    edited = text_of(opened(PAGE, text="Good", edits=Edits(overwritten=frozenset([cell])).to_text()))
    assert edited.startswith("If “good” looks at “good” with 50 %")


def test_heads_that_are_muted_elsewhere_are_said_not_to_count():
    said = [caption.value for caption in opened(PAGE, text=TEXT, muted="0.3").caption]
    assert any(each.startswith("Heads that are muted do not count on this page") for each in said)


@pytest.mark.parametrize(
    ("name", "text"),
    [("sentiment", "The acting is not bad at all."), ("stories", TEXT), ("translate-en-fr", TEXT)],
)
def test_trying_what_is_suggested_gives_what_was_said(name, text):
    app = opened(PAGE, text=text, checkpoint=name)
    said = re.search(r"would go from ([\d.]+) % to (< )?([\d.]+) %", text_of(app))
    assert said is not None
    button(app, "Try it").click().run()
    rows = editor(app)["answer"]["rows"]
    after = np.mean([row["after"] for row in rows]) if name == "translate-en-fr" else rows[0]["after"]
    assert 100 * after < 0.1 if said[2] else 100 * after == pytest.approx(float(said[3]), abs=0.051)
    assert "edits" in app.query_params


def test_it_opens_on_the_first_head_of_those_that_matter_with_a_weight_that_changes_the_answer_plainly():
    checkpoint = loaded("sentiment")
    before, tried = checkpoint.classify(TEXT)["positive"], {}
    sites = [HeadSite("encoder", layer, head) for layer, head in np.ndindex(4, 8)]
    muted = {site: checkpoint.classify(TEXT, edits=Edits(muted=frozenset({site})))["positive"] for site in sites}
    for site in sorted(sites, key=lambda site: -abs(muted[site] - before))[:8]:
        count = len(checkpoint.trace(TEXT).encoder.ids)
        for query, key in np.ndindex(count, count):
            row = frozenset(Overwrite(site, query, other, float(other == key)) for other in range(count))
            after = checkpoint.classify(TEXT, edits=Edits(overwritten=row))["positive"]
            tried[site, query, key] = abs(after - before), after
        if max(change for change, _ in tried.values()) >= 0.05:
            break
    best = max(tried, key=lambda cell: tried[cell][0])
    app = opened(PAGE, text=TEXT)
    names = [cell["text"] for cell in editor(app)["columns"]]
    said = f"If “{names[best[1]]}” looked at “{names[best[2]]}” alone, the verdict “positive” would go from "
    assert text_of(app).startswith(f"{said}{100 * before:.1f} % to {100 * tried[best][1]:.1f} %.")
    assert f"Of the weights of layer {best[0].layer + 1}, head {best[0].head + 1} that were tried" in text_of(app)


def test_what_a_translator_writes_with_the_edit_is_said_where_it_is_something_else():
    model, text = loaded("translate-en-fr"), "The dog sleeps."
    place = {"text": text, "checkpoint": "translate-en-fr", "attention": "cross"}
    before = model.generate(text).text
    said = set()
    for layer, head in np.ndindex(model.config.layers, model.config.heads):
        app = opened(PAGE, **place, layer=str(layer), head=str(head))
        app.button(key="pattern_first").click().run()
        now = model.generate(text, edits=Edits.from_text(app.query_params["edits"])).text
        assert (f"The model then writes “{now}”" in text_of(app)) == (now != before)
        said.add(now != before)
    assert said == {True, False}


def test_undo_and_redo_and_undo_all_and_other_kept_edits_stay():
    app = opened(PAGE, text=TEXT, edits="temperature_2")
    assert "Also in effect" in "\n".join(caption.value for caption in app.caption)
    button(app, "Try it").click().run()
    first = app.query_params["edits"]
    app.button(key="pattern_even").click().run()
    second = app.query_params["edits"]
    button(app, "Undo").click().run()
    assert app.query_params["edits"] == first
    button(app, "Redo").click().run()
    assert app.query_params["edits"] == second
    button(app, "Undo all").click().run()
    assert app.query_params["edits"] == "temperature_2"
    button(app, "Undo").click().run()
    assert app.query_params["edits"] == second


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("self", np.eye(10)), ("first", np.eye(10)[[0] * 10]), ("even", np.full((10, 10), 0.1))],
)
def test_a_pattern_is_had_with_one_click(name, wanted):
    app = opened(PAGE, text=TEXT, layer="1", head="2")
    app.button(key=f"pattern_{name}").click().run()
    edits = Edits.from_text(app.query_params["edits"])
    trace = loaded("sentiment").trace(TEXT, edits=edits)
    assert trace.encoder.blocks[1].self_attention.weights[2].numpy() == pytest.approx(wanted, abs=1e-6)


def test_the_pattern_of_another_head_and_that_of_a_token():
    app = opened(PAGE, text=TEXT, layer="1", head="2")
    app.selectbox(key="pattern_token").set_value(8).run()
    trace = loaded("sentiment").trace(TEXT, edits=Edits.from_text(app.query_params["edits"]))
    assert trace.encoder.blocks[1].self_attention.weights[2][:, 7].numpy() == pytest.approx(np.ones(10))
    app.selectbox(key="pattern_copy").set_value(4).run()
    figure, before = editor(app), loaded("sentiment").trace(TEXT)
    assert len(figure["cells"]) == 100
    copied = before.encoder.blocks[0].self_attention.weights[3].numpy()
    cells = np.array([cell[2] for cell in figure["cells"]]).reshape(10, 10)
    assert cells / cells.sum(-1, keepdims=True) == pytest.approx(copied, rel=2e-3, abs=1e-6)


def test_a_head_is_not_offered_its_own_pattern():
    options = opened(PAGE, text=TEXT, layer="1", head="2").selectbox(key="pattern_copy").options
    assert len(options) == 4 * 8, "none, and every other head"
    assert not [option for option in options if option.endswith("layer 2, head 3")]


def test_an_edit_too_long_for_an_address_is_held_and_the_page_says_so():
    app = opened(PAGE, text=LONGER, layer="1", head="2")
    app.selectbox(key="pattern_copy").set_value(4).run()
    (warning,) = [warning.value for warning in app.warning]
    assert "more than the 1,900 that an address may hold" in warning
    address = {name: app.query_params[name] for name in app.query_params}
    assert len(str(address)) < LONGEST_EDIT
    assert "edits" not in address
    again = opened(PAGE, **address)
    assert editor(again)["cells"] == editor(app)["cells"]
    lost = opened(PAGE, **(address | {"held": "0" * 16}))
    assert "the server no longer has it" in lost.warning[0].value
    assert editor(lost)["cells"] == []


def test_the_limit_of_an_address_is_1900_characters():
    cells = [Overwrite(SITE, query, key, 0.1234, True) for query in range(20) for key in range(20)]
    texts = [Edits(overwritten=frozenset(cells[:count])).to_text() for count in range(90, 130)]
    longest = max((text for text in texts if len(text) <= LONGEST_EDIT), key=len)
    assert changes_of(longest) == {"edits": longest, "held": ""}
    assert CODEC.read({"edits": longest})[1] == []
    longer = min((text for text in texts if len(text) > LONGEST_EDIT), key=len)
    assert changes_of(longer)["edits"] == ""
    assert re.fullmatch("[0-9a-f]{16}", changes_of(longer)["held"])


def test_an_edit_that_nobody_can_hold_is_refused():
    cells = frozenset(Overwrite(SITE, query, key, 0.12345, True) for query in range(300) for key in range(200))
    text = Edits(overwritten=cells).to_text()
    assert len(text) > LONGEST_HELD
    with pytest.raises(InputError, match="An edit of 60000 weights is too large"):
        changes_of(text)


def test_another_text_has_none_of_the_weights_but_keeps_other_edits():
    app = opened(PAGE, text=TEXT, edits=EDIT)
    assert editor(app)["cells"]
    typed(app, "A good film.")
    assert editor(app)["cells"] == []
    assert "edits" not in app.query_params
    both = replace(Edits.from_text(EDIT), temperature=2.0)
    app = opened(PAGE, text=TEXT, edits=both.to_text())
    typed(app, "A good film.")
    assert app.query_params["edits"] == without_weights(both).to_text()


def test_a_weight_that_the_text_does_not_have_is_refused_and_undone():
    app = opened(PAGE, text=TEXT, edits="weight_e1.2.30.2-0.9n")
    assert not app.exception
    assert "has no query 30 here" in app.error[0].value.replace("\\", "")
    button(app, "Undo all edits").click().run()
    assert editor(app)["cells"] == []


@pytest.mark.parametrize("name", KINDS)
def test_every_family_is_edited(name, app_folders):
    app = opened(PAGE, checkpoint=name, text=SHORT, layer="1", head="1")
    figure = editor(app)
    app.button(key="pattern_first").click().run()
    edited = editor(app)
    checkpoint = loaded(app_folders / name)
    before = checkpoint.trace(SHORT)
    kind = next(iter(kinds_of(before)))
    assert np.array_equal(base_of(figure), kinds_of(before)[kind].weights[1][1])
    edits = Edits.from_text(app.query_params["edits"])
    after = kinds_of(checkpoint.trace_again(before, edits))[kind].weights[1][1]
    site = next(iter(edits.overwritten)).site
    assert len(of_head(edits, site)) == len(edited["cells"])
    mask = np.asarray(attention(before, site).mask)
    rows = np.flatnonzero((mask if mask.ndim == 2 else mask[1])[:, 0])
    assert after[rows, 0] == pytest.approx(np.ones(len(rows)), abs=1e-6)


GOOD = {"head": "abc", "cells": [[1, 2, 0.5, True], [1, 3, 1, False]], "place": [1, 2]}
HOSTILE = {
    "nothing": None,
    "a text": "cells",
    "another head": GOOD | {"head": "abd"},
    "no place": GOOD | {"place": None},
    "a place beyond": GOOD | {"place": [4, 0]},
    "cells that are none": GOOD | {"cells": "all"},
    "a cell beyond": GOOD | {"cells": [[1, 9, 0.5, True]]},
    "a cell before": GOOD | {"cells": [[-1, 0, 0.5, True]]},
    "a weight above 1": GOOD | {"cells": [[1, 2, 1.5, True]]},
    "a weight that is no number": GOOD | {"cells": [[1, 2, float("nan"), True]]},
    "a weight that is true": GOOD | {"cells": [[1, 2, True, True]]},
    "a flag that is none": GOOD | {"cells": [[1, 2, 0.5, 1]]},
    "a query that is true": GOOD | {"cells": [[True, 2, 0.5, True]]},
    "a cell too short": GOOD | {"cells": [[1, 2, 0.5]]},
    "very many cells": GOOD | {"cells": [[1, 2, 0.5, True]] * 70_000},
}


@pytest.mark.parametrize("sent", HOSTILE.values(), ids=HOSTILE)
def test_what_no_editor_sends_changes_nothing(sent):
    assert sent_cells(sent, SITE, "abc", (4, 5)) is None


def test_what_an_editor_sends_is_taken():
    sent = sent_cells(GOOD, SITE, "abc", (4, 5))
    assert sent is not None
    assert sent.cells == {Overwrite(SITE, 1, 2, 0.5, True), Overwrite(SITE, 1, 3, 1.0, False)}
    assert sent.place == (1, 2)


def test_a_history_goes_back_and_forward_and_is_another_with_another_text():
    history = History()
    for edits in ("", "a", "b"):
        history.visit("text", edits)
    assert (history.before, history.after) == ("a", None)
    history.visit("text", "a")  # undone, or the browser's Back
    assert (history.before, history.after) == ("", "b")
    history.visit("text", "c")
    assert (history.before, history.after) == ("a", None)
    assert not history.left_behind
    history.visit("another text", "")
    assert (history.before, history.after) == (None, None)
    assert history.left_behind, "its edit was one of the text before"
    history.visit("another text", "d")
    assert not history.left_behind
    history.visit("another text", "")
    history.visit("a third text", "")
    assert not history.left_behind
    history.visit("text", "c")  # by the browser's Back
    assert (history.before, history.after) == ("a", None)


def test_a_history_forgets_the_texts_that_were_left_long_ago():
    history = History()
    history.visit("first", "")
    history.visit("first", "a")
    for number in range(MOST_TEXTS):
        history.visit(number, "")
    history.visit("first", "a")
    assert history.before is None
    assert len(history.steps) == MOST_TEXTS


def test_the_sentence_and_the_chart_say_the_same_of_the_last_stream():
    app = opened(PAGE, text=TEXT, edits=EDIT)
    rows = [row for place in range(len(app.get("vega_lite_chart"))) for row in values(app, place) if "layer" in row]
    last = max((row for row in rows if "distance" in row), key=lambda row: row["layer"])
    assert f"The stream after the last layer moves by {100 * last['distance']:.1f} % of its length." in text_of(app)


def test_a_saved_edit_names_all_that_it_belongs_to():
    app = opened(PAGE, text=TEXT, edits=EDIT)
    assert button_labels(app) >= {"Save the edit (file)", "Python script (asserts the figures)"}
    file = EditFile(checkpoint="sentiment", text=TEXT, edits=EDIT)
    assert EditFile.from_bytes(file.to_bytes()) == file


def button_labels(app: AppTest) -> set[str]:
    return {element.proto.label for element in app.get("download_button")}


def upload(app: AppTest, content: bytes) -> AppTest:
    return app.file_uploader(key="edit_upload").set_value(("edit.json", content, "application/json")).run()


def test_a_file_brings_its_text_and_its_edit():
    app = opened(PAGE, text="A good film.")
    upload(app, EditFile(checkpoint="sentiment", text=TEXT, edits=EDIT).to_bytes())
    assert editor(app)["cells"] == [[3, 2, 0.9, True]]
    assert (app.query_params["layer"], app.query_params["head"]) == ("1", "2")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\x80\x04K\x01.", "is no edit saved by this page: it is not valid JSON."),
        (EditFile(checkpoint="stories", text=TEXT, edits=EDIT).to_bytes(), "was made with the model"),
        (EditFile(checkpoint="sentiment", text="Good.", edits=EDIT).to_bytes(), "has no query 3 here"),
        (EditFile(checkpoint="sentiment", text=TEXT, edits="weight_e9.2.3.2-0.9n").to_bytes(), "has no self head 2"),
        (EditFile(checkpoint="sentiment", text=TEXT, edits="weight_c0.2.3.2-0.9n").to_bytes(), "has no cross head 2"),
        (EditFile(checkpoint="../../etc", text=TEXT, edits=EDIT).to_bytes(), "was made with the model"),
        (EditFile(checkpoint="sentiment", text="", edits="").to_bytes(), "There is nothing to compute"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_in_one_sentence_and_the_page_stays(content, said):
    app = upload(opened(PAGE, text=TEXT, edits="weight_e0.0.0.0-1n"), content)
    assert not app.exception
    (refusal,) = [error.value.replace("\\", "") for error in app.error]
    assert said in refusal
    assert len(refusal) < 300
    assert app.query_params["edits"] == "weight_e0.0.0.0-1n"


def test_of_a_long_text_the_boxes_name_the_selected_cell_and_another_moves_the_picture():
    app = opened(PAGE, text=" ".join(["The film was slow, but I loved it."] * 6), edits="")
    query, key = editor(app)["chosen"]
    boxes = [app.selectbox(key=f"edit_{name}") for name in ("query", "key")]
    assert [box.value for box in boxes] == [query, key]
    other = 0 if query > 40 else 59
    boxes[0].set_value(other).run()
    assert editor(app)["chosen"] == [other, key]
    assert other in [row["place"] for row in editor(app)["rows"]]


def test_the_stream_is_named_and_the_heads_are_of_an_attention_in_which_one_moved():
    app = opened(PAGE, text="The red house is big.", checkpoint="translate-en-fr", attention="cross", layer="2")
    app.button(key="pattern_first").click().run()
    assert "How far the decoder’s stream moved" in [each.value for each in app.subheader]
    assert app.radio(key="moved_in").value == "cross", "nothing after the last layer moves"
    app = opened(PAGE, text="The red house is big.", checkpoint="translate-en-fr", attention="encoder", layer="2")
    app.button(key="pattern_first").click().run()
    assert app.radio(key="moved_in").value == "cross", "no other head of the encoder moves"
