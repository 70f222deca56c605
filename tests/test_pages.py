"""Every page through app.py, as without a browser: what is typed, what the address says, what is shown."""

import base64
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import pages
from model import Edits, HeadSite, load_checkpoint
from model.checkpoint import CHECKPOINTS
from pages.parts.computed import Shelf
from pages.parts.selection import EXAMPLES, LONGEST_TEXT, Selection, from_address, to_address
from viz.tokens import figure_text

APP = Path(pages.__file__).parents[1] / "app.py"
ALL_PAGES = sorted(path.name for path in pages.FOLDER.glob("[!_]*.py"))
SENTENCE = "An odd film, but a good film."


def opened(page: str = "explore.py", **address: str) -> AppTest:
    """The app as a browser opens it at an address."""
    app = AppTest.from_file(str(APP), default_timeout=120)
    app.query_params.update(address)
    app.run()
    return app if page == "explore.py" else app.switch_page(f"pages/{page}").run()


def typed(app: AppTest, text: str) -> AppTest:
    app.text_area(key="text").set_value(text)
    return app.button(key="FormSubmitter:sentence-Show").click().run()


def button(app: AppTest, label: str):
    return next(found for found in app.button if found.label == label)


def group(app: AppTest, key: str):
    return next(found for found in app.button_group if found.key == key)


def picture(app: AppTest) -> Any:
    """The heatmap on the screen: its weights and tick texts; None where there is none."""
    found = app.get("plotly_chart")
    if not found:
        return None
    figure = json.loads(found[0].proto.spec)
    z = figure["data"][0]["z"]
    weights = np.frombuffer(base64.b64decode(z["bdata"]), z["dtype"]).reshape([int(n) for n in z["shape"].split(",")])
    return {
        "weights": weights,
        "keys": figure["layout"]["xaxis"]["ticktext"],
        "queries": figure["layout"]["yaxis"]["ticktext"],
    }


def one_refusal(app: AppTest) -> str:
    """The one plain sentence in place of the picture."""
    assert not app.exception
    assert picture(app) is None
    (error,) = app.error
    assert "\n" not in error.value
    assert len(error.value) <= 300
    assert "Traceback" not in error.value
    assert str(APP.parent) not in error.value
    return error.value


@pytest.fixture(scope="module")
def checkpoint():
    return load_checkpoint("sentiment")


# All pages


@pytest.mark.parametrize("page", ALL_PAGES)
def test_every_page_opens_without_a_complaint(page):
    app = opened(page)
    assert not app.exception
    assert not app.error
    assert len(app.title) == 1


def test_the_menu_leads_to_every_page_in_the_folder():
    listed = {stem for _, stem, _ in pages.MENU}
    assert {Path(page).stem for page in ALL_PAGES} <= listed


# Explore


def test_the_first_view_is_the_worked_example_with_its_exact_weights(checkpoint):
    app = opened()
    trace = checkpoint.trace(EXAMPLES[0])
    shown = picture(app)
    assert app.text_area(key="text").value == EXAMPLES[0]
    mean = trace.encoder.blocks[0].self_attention.weights.double().mean(dim=0).float().numpy()
    assert np.allclose(shown["weights"], mean, atol=1e-6)
    assert shown["keys"] == shown["queries"] == [figure_text(token) for token in trace.encoder.tokens]


def test_a_typed_sentence_is_traced_and_predicted(checkpoint):
    app = typed(opened(), SENTENCE)
    probabilities = checkpoint.classify(SENTENCE)
    label = max(probabilities, key=probabilities.get)
    assert app.metric[0].value == f"{label} {100 * probabilities[label]:.1f}\u00a0%"
    assert len(picture(app)["keys"]) == len(checkpoint.trace(SENTENCE).encoder.tokens)
    assert app.query_params["text"] == SENTENCE


def test_layer_and_heads_choose_what_is_averaged(checkpoint):
    app = opened()
    group(app, "layer").set_value(2).run()
    group(app, "heads").set_value([1, 4]).run()
    weights = checkpoint.trace(EXAMPLES[0]).encoder.blocks[2].self_attention.weights.numpy()
    assert np.allclose(picture(app)["weights"], (weights[1] + weights[4]) / 2, atol=1e-6)
    assert any(text.value == "Layer 3, mean of heads 2 and 5." for text in app.text)
    assert (app.query_params["layer"], app.query_params["heads"]) == ("2", "1,4")


def test_all_none_and_only_this_switch_heads():
    app = opened()
    button(app, "None").click().run()
    assert not app.exception
    assert picture(app) is None
    assert any("No head is on" in text.value for text in app.markdown)
    group(app, "only").set_value(3).run()
    assert group(app, "heads").value == [3]
    button(app, "All").click().run()
    assert group(app, "heads").value == list(range(8))
    assert "heads" not in app.query_params


def test_the_read_out_gives_the_exact_weight_of_the_chosen_cell(checkpoint):
    app = opened(heads="3", query="4", key="7")
    weight = checkpoint.trace(EXAMPLES[0]).encoder.blocks[0].self_attention.weights[3, 4, 7]
    assert float(app.code[0].value) == pytest.approx(float(weight), abs=1e-6)
    assert app.selectbox(key="query").value == 4
    app.selectbox(key="key").set_value(5).run()
    weight = checkpoint.trace(EXAMPLES[0]).encoder.blocks[0].self_attention.weights[3, 4, 5]
    assert float(app.code[0].value) == pytest.approx(float(weight), abs=1e-6)
    assert app.query_params["key"] == "5"


def test_muting_runs_the_model_without_the_heads_that_are_off(checkpoint):
    app = opened(layer="1", heads="none", mute="1")
    edits = Edits(muted=frozenset(HeadSite("encoder", 1, head) for head in range(8)))
    for probabilities, shown in (
        (checkpoint.classify(EXAMPLES[0], edits=edits), app.metric[0].value),
        (checkpoint.classify(EXAMPLES[0]), app.text[0].value),
    ):
        label = max(probabilities, key=probabilities.get)
        assert shown.endswith(f"{label} {100 * probabilities[label]:.1f}\u00a0%")


def test_the_table_holds_the_weights_of_the_picture():
    app = opened(layer="1")
    weights = picture(app)["weights"]
    group(app, "view").set_value("table").run()
    assert picture(app) is None
    assert np.array_equal(app.dataframe[0].value.iloc[:, 1:].to_numpy(), weights)


def test_every_token_is_listed_with_its_id(checkpoint):
    table = opened(text=SENTENCE).dataframe[0].value
    stack = checkpoint.trace(SENTENCE).encoder
    assert table["id"].tolist() == stack.ids.tolist()
    assert len(table) == len(stack.tokens)


@pytest.mark.parametrize("text", ["", "   ", "\t\n", "\u200b\u200b", "\x00\x01"])
def test_a_text_without_a_word_gets_one_sentence_and_is_kept(text):
    for app in (typed(opened(), text), opened(text=text)):
        one_refusal(app)
        assert app.text_area(key="text").value == text


def test_ten_thousand_words_get_one_sentence_and_are_kept():
    text = "word " * 10_000
    for app in (typed(opened(), text), opened(text=text)):
        assert "50,000 characters" in one_refusal(app).replace("\\", "")
        assert app.text_area(key="text").value == text


def test_half_a_surrogate_pair_gets_one_sentence():
    app = opened()
    app.session_state["_selection"] = Selection(text="half \ud800 pair")
    assert "Character 6" in one_refusal(app.run())
    assert app.text_area(key="text").value == "half ? pair", "it cannot be shown in a browser"


@pytest.mark.parametrize(
    "text",
    [
        "good",
        "no no no no",
        "1 2 3 2020-01-01",
        "😀 👩\u200d👧 ok",
        "a\x00b\x07c good",
        "שלום עולם good",
        "\u202egood\u202c film",
        "zero\u200bwidth",
        "<script>alert(1)</script> <b>bold</b> &amp;",
        "**bold** [link](x) ![picture](y) # title",
        "$\\frac{1}{2}$ :red[x] :smile:",
        "x" * LONGEST_TEXT,
    ],
)
def test_an_odd_text_gets_a_whole_picture(checkpoint, text):
    tokens = [figure_text(token) for token in checkpoint.trace(text).encoder.tokens]
    for app in (typed(opened(), text), opened(text=text)):
        assert not app.exception
        assert not app.error
        shown = picture(app)
        assert shown["keys"] == shown["queries"] == tokens
        assert np.allclose(shown["weights"].sum(axis=1), 1, atol=1e-4)


def test_a_text_of_more_tokens_than_the_model_reads_says_how_many_were_kept():
    app = typed(opened(), "a " * 600)
    assert picture(app)["weights"].shape == (512, 512)
    assert any("Kept 512 of 600 tokens" in text.value for text in app.markdown)


# The address


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("layer", "99"),
        ("layer", "-1"),
        ("layer", "two"),
        ("heads", "0,99"),
        ("heads", "x" * 5000),
        ("query", "5000"),
        ("key", "1e3"),
        ("checkpoint", "../model"),
        ("view", "<b>"),
        ("mute", "yes"),
    ],
)
def test_a_bad_value_in_the_address_falls_back_with_one_sentence(name, value):
    app = opened(**{name: value})
    assert not app.exception
    assert [info.value for info in app.info] == [f"The address gives no usable value for {name}; the default is shown."]
    assert picture(app) is not None
    assert name not in app.query_params


def test_an_address_says_everything_about_a_selection():
    selection = Selection(text="<b> & 50 % é", layer=2, heads=(), query=0, key=3, mute=True, view="table")
    assert from_address(to_address(selection)) == (selection, [])
    assert to_address(Selection()) == {}


def test_the_selection_survives_a_visit_to_another_page():
    app = typed(opened(layer="2", heads="5"), SENTENCE)
    app.switch_page("pages/checkpoints.py").run()
    app.switch_page("pages/explore.py").run()
    assert app.text_area(key="text").value == SENTENCE
    assert group(app, "layer").value == 2
    assert group(app, "heads").value == [5]


def test_a_control_that_was_touched_wins_over_the_older_address_that_came_with_it():
    app = opened(layer="2")
    group(app, "layer").set_value(3).run()
    app.query_params["layer"] = "2"  # the browser had not heard of 3 when it sent this
    group(app, "heads").set_value([1]).run()
    assert group(app, "layer").value == 3
    assert app.query_params["layer"] == "3"


def test_going_back_in_the_browser_brings_the_older_view_back():
    app = opened(layer="2")
    group(app, "layer").set_value(3).run()
    app.query_params["layer"] = "2"
    app.run()
    assert group(app, "layer").value == 2


# Checkpoints


def test_the_checkpoints_page_shows_every_checkpoint_with_its_size(checkpoint):
    app = opened("checkpoints.py")
    assert [header.value for header in app.header] == [folder.name for folder in sorted(CHECKPOINTS.iterdir())]
    parameters = sum(weights.numel() for weights in checkpoint.model.parameters())
    assert f"{parameters:,}" in app.metric[0].help


def test_one_click_opens_a_checkpoint_in_explore():
    app = opened("checkpoints.py")
    button(app, "Open in Explore").click().run()
    assert not app.exception
    assert picture(app) is not None


def test_a_broken_checkpoint_takes_one_line_and_the_others_still_work(tmp_path, monkeypatch):
    for name in ("broken", "sentiment"):
        shutil.copytree(CHECKPOINTS / "sentiment", tmp_path / name)
    (tmp_path / "broken" / "config.json").write_text("{<b>", encoding="utf-8")
    monkeypatch.setattr("model.checkpoint.CHECKPOINTS", tmp_path)
    monkeypatch.setattr("pages.parts.computed.CHECKPOINTS", tmp_path)
    app = opened("checkpoints.py")
    assert not app.exception
    assert [header.value for header in app.header] == ["broken", "sentiment"]
    assert len(app.error) == 1
    assert len(app.metric) > 0
    assert one_refusal(opened(checkpoint="broken"))


def test_an_app_without_the_usual_checkpoint_opens_with_the_first_that_is_there(tmp_path, monkeypatch):
    shutil.copytree(CHECKPOINTS / "sentiment", tmp_path / "other")
    monkeypatch.setattr("model.checkpoint.CHECKPOINTS", tmp_path)
    monkeypatch.setattr("pages.parts.computed.CHECKPOINTS", tmp_path)
    app = opened()
    assert not app.error
    assert app.selectbox(key="checkpoint").value == "other"
    assert picture(app) is not None


# The caches


def test_a_shelf_makes_a_value_once_and_stays_within_its_bytes():
    shelf, made = Shelf(10), list[str]()

    def make(key: str) -> str:
        made.append(key)
        return key

    def get(key: str) -> str:
        return shelf.get(key, lambda: make(key), lambda _: 4, expected=4)

    assert [get("a"), get("b"), get("a"), get("c"), get("a")] == ["a", "b", "a", "c", "a"]
    assert made == ["a", "b", "c"]
    get("b")
    assert made == ["a", "b", "c", "b"], "the one not used for longest had left"


def test_a_shelf_makes_room_before_it_makes_a_value():
    shelf = Shelf(10)
    shelf.get("a", lambda: "a", lambda _: 8, expected=8)
    held = shelf.get("b", lambda: len(shelf.values), lambda _: 8, expected=8)
    assert held == 0


def test_a_value_that_could_not_be_made_is_not_kept():
    shelf = Shelf(10)
    with pytest.raises(ZeroDivisionError):
        shelf.get("a", lambda: 1 // 0, lambda _: 1)
    assert shelf.get("a", lambda: "made", lambda _: 1) == "made"
