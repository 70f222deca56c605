"""Every page through app.py, as without a browser: what is typed, what the address says, what is shown."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pyarrow.ipc
import pytest
from streamlit.runtime.state.query_params_proxy import QueryParamsProxy
from streamlit.testing.v1 import AppTest

import pages
from model import Edits, HeadSite, available_checkpoints, load_checkpoint
from model.checkpoint import CHECKPOINTS
from model.training.loop import curve_rows
from pages.parts.explore.explorer_panel import ShownAttention, requested_layer
from pages.parts.explore.settings import Axes
from pages.parts.frame.page_links import NEXT
from pages.parts.shared_cache import bytes_of
from pages.parts.state.page_fields import CODEC
from pages.parts.state.selection import EXAMPLES, LONGEST_TEXT, Selection
from pages.parts.state.session import NO_SUCH_MODEL
from pages.parts.translate.settings import SENTENCES
from pages.parts.write.settings import BEGINNINGS
from viz.explorer.attention_kinds import kinds_of
from viz.explorer.packing import unpack
from viz.explorer.view import View
from viz.tokens import markdown_text, visible

APP = Path(pages.__file__).parents[1] / "app.py"
ALL_PAGES = sorted(path.name for path in pages.FOLDER.glob("[!_]*.py"))
BARELESS = {"arrays.py", "checkpoints.py", "costs.py", "watch.py", "words.py"}  # pages that show no text
SENTENCE = "An odd film, but a good film."


def opened(page: str = "explore.py", **address: str) -> AppTest:
    """A page as a browser opens it at an address, once its explorer has drawn the first picture."""
    app = AppTest.from_file(str(APP), default_timeout=120)
    app.query_params.update(address)
    app.session_state["_picture_sent"] = True
    if page == "explore.py":
        return app.run()
    app.session_state["_routed"] = True  # as app.py notes; AppTest runs a page of the folder without it
    return app.switch_page(f"pages/{page}").run()


def asked(app: AppTest) -> str:
    """The question that the page answers: small above the title, or the title itself."""
    return " ".join(element.value for element in (*app.main.caption, *app.title))


def typed(app: AppTest, text: str, pair: str = "") -> AppTest:
    """What comes of texts sent from the bar, which AppTest cannot touch."""
    return taken(app, text=text, pair=pair)


def taken(app: AppTest, **changes: Any) -> AppTest:
    """The page after a control has called ``choose`` with these changes."""
    state = app.session_state
    values = CODEC.values(state["_selection"])
    new = {name for name, value in changes.items() if value != values[name]}
    state["_chosen"] = CODEC.reset(state["_chosen"], new, but=changes) | changes
    state["_touched"] = True
    return app.run()


def bar(app: AppTest) -> dict[str, Any]:
    """What the bar at the top shows."""
    return json.loads(component(app, "headlight_bar").json)


KEPT = Edits(scale=1.0, unpositioned=frozenset({"encoder"}))
NOT_HERE = (
    "Edits kept on the page Break the formula: q·k × 1 in place of the model's scale, no positions. "
    "This page shows the model without them."
)


@pytest.mark.parametrize("page", ["explore.py", "inside.py", "positions.py", "translate.py", "write.py"])
def test_a_page_that_leaves_out_what_is_kept_broken_says_so_and_shows_the_same_as_without_it(page):
    plain, app = opened(page), opened(page, edits=KEPT.to_text())
    assert not app.exception
    assert ([info.value for info in plain.info], [info.value for info in app.info]) == ([], [NOT_HERE])
    assert [text.value for text in app.markdown] == [text.value for text in plain.markdown]


def link(app: AppTest, label: str) -> Any:
    """A link to a page: where it leads."""
    return next(element.proto for element in app.get("page_link") if element.proto.label == label)


def follow(app: AppTest, label: str) -> AppTest:
    """The page that a link leads to, at the link's address."""
    page_link = link(app, label)
    app.query_params.clear()
    app.query_params.update(dict(parse_qsl(page_link.query_string)))
    return app.switch_page(f"pages/{page_link.page.rpartition('/')[2].removesuffix('.py') or 'explore'}.py").run()


SEEN = {  # text and model on the way through all pages, for whoever has chosen nothing
    "inside": (EXAMPLES[0], "sentiment"),
    "positions": (EXAMPLES[0], "sentiment"),
    "break": (EXAMPLES[0], "sentiment"),
    "translate": (SENTENCES[0], "translate-en-fr"),
    "write": (BEGINNINGS[0], "stories"),
    "heads": (BEGINNINGS[0], "stories"),
    "explanation": (BEGINNINGS[0], "stories"),
    "compare": (BEGINNINGS[0], "stories"),
    "edit": (BEGINNINGS[0], "stories"),
    "watch": None,  # it has no bar
    "evidence": (BEGINNINGS[0], "stories"),
    "checkpoints": None,  # nor has it
    "arrays": None,  # nor has it
    "explore": (BEGINNINGS[0], "stories"),
}
WHY_ANOTHER_MODEL = {
    "break": "That page opens with translate-en-fr, because sentiment does not translate.",
    "translate": "That page opens with stories, because translate-en-fr does not continue texts.",
}


@pytest.mark.parametrize("own", ["", SENTENCE])
def test_the_last_links_go_once_round_all_pages_and_say_why(own):
    app, page = opened(**({"text": own} if own else {})), "explore"
    for expected, seen in SEEN.items():
        after = NEXT[page]
        (why,) = [caption.value.replace("\\", "") for caption in app.main.caption][-1:]
        assert why.endswith(WHY_ANOTHER_MODEL.get(page, after.why if page != "explore" else "one of its weights."))
        assert ("That page opens with" in why) == (page in WHY_ANOTHER_MODEL)
        app, page = follow(app, after.label).run(), after.page
        assert not app.exception
        assert not app.error
        assert page == expected
        if seen is not None:
            assert (bar(app)["text"], bar(app)["model"]) == (own or seen[0], seen[1])
    beside = {stem for group, stem, _ in pages.MENU if group == "Learn"}  # these stand beside the round
    assert SEEN.keys() == {Path(name).stem for name in ALL_PAGES} - beside


def button(app: AppTest, label: str):
    return next(element for element in app.button if element.label == label)


def component(app: AppTest, name: str) -> Any:
    """What a browser component was given last; None where it is not on the page."""
    protos = [element.proto for element in app.get("bidi_component") if element.proto.component_name == name]
    return protos[-1] if protos else None


def told(app: AppTest, what: str) -> Any:
    """The message to the explorer that holds this."""
    protos = [element.proto for element in app.get("bidi_component")]
    messages = [
        json.loads(proto.json) for proto in protos if proto.component_name == "headlight_mailbox" and proto.json
    ]
    return next(message for message in messages if what in message)


def picture(app: AppTest) -> Any:
    """The explorer on the screen: header, weights by (kind, layer), and the view that it was told; None without one."""
    proto = component(app, "headlight_explorer")
    if proto is None:
        return None
    steered = told(app, "view")
    content = unpack(proto.bytes)
    assert content.header["name"] == steered["name"]
    return {"header": content.header, "layers": content.layers, "view": steered["view"], "steered": steered}


def ask(app: AppTest, **changes: Any) -> Any:
    """What the mailbox answers when the explorer has asked for a row."""
    question = {"name": told(app, "view")["name"], "attention": "encoder", "layer": 0, "off": [], "query": 0}
    app.session_state["_row"] = json.dumps(question | changes)
    app.run()
    return told(app, "exact")["exact"]


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


def test_the_first_view_is_the_worked_example_with_every_head_of_every_layer(checkpoint):
    app = opened()
    stack = checkpoint.trace(EXAMPLES[0]).encoder
    explorer = picture(app)
    assert bar(app)["text"] == EXAMPLES[0]
    assert set(explorer["layers"]) == {("encoder", layer) for layer in range(4)}
    for (_, layer), weights in explorer["layers"].items():
        assert np.abs(weights - stack.blocks[layer].self_attention.weights.numpy()).max() <= 0.004
    assert explorer["header"]["texts"]["encoder"]["tokens"] == [visible(token) for token in stack.tokens]


def test_a_typed_sentence_is_traced_and_predicted(checkpoint):
    app = typed(opened(), SENTENCE)
    probabilities = checkpoint.classify(SENTENCE)
    label = max(probabilities, key=probabilities.get)
    assert app.metric[0].value == f"{label} {100 * probabilities[label]:.1f}\u00a0%"
    assert len(picture(app)["header"]["texts"]["encoder"]["tokens"]) == len(checkpoint.trace(SENTENCE).encoder.tokens)
    assert app.query_params["text"] == SENTENCE


def test_the_address_steers_the_explorer_and_the_sentence_above_it(checkpoint):
    app = opened(layer="2", off="2.0_2.2-3_2.5-7", query="4", key="7", show="matrix", scale="log", threshold="0.05")
    view = View.from_message(picture(app)["view"])
    assert (view.layer, view.heads_on(8), view.query, view.key) == (2, (1, 4), 4, 7)
    assert (view.show, view.scale, view.threshold) == ("matrix", "log", 0.05)
    weights = checkpoint.trace(EXAMPLES[0]).encoder.blocks[2].self_attention.weights.double()[[1, 4]].mean(dim=0)
    favourite = int(weights.sum(dim=0).argmax())
    (sentence,) = [text.value for text in app.markdown if "heads of layer 3" in text.value]
    assert "On average, the 2 heads of layer 3 that are on give" in sentence
    assert f"token {favourite + 1} " in sentence


def test_the_sentence_speaks_of_what_the_picture_shows(checkpoint):
    text = "Unforgettably overcomplicated films"
    stack = checkpoint.trace(text).encoder
    mean, of_word = stack.weights()[0].double().mean(dim=0), np.array(stack.words)
    pieces = of_word == 1
    rows = [mean[of_word == word].mean(dim=0) for word in range(of_word.max() + 1)]
    share = sum(float(row[pieces].sum()) for row in rows) / len(rows)
    first, last = np.flatnonzero(pieces)[[0, -1]] + 1
    (line,) = [line.value for line in opened(text=text, words="1").markdown if "heads of layer 1" in line.value]
    assert line.endswith(f"give {100 * share:.0f}\u00a0% of their attention to word {first}–{last} · overcomplicated.")
    (plain,) = [line.value for line in opened(text=text).markdown if "heads of layer 1" in line.value]
    assert re.search(r"(goes|attention) to (token \d+ · |the first token)", plain)


def test_without_a_head_the_page_says_what_to_do():
    app = opened(off="0.0-7")
    assert not app.exception
    assert any("No head is on" in text.value for text in app.markdown)


def test_a_row_that_is_asked_for_comes_back_in_full_precision(checkpoint):
    app = opened()
    weights = checkpoint.trace(EXAMPLES[0]).encoder.blocks[1].self_attention.weights.numpy()
    answer = ask(app, layer=1, query=4, off=[[1, head] for head in range(8) if head not in (2, 5)])
    for head in (2, 5):
        assert np.array_equal(np.array(answer["heads"][str(head)], np.float32), weights[head, 4])
    mean = weights[[2, 5], 4].mean(axis=0, dtype=np.float64).astype(np.float32)
    assert np.array_equal(np.array(answer["mean"], np.float32), mean)


def test_of_a_key_comes_the_row_of_the_query_that_gives_it_most(checkpoint):
    app = opened()
    mean = checkpoint.trace(EXAMPLES[0]).encoder.blocks[2].self_attention.weights.double().mean(dim=0)
    for key in range(len(mean)):
        answer = ask(app, layer=2, query=None, key=key)
        assert answer["query"] == int(mean[:, key].argmax())
        assert float(answer["mean"][key]) == pytest.approx(float(mean[:, key].max()), abs=1e-7)


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "another text"},
        {"query": None},
        {"query": None, "key": 99},
        {"query": None, "key": [1]},
        {"layer": 99},
        {"layer": "one"},
        {"query": 99},
        {"attention": "cross"},
        {"off": "x"},
        {"off": [[0, head] for head in range(8)]},
        {"special": "<b>"},
    ],
)
def test_a_row_that_is_not_there_is_not_answered(changes):
    assert ask(opened(), **changes) is None


def test_muting_runs_the_model_without_the_heads_that_are_off(checkpoint):
    app = opened(layer="1", off="1.0-7_2.3", mute="1")
    sites = {HeadSite("encoder", 1, head) for head in range(8)} | {HeadSite("encoder", 2, 3)}
    for probabilities, text in (
        (checkpoint.classify(EXAMPLES[0], edits=Edits(muted=frozenset(sites))), app.metric[0].value),
        (checkpoint.classify(EXAMPLES[0]), app.text[0].value),
    ):
        label = max(probabilities, key=probabilities.get)
        assert text.endswith(f"{label} {100 * probabilities[label]:.1f}\u00a0%")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ({"attention": "encoder", "layer": 3}, 3),
        ({}, 1),
        ({"attention": "encoder", "layer": 4}, 1),
        ({"attention": "encoder", "layer": -1}, 1),
        ({"attention": "encoder", "layer": True}, 1),
        ({"attention": "encoder", "layer": "2"}, 1),
        ({"attention": "cross", "layer": 2}, 1),
        ({"attention": ["encoder"], "layer": 2}, 1),
    ],
)
def test_a_layer_that_is_not_there_is_not_sent(checkpoint, question, expected):
    kinds = kinds_of(checkpoint.trace(SENTENCE))
    attention = ShownAttention(Selection(view=View(layer=1)), kinds, "name")
    kind, layer = requested_layer(attention, question)
    assert (kind is kinds["encoder"], layer) == (True, expected)


def test_all_but_the_text_and_the_answer_waits_for_the_first_picture(checkpoint):
    app = AppTest.from_file(str(APP), default_timeout=120).run()
    assert told(app, "view")["awaited"]
    first = component(app, "headlight_explorer").bytes
    assert bar(app)["text"] == EXAMPLES[0]
    assert any("the 8 heads of layer 1 " in text.value for text in app.markdown)
    assert not [*app.selectbox, *app.toggle, *app.metric, *app.get("vega_lite_chart"), *app.dataframe]
    app.run()
    assert not told(app, "view")["awaited"]
    assert all([app.selectbox, app.toggle, app.metric, app.get("vega_lite_chart"), app.dataframe])
    assert component(app, "headlight_explorer").bytes == first  # else it would be sent, and drawn, a second time


def test_lists_and_switches_say_at_every_run_what_is_chosen():
    app = opened(checkpoint="stories", up="entropy", across="self")
    for _ in range(2):
        chosen = {select.key: select.proto for select in app.selectbox}
        assert {key: proto.raw_value for key, proto in chosen.items() if proto.set_value}.keys() == set(chosen)
        assert bar(app)["model"] == "stories"
        assert app.toggle(key="mute").proto.set_value
        app.run()


def test_where_the_first_text_is_refused_the_controls_come_at_once():
    app = AppTest.from_file(str(APP), default_timeout=120)
    app.query_params["text"] = ""
    app.run()
    assert [error.value[:27] for error in app.error] == ["There is nothing to compute"]
    assert bar(app)["model"] == "sentiment"


def test_what_the_first_address_got_wrong_is_still_said_when_the_controls_have_come():
    app = AppTest.from_file(str(APP), default_timeout=120)
    app.query_params["checkpoint"] = "nope"
    for selects in (0, 2):
        app.run()
        assert len(app.selectbox) == selects
        assert ["checkpoint; the default is shown" in info.value for info in app.info] == [True]
    assert not app.run().info


def test_heads_in_numbers_are_those_of_the_trace(checkpoint):
    app = opened(off="1.2")
    sent = pyarrow.ipc.open_stream(app.get("vega_lite_chart")[0].proto.data.data).read_all()
    rows = {(row["layer"], row["head"]): row for row in sent.to_pylist()}
    weights = checkpoint.trace(EXAMPLES[0]).encoder.weights().double()
    previous = weights.diagonal(-1, dim1=2, dim2=3).sum(dim=-1) / weights.sum(dim=(2, 3))
    assert rows[3, 4]["previous"] == pytest.approx(float(previous[3, 4]))
    assert (rows[1, 2]["on"], rows[1, 3]["on"]) == (False, True)


def test_every_token_is_listed_with_its_id(checkpoint):
    table = opened(text=SENTENCE).dataframe[0].value
    stack = checkpoint.trace(SENTENCE).encoder
    assert table["id"].tolist() == stack.ids.tolist()
    assert len(table) == len(stack.tokens)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("sentiment", text) for text in ("   ", "\t\n", "\u200b\u200b", "\x00\x01")),
        *((name, "") for name in available_checkpoints()),
    ],
)
def test_a_text_without_a_token_gets_one_sentence_and_is_kept(name, text):
    for app in (typed(opened(checkpoint=name), text), opened(checkpoint=name, text=text)):
        one_refusal(app)
        assert bar(app)["text"] == text


def test_ten_thousand_words_get_one_sentence_and_are_kept():
    text = "word " * 10_000
    for app in (typed(opened(), text), opened(text=text)):
        assert "50,000 characters" in one_refusal(app).replace("\\", "")
        assert bar(app)["text"] == text


def test_half_a_surrogate_pair_gets_one_sentence():
    app = opened()
    app.session_state["_chosen"] = {"text": "half \ud800 pair"}
    assert "Character 6" in one_refusal(app.run())
    assert bar(app)["text"] == "half ? pair", "it cannot be shown in a browser"


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
    tokens = [visible(token) for token in checkpoint.trace(text).encoder.tokens]
    for app in (typed(opened(), text), opened(text=text)):
        assert not app.exception
        assert not app.error
        explorer = picture(app)
        assert explorer["header"]["texts"]["encoder"]["tokens"] == tokens
        assert np.allclose(explorer["layers"]["encoder", 0].sum(axis=-1), 1, atol=0.06)


def test_a_text_of_more_tokens_than_the_model_reads_says_how_many_were_kept():
    app = typed(opened(), "a " * 600)
    (kind,) = picture(app)["header"]["kinds"]
    assert kind["shape"] == [512, 512]
    assert any("Kept 512 of 600 tokens" in text.value for text in app.caption)


@pytest.mark.parametrize(("text", "told"), [("Once upon a time", False), ("Once upon a 漢 time", True)])
def test_what_is_read_byte_by_byte_is_said(text, told):
    app = opened(checkpoint="stories", text=text)
    assert told == any("reads them byte by byte" in caption.value for caption in app.main.caption)


@pytest.mark.parametrize(
    ("page", "checkpoint", "examples"),
    [
        ("explore.py", "sentiment", EXAMPLES),
        ("explore.py", "stories", BEGINNINGS),
        ("inside.py", "translate-en-fr", SENTENCES),
        ("write.py", "stories", BEGINNINGS),
        ("translate.py", "translate-en-fr", SENTENCES),
    ],
)
def test_examples_are_such_as_the_model_was_trained_for(page, checkpoint, examples):
    assert bar(opened(page, checkpoint=checkpoint))["examples"] == list(examples)


# The address


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("layer", "99"),
        ("layer", "-1"),
        ("layer", "two"),
        ("off", "0.99"),
        ("off", "x" * 5000),
        ("off", "1-2"),
        ("attention", "cross"),
        ("attention", "<b>"),
        ("threshold", "2"),
        ("threshold", "nan"),
        ("top", "many"),
        ("scale", "cubic"),
        ("query", "5000"),
        ("key", "1e3"),
        ("checkpoint", "../model"),
        ("show", "<b>"),
        ("mute", "yes"),
        ("across", "width"),
    ],
)
def test_a_bad_value_in_the_address_falls_back_with_one_sentence(name, value):
    app = opened(**{name: value})
    assert not app.exception
    hint = f" {NO_SUCH_MODEL}" if name == "checkpoint" else ""
    (notice,) = [info.value for info in app.info]
    assert notice == f"The address gives no usable value for {name}; the default is shown.{hint}"
    assert picture(app) is not None
    assert name not in app.query_params


def test_an_address_says_everything_about_a_selection():
    off = frozenset({(0, 1), (2, 0), (2, 1), (2, 2), (11, 7)})
    settings: dict[str, Any] = {"scale": "log", "maximum": "head", "colours": "grey", "threshold": 0.05, "top": 3}
    tokens: dict[str, Any] = {"special": "hidden", "words": True, "segments": "AB", "query": 0, "key": 3}
    view = View(attention="cross", layer=2, off=off, show="table", **settings, **tokens)
    selection = Selection(text="<b> & 50 % é", mute=True, settings=(Axes(across="self", up="entropy"),), view=view)
    address = CODEC.write(CODEC.values(selection), "explore")
    assert address["off"] == "0.1_2.0-2_11.7"
    chosen, unusable = CODEC.read(address)
    assert (CODEC.values(CODEC.resolve(chosen, "explore")), unusable) == (CODEC.values(selection), [])
    assert CODEC.write(CODEC.defaults, "explore") == {}


def test_the_axes_of_the_chart_are_those_of_the_address_and_go_into_it():
    app = opened(across="first", up="self")
    assert [app.selectbox(key=name).value for name in ("across", "up")] == ["first", "self"]
    app.selectbox(key="up").set_value("next").run()
    assert [app.query_params[name] for name in ("across", "up")] == ["first", "next"]


def test_the_selection_survives_a_visit_to_another_page():
    app = typed(opened(layer="2", off="2.5"), SENTENCE)
    app.switch_page("pages/checkpoints.py").run()
    app.switch_page("pages/explore.py").run()
    assert bar(app)["text"] == SENTENCE
    assert (picture(app)["view"]["layer"], picture(app)["view"]["off"]) == (2, [[2, 5]])


def test_a_control_that_was_touched_wins_over_the_older_address_that_came_with_it():
    app = opened(layer="2")
    app.toggle(key="mute").set_value(True).run()
    app.query_params["mute"] = "0"  # the browser had not heard of it when it sent this
    typed(app, SENTENCE)
    assert app.toggle(key="mute").value
    assert app.query_params["mute"] == "1"


def test_going_back_in_the_browser_brings_the_older_view_back_and_tells_the_explorer():
    app = opened(layer="2")
    before = picture(app)["steered"]["revision"]
    app.query_params["layer"] = "3"
    app.run()
    assert picture(app)["view"]["layer"] == 3
    assert picture(app)["steered"]["revision"] > before
    app.run()
    assert picture(app)["steered"]["revision"] == before + 1, "without news it is left alone"


def test_the_door_of_one_head_leads_to_the_weight_in_the_picture_where_tokens_are_hidden():
    text, address = "The red house is big.", {"checkpoint": "translate-en-fr", "off": "0.0-5_0.7", "special": "hidden"}
    trace: Any = load_checkpoint("translate-en-fr").trace(text)
    weights = trace.encoder.weights()[0, 6].numpy()
    assert np.unravel_index(weights.argmax(), weights.shape)[1] == weights.shape[1] - 1, "the largest is hidden"
    query, key = np.unravel_index(weights[:-1, :-1].argmax(), (len(weights) - 1,) * 2)
    page_link = dict(parse_qsl(link(opened(text=text, **address), "Inside this weight").query_string))
    assert (page_link["head"], page_link["query"], page_link["key"]) == ("6", str(query), str(key))
    assert "query" not in link(opened(text=text, **address | {"special": "shown"}), "Inside this weight").query_string


def test_what_an_address_got_wrong_is_said_on_its_own_page_and_on_no_other():
    app = opened("checkpoints.py", layer="abc")
    assert ["layer" in info.value for info in app.info] == [True]
    assert not app.switch_page("pages/inside.py").run().info


# Checkpoints


def test_the_checkpoints_page_shows_every_checkpoint_with_its_size(checkpoint):
    app = opened("checkpoints.py")
    names = [markdown_text(folder.name) for folder in sorted(CHECKPOINTS.iterdir())]
    assert [header.value for header in app.header] == names
    parameters = sum(weights.numel() for weights in checkpoint.model.parameters())
    assert f"{parameters:,}" in app.metric[0].help
    shapes = [metric.value for metric in app.metric if metric.label == "Layers × heads × width"]
    assert shapes == ["4 × 8 × 128", "6 × 8 × 256", "3 × 8 × 256 + 3 × 8 × 256"]
    words = "\n".join(text.value for text in app.markdown)
    last = {folder: load_checkpoint(folder.name).card["training"]["steps"] for folder in CHECKPOINTS.iterdir()}
    several = [steps for folder, steps in last.items() if curve_rows(folder / "curve.csv")[-1]["step"] != steps]
    assert words.count("steps of several training runs") == len(several)
    for steps in several:
        assert words.count(f"- steps of the last run: {steps:,}".replace(",", "\\,")) == 1


def test_a_folder_that_is_put_in_while_the_app_runs_appears_without_its_card(tmp_path, monkeypatch):
    shutil.copytree(CHECKPOINTS / "sentiment", tmp_path / "first")
    monkeypatch.setattr("model.checkpoint.CHECKPOINTS", tmp_path)
    app = opened("checkpoints.py")
    shutil.copytree(CHECKPOINTS / "stories", tmp_path / "second", ignore=shutil.ignore_patterns("card.json"))
    app.run()
    assert not app.exception
    assert [header.value for header in app.header] == ["first", "second"]
    assert any(text.value.startswith("Decoder\\, 6 layers × 8 heads") for text in app.markdown)


def test_one_click_opens_a_checkpoint_in_explore():
    app = follow(opened("checkpoints.py"), "Open in Explore")
    assert not app.exception
    assert picture(app) is not None


def test_a_broken_checkpoint_takes_one_line_and_the_others_still_work(tmp_path, monkeypatch):
    for name in ("broken", "sentiment"):
        shutil.copytree(CHECKPOINTS / "sentiment", tmp_path / name)
    (tmp_path / "broken" / "config.json").write_text("{<b>", encoding="utf-8")
    monkeypatch.setattr("model.checkpoint.CHECKPOINTS", tmp_path)
    app = opened("checkpoints.py")
    assert not app.exception
    assert [header.value for header in app.header] == ["broken", "sentiment"]
    assert len(app.error) == 1
    assert len(app.metric) > 0
    assert one_refusal(opened(checkpoint="broken"))


def test_an_app_without_the_usual_checkpoint_opens_with_the_first_that_is_there(tmp_path, monkeypatch):
    shutil.copytree(CHECKPOINTS / "sentiment", tmp_path / "other")
    monkeypatch.setattr("model.checkpoint.CHECKPOINTS", tmp_path)
    app = opened()
    assert not app.error
    assert bar(app)["model"] == "other"
    assert picture(app) is not None


# The caches


def test_memory_that_several_layers_show_counts_once():
    trace: Any = load_checkpoint("sentiment", device="cpu").trace("Not bad at all!")
    first, second, *_ = trace.encoder.blocks
    assert first.stream_out.data_ptr() == second.stream_in.data_ptr()
    stack = replace(trace.encoder, blocks=(first, replace(first, stream_in=first.stream_out)))
    alone = replace(stack, blocks=(first,))
    assert bytes_of(replace(trace, encoder=stack)) == bytes_of(replace(trace, encoder=alone)) < bytes_of(trace)


def test_the_picture_of_all_checkpoints_alone_speaks_of_nothing_below_it():
    assert any("Below stand" in text.value for text in opened("checkpoints.py").markdown)
    alone = opened("checkpoints.py", view="picture")
    (sentence,) = (text.value for text in alone.markdown if text.value.startswith("Each square is a head"))
    assert sentence.endswith(".")
    assert "Below stand" not in sentence


@pytest.fixture
def written(monkeypatch):
    """The addresses that the browser is told, in their order."""
    told: list[dict[str, str]] = []
    write = QueryParamsProxy.from_dict

    def noting(query: QueryParamsProxy, address: dict[str, str]) -> None:
        told.append(address)
        write(query, address)

    monkeypatch.setattr(QueryParamsProxy, "from_dict", noting)
    return told


def test_an_address_that_a_broken_off_run_left_in_the_browser_is_written_over(written):
    """As when a control is used while another page is on its way: that page's run ends after it wrote its address."""
    app = opened(text="good film", layer="1")
    written.clear()
    app.run()
    assert written == []
    app.session_state["_unfinished"] = {"threshold": "1"}
    app.run()
    assert written == [{"text": "good film", "layer": "1"}]
    app.run()
    assert len(written) == 1


def test_an_address_that_came_too_late_for_a_second_press_is_written_over(written):
    """The second press names what was shown before the first: the browser sent its address before it got the next."""
    app = opened(text="good film", layer="1")
    written.clear()
    app.session_state["_address"] = {"text": "good film", "layer": "2"}
    app.session_state["_touched"] = True
    app.run()
    assert written == [{"text": "good film", "layer": "1"}]
    app.run()
    assert len(written) == 1


def test_a_link_that_was_followed_comes_before_another_run_of_the_page():
    def page() -> None:
        from typing import Any

        import streamlit as st
        from streamlit.runtime.scriptrunner import RerunData, RerunException, get_script_run_ctx

        from pages.parts.state.session import run_again

        context: Any = get_script_run_ctx()
        context.script_requests.request_rerun(RerunData(page_script_hash="that of the link"))
        try:
            run_again()
        except RerunException as request:
            st.session_state["followed"] = request.rerun_data.page_script_hash

    app = AppTest.from_function(page).run()
    assert app.session_state["followed"] == "that of the link"


@pytest.mark.parametrize("page", [page for page in ALL_PAGES if page not in BARELESS])
def test_without_a_text_an_example_is_one_click_away(page):
    app = opened(page, text="" if page == "write.py" else " ")
    assert one_refusal(app).startswith("There is nothing to ")
    app.button(key="show_example").click().run()
    assert not app.exception
    assert not app.error
    assert bar(app)["text"] == bar(opened(page))["text"]
    assert "text" not in app.query_params
