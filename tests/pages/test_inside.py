"""The page Inside a head through app.py, as without a browser: steps, numbers, choices, addresses."""

import base64
import io
import json
from typing import Any

import numpy as np
import pytest

from model import Edits, HeadSite, load_checkpoint
from model.measures.causes.source_chain import followed_back
from model.measures.one_weight import STEPS
from pages.parts.inside import head_matrices, weight_walk
from pages.parts.inside.arrow_keys import steps_between
from pages.parts.inside.settings import WHOLE, WalkSettings
from pages.parts.state.page_fields import CODEC
from pages.parts.state.selection import EXAMPLES, Selection
from tests.first_example import FOUND, FOUND_ADDRESS, LOVED, QUERY
from tests.pages.test_every_page import SENTENCE, asked, bar, component, follow, opened, typed
from tests.walk import heading
from viz.explorer.attention_kinds import kinds_of
from viz.text.causes.score_sources import title, told
from viz.tokens import decimal
from viz.walkthrough.step_sentences import TITLES

PAGE = "inside.py"
TEXT = "the dog bit the man ."


@pytest.fixture(scope="module")
def encoder() -> Any:
    return load_checkpoint("sentiment").trace(SENTENCE).encoder


SITE = ("layer", "head", "query", "key")


def selected(**address: str) -> Selection:
    """What an address selects on the page."""
    return CODEC.resolve(CODEC.read(address)[0], "inside")


def weight_said(app: Any) -> str:
    """The sentence with the weight."""
    return whole(app).markdown[0].value


def whole(app: Any) -> Any:
    assert not app.exception
    assert not app.error
    return app


def list_of_steps(app: Any) -> Any:
    (step_list,) = [each for each in app.selectbox if each.label == "Step"]
    return step_list


def whole_head(app: Any) -> Any:
    """What the picture of the whole head was given; None where it is not on the screen."""
    proto = component(app, "headlight_head_matrices")
    return None if proto is None else json.loads(proto.json)


def matrix(figure: Any, name: str) -> np.ndarray:
    """Its numbers, row by row."""
    columns = figure["headWidth"] if name in ("query", "key", "value", "context") else figure["sent"]
    return np.frombuffer(base64.b64decode(figure["matrices"][name]), "<f4").reshape(-1, columns)


def printed(app: Any, label: str) -> np.ndarray:
    """The numbers under the caption that begins with this label."""
    captions = [element for element in app.main if element.type in ("markdown", "code")]
    place = next(i for i, element in enumerate(captions) if element.value.startswith(f"{label} · "))
    return np.array(json.loads(captions[place + 1].value), np.float64)


def test_every_step_shows_its_numbers_in_full(encoder):
    trace: Any = load_checkpoint("sentiment").trace(SENTENCE)
    app = opened(PAGE, text=SENTENCE, layer="1", head="3", query="2", key="4", step="embedding", depth="numbers")
    attention = encoder.blocks[1].self_attention
    expected = {
        "embedding": ("token vector of the query", encoder.embedding.token[2]),
        "position": ("position vector of the key", encoder.embedding.position[4]),
        "norm": ("input of the query projection", attention.input[2]),
        "projection": ("key k", attention.key[3, 4]),
        "product": ("q · k ", attention.products[3, 2, 4]),
        "scale": ("scaled product ", attention.products[3, 2, 4] * attention.scale),
        "mask": ("score of every key", attention.scores[3, 2]),
        "softmax": ("weight ", attention.weights[3, 2, 4]),
        "value": ("context: the sum over all keys", attention.context[3, 2]),
        "heads": ("the contexts of all heads, joined", attention.context[:, 2].flatten()),
        "output": ("output of the attention", attention.output[2]),
        "residual": ("stream before the attention", encoder.blocks[1].stream_in[2]),
        "feed-forward": ("stream that leaves the layer", encoder.blocks[1].stream_out[2]),
        "layers": ("stream that leaves the last layer at the query", encoder.blocks[-1].stream_out[2]),
        "last-norm": ("final vector of the query", encoder.final[2]),
        "pooling": ("pooled vector", trace.pooled),
        "logits": ("every logit", trace.logits),
        "answer": ("every probability", trace.logits.double().softmax(dim=-1).float()),
    }
    assert list(expected) == list(STEPS)
    for number, (step, (label, values)) in enumerate(expected.items(), start=1):
        assert whole(app).subheader[0].value.startswith(f"Step {number} of 18: ")
        assert app.query_params["step"] == step
        assert len(app.get("vega_lite_chart")) >= 1
        assert np.array_equal(printed(app, label.strip()).astype(np.float32), values.numpy())
        if number < len(expected):
            app.button(key="next").click().run()
    assert app.button(key="next").disabled
    assert whole(app.button(key="previous").click().run()).subheader[0].value == heading("logits")


def test_until_a_step_is_chosen_it_opens_on_the_whole_head_with_the_numbers_of_the_trace(encoder):
    app = whole(opened(PAGE, text=SENTENCE, layer="1", head="3", query="2", key="4"))
    attention, figure = encoder.blocks[1].self_attention, whole_head(app)
    assert app.subheader[0].value == "The whole head"
    assert (figure["caption"], figure["chosen"], figure["cut"]) == ("Layer 2, head 4", [2, 4], "")
    for name in ("query", "key", "value", "products", "scores", "weights", "context"):
        assert np.array_equal(matrix(figure, name), getattr(attention, name)[3].numpy())
    assert not {"step", "depth"} & set(app.query_params)
    assert app.button(key="previous").disabled
    assert any(each.value == "Where this head stands in the model" for each in app.subheader)
    app.button(key="next").click().run()
    assert (app.query_params["step"], whole(app).subheader[0].value) == ("embedding", "Step 1 of 18: embedding")
    assert whole_head(app) is None
    app.button(key="previous").click().run()
    assert whole_head(whole(app))["chosen"] == [2, 4]


@pytest.mark.parametrize("step", STEPS)
def test_an_address_that_names_a_step_opens_that_step(step):
    app = whole(opened(PAGE, text=SENTENCE, step=step))
    assert app.subheader[0].value.endswith(f": {TITLES[step]}")
    assert whole_head(app) is None


@pytest.mark.parametrize("sent", [None, "3", [3], [1, 2, 3], [1.5, 2], [True, 1], [-1, 0], {"0": 1}])
def test_what_is_no_weight_is_not_taken_from_the_picture(sent):
    assert head_matrices.places_in(sent) is None
    assert head_matrices.places_in([2, 7]) == (2, 7)


def test_the_whole_head_in_every_number_shows_the_rows_of_the_weight_and_the_code(encoder):
    app = whole(opened(PAGE, text=SENTENCE, layer="1", head="3", query="2", key="4", depth="numbers"))
    attention = encoder.blocks[1].self_attention
    rows = {
        "the query's row of Q": attention.query[3, 2],
        "the key's row of V": attention.value[3, 4],
        "the query's row of scores": attention.scores[3, 2],
        "the query's row of the context": attention.context[3, 2],
    }
    for label, values in rows.items():
        assert np.array_equal(printed(app, label).astype(np.float32), values.numpy())
    assert any("model/scores.py" in text.value.replace("\\", "") for text in app.markdown)
    with np.load(io.BytesIO(weight_walk.head_npz(selected(text=SENTENCE, layer="1", head="3"))())) as file:
        assert np.array_equal(file["products"], attention.products[3].numpy())


def test_a_long_text_shows_an_excerpt_of_the_whole_head_around_the_weight():
    app = whole(opened(PAGE, text="a long film " * 60, layer="1", query="150", key="10"))
    figure = whole_head(app)
    assert figure["rows"][figure["chosen"][0]]["place"] == 150
    assert figure["columns"][figure["chosen"][1]]["place"] == 10
    assert "queries 113–176 of 180 and keys 1–64 of 180" in figure["cut"]


def test_a_muted_head_has_a_context_of_zeros_in_the_whole_head():
    app = whole(opened(PAGE, text=SENTENCE, layer="2", head="1", off="2.1", mute="1"))
    assert not matrix(whole_head(app), "context").any()
    assert matrix(whole_head(app), "weights").any()


def test_the_idea_is_a_sentence_and_pictures_alone():
    assert len(whole(opened(PAGE, step="product", layer="0", query="2", key="4")).code) == 0
    app = whole(opened(PAGE, step="softmax"))
    assert len(app.code) == 0
    assert not any("$" in text.value for text in app.markdown)
    whole(app.radio(key="depth").set_value("numbers").run())
    assert sum(r"\frac" in text.value for text in app.markdown) == 1
    assert app.query_params["depth"] == "numbers"


def test_until_one_is_chosen_the_largest_weight_of_the_head_is_shown(encoder):
    app = whole(opened(PAGE, text=SENTENCE, layer="2", head="5"))
    weights = encoder.blocks[2].self_attention.weights[5]
    query, key = divmod(int(weights.argmax()), weights.shape[1])
    assert (app.selectbox(key="inside_query").value, app.selectbox(key="inside_key").value) == (query, key)
    assert f"{100 * float(weights[query, key]):.4g}\u00a0%" in app.markdown[0].value
    assert f" with {100 * float(weights[query, key]):.4g}\u00a0%." in app.title[0].value
    app.selectbox(key="inside_head").set_value(0).run()
    query, key = divmod(int(encoder.blocks[2].self_attention.weights[0].argmax()), weights.shape[1])
    assert [app.selectbox(key=f"inside_{name}").value for name in SITE] == [2, 0, query, key]
    assert not {"query", "key"} & set(app.query_params)
    app.selectbox(key="inside_query").set_value(4).run()
    app.selectbox(key="inside_head").set_value(3).run()
    key = int(encoder.blocks[2].self_attention.weights[3, 4].argmax())
    assert [app.selectbox(key=f"inside_{name}").value for name in SITE] == [2, 3, 4, key]


def test_the_parts_of_the_score_are_told_apart_in_the_first_layer_only(encoder):
    app = whole(opened(PAGE, text=SENTENCE, step="product", query="2", key="4", depth="numbers"))
    parts = app.code[0].value
    scaled = encoder.blocks[0].self_attention.products[0, 2, 4] / 4
    assert sum(json.loads(parts.replace("'", '"')).values()) == pytest.approx(float(scaled), abs=1e-5)
    app.selectbox(key="inside_layer").set_value(1).run()
    whole(app)
    assert "Where this score comes from" not in [heading.value for heading in app.subheader]


def test_the_recheck_shows_both_numbers_and_their_difference(encoder):
    app = whole(opened(PAGE, text=SENTENCE, layer="1", head="3", query="2", key="4"))
    table = whole(app.button(key="recheck").click().run()).table[0].value
    ours, theirs, difference = (table.iloc[2, column] for column in (1, 2, 3))
    weight = float(encoder.blocks[1].self_attention.weights[3, 2, 4])
    assert float(ours) == pytest.approx(weight, abs=1e-7)
    assert float(theirs) == pytest.approx(weight, abs=1e-6)
    shown = np.spacing(np.float32(weight))  # what the digits of a 32-bit number leave open
    expected = pytest.approx(float(ours) - float(theirs), rel=0.05, abs=float(shown))
    assert float(difference) == expected, "two digits are shown"
    assert ours != theirs


def test_until_a_place_is_chosen_it_opens_on_the_head_that_does_most_with_the_text():
    app = whole(opened(PAGE))
    weights = load_checkpoint("sentiment").trace(EXAMPLES[0]).encoder.weights()  # type: ignore[union-attr]
    assert [app.selectbox(key=f"inside_{name}").value for name in SITE] == [*FOUND, QUERY, LOVED]
    assert f"attends to “loved” with {100 * float(weights[*FOUND, QUERY, LOVED]):.2f}\u00a0%" in app.title[0].value
    assert not {*SITE, "off", "attention", "opening"} & set(app.query_params)
    app.button(key="next").click().run()
    assert [whole(app).selectbox(key=f"inside_{name}").value for name in SITE] == [*FOUND, QUERY, LOVED]
    list_of_steps(app).set_value("softmax").run()
    assert any("gives a weight of " in text.value for text in whole(app).markdown)
    typed(app, SENTENCE)
    assert "loved" not in whole(app).title[0].value


def test_from_what_was_found_one_goes_to_any_other_even_the_first_and_the_address_says_so():
    app = whole(opened(PAGE))
    app.selectbox(key="inside_layer").set_value(0).run()
    assert [app.selectbox(key=f"inside_{name}").value for name in SITE[:2]] == [0, FOUND[1]]
    app.selectbox(key="inside_head").set_value(0).run()
    assert [app.selectbox(key=f"inside_{name}").value for name in SITE[:2]] == [0, 0]
    address = dict(app.query_params)
    again = whole(opened(PAGE, **address))
    assert again.title[0].value == app.title[0].value
    app.selectbox(key="inside_layer").set_value(3).run()
    assert [whole(app).selectbox(key=f"inside_{name}").value for name in SITE[:2]] == [3, 0]
    assert "opening" not in app.query_params


def test_a_query_or_key_chosen_where_the_place_was_found_stays_at_that_place():
    for name in ("query", "key"):
        app = whole(opened(PAGE))
        app.selectbox(key=f"inside_{name}").set_value(2).run()
        assert [whole(app).selectbox(key=f"inside_{each}").value for each in ("layer", "head", name)] == [*FOUND, 2]
        assert (app.query_params["layer"], app.query_params.get("head", "0")) == tuple(map(str, FOUND))


def test_the_head_that_was_found_stays_in_sight_when_it_is_muted():
    app = whole(opened(PAGE))
    before = app.title[0].value
    app.toggle(key="inside_mute").set_value(True).run()
    assert [whole(app).selectbox(key=f"inside_{name}").value for name in SITE[:2]] == [*FOUND]
    assert app.title[0].value == before
    assert app.query_params["muted"] == FOUND_ADDRESS


def test_the_door_to_explore_takes_what_was_found_along():
    app = whole(opened(PAGE))
    follow(app, "See it in Explore")
    assert (whole(app).query_params["layer"], app.query_params["key"]) == (str(FOUND[0]), str(LOVED))


def test_an_address_that_names_the_first_layer_and_no_more_means_its_first_head(encoder):
    app = whole(opened(PAGE, text=SENTENCE, layer="0"))
    assert [app.selectbox(key=f"inside_{name}").value for name in SITE[:2]] == [0, 0]


def test_a_place_chosen_elsewhere_and_put_back_opens_what_its_address_opens():
    app = opened(PAGE, text=SENTENCE)
    app.session_state["_chosen"] |= {"layer": 0, "head": 0, "off": frozenset()}  # as Explore leaves them behind
    app.run()
    assert not {*SITE, "off", "opening"} & set(app.query_params)
    assert whole(app).title[0].value == whole(opened(PAGE, **dict(app.query_params))).title[0].value


def test_alone_with_its_picture_the_page_has_no_controls():
    app = opened(PAGE, text=SENTENCE, step="product")
    app.session_state["_view"] = "picture"  # as app.py notes, which AppTest leaves out
    list_of_steps(app).set_value("value").run()
    assert whole(app).subheader[0].value == heading("value")
    assert [*app.selectbox, *app.button, *app.get("page_link")] == []
    assert len(app.get("vega_lite_chart")) == 2


@pytest.mark.parametrize(
    ("name", "attention"),
    [
        *(("gpt2", "decoder"), ("bert", "encoder"), ("llama", "decoder"), ("gemma2", "decoder"), ("qwen3", "decoder")),
        *(("t5", "cross"), ("bart", "cross"), ("bart", "decoder"), ("gpt-neox", "decoder"), ("own", "encoder")),
    ],
)
def test_families_walk_from_end_to_end(name, attention, app_folders):
    address = {"checkpoint": name, "text": TEXT, "attention": attention, "head": "1", "depth": "numbers"}
    app = whole(opened(PAGE, layer="1", query="0", key="0", **address))
    assert whole_head(app)["chosen"] == [0, 0]
    assert list_of_steps(app).value == WHOLE
    checkpoint = load_checkpoint(app_folders / name, device="cpu")
    stack: Any = getattr(checkpoint.trace(TEXT), "encoder" if attention == "encoder" else "decoder")
    block = stack.blocks[1]
    trace = block.cross_attention if attention == "cross" else block.self_attention
    assert np.array_equal(matrix(whole_head(app), "weights"), trace.weights[1].numpy())
    for step in STEPS:
        whole(app.button(key="next").click().run())
        if step == "softmax":
            assert printed(app, "weight") == pytest.approx(float(trace.weights[1, 0, 0]), abs=1e-7)
    table = whole(app.button(key="recheck").click().run()).table[0].value
    assert float(table.iloc[2, 2]) == pytest.approx(float(trace.weights[1, 0, 0]), abs=1e-5)


def test_another_attention_has_its_own_words(app_folders):
    app = whole(opened(PAGE, checkpoint="bart", text=TEXT, head="2", layer="1"))
    app.selectbox(key="inside_attention").set_value("cross").run()
    trace: Any = load_checkpoint(app_folders / "bart", device="cpu").trace(TEXT)
    assert [len(whole_head(app)[side]) for side in ("rows", "columns")] == [
        len(stack.tokens) for stack in (trace.decoder, trace.encoder)
    ]
    assert len(whole(app).selectbox(key="inside_query").options) == len(trace.decoder.tokens)
    assert len(app.selectbox(key="inside_key").options) == len(trace.encoder.tokens)
    assert [info.value for info in app.info] == []


def test_back_at_the_first_attention_the_address_gives_the_head_on_the_screen(app_folders):
    app = whole(opened(PAGE, checkpoint="bart", text=TEXT))
    app.selectbox(key="inside_attention").set_value("cross").run()
    app.selectbox(key="inside_attention").set_value("encoder").run()
    places = [app.selectbox(key=f"inside_{name}").value for name in ("layer", "head", "query", "key")]
    again = whole(opened(PAGE, **dict(app.query_params)))
    assert [again.selectbox(key=f"inside_{name}").value for name in ("layer", "head", "query", "key")] == places


@pytest.mark.parametrize(
    ("name", "value"), [("head", "8"), ("head", "-1"), ("head", "x"), ("step", "<b>"), ("depth", "all")]
)
def test_a_bad_value_in_the_address_falls_back_with_one_sentence(name, value):
    app = whole(opened(**{name: value}))  # the page that reads the address
    assert [info.value for info in app.info] == [f"The address gives no usable value for {name}; the default is shown."]
    assert name not in app.query_params


def test_every_step_is_chosen_by_its_name():
    app = whole(opened(PAGE, text=SENTENCE, step="product"))
    names = [heading(step) for step in STEPS]
    assert list_of_steps(app).options == ["The whole head", *names]
    assert list_of_steps(app).value == "product"
    list_of_steps(app).set_value("mask").run()
    assert whole(app).subheader[0].value == heading("mask")
    assert app.query_params["step"] == "mask"
    app.button(key="next").click().run()
    assert list_of_steps(whole(app)).value == "softmax"


def test_an_address_holds_head_step_and_depth():
    selection = selected(head="3", step="softmax", depth="numbers")
    assert (selection.head, selection.of(WalkSettings)) == (3, WalkSettings(step="softmax", depth="numbers"))


def test_a_text_that_cannot_be_read_gets_one_sentence():
    app = opened(PAGE, text=" ")
    assert not app.exception
    assert len(app.error) == 1


def test_a_masked_weight_and_a_muted_head_are_said_to_be_so(app_folders):
    app = whole(opened(PAGE, checkpoint="gpt2", text=TEXT, attention="decoder", query="1", key="3", step="mask"))
    assert "may not see" in app.markdown[0].value
    app = whole(opened(PAGE, checkpoint="gpt2", text=TEXT, attention="decoder", off="0.0", mute="1", step="value"))
    assert any("This head is muted" in text.value for text in app.markdown)


def test_explore_has_a_door_that_takes_the_selection_along():
    app = opened(text=SENTENCE, layer="2", off="2.0-4_2.6-7", query="3", key="1")
    follow(app, "Inside this weight")
    assert "Where does this one number come from?" in asked(whole(app))
    assert [app.selectbox(key=f"inside_{name}").value for name in SITE] == [2, 5, 3, 1]


def test_the_door_back_keeps_the_weight_and_shows_a_hidden_head_alone():
    app = whole(opened(PAGE, text=SENTENCE, layer="2", head="5", off="2.0-5", query="3", key="1"))
    follow(app, "See it in Explore")
    assert "Which words does each head look at?" in asked(whole(app))
    address = {"text": SENTENCE, "layer": "2", "query": "3", "key": "1", "head": "5", "off": "2.0-4_2.6-7"}
    assert {name: app.query_params.get(name) for name in address} == address
    follow(app, "Inside this weight")
    assert [whole(app).selectbox(key=f"inside_{name}").value for name in SITE] == [2, 5, 3, 1]


def test_the_door_back_shows_the_head_alone_and_mutes_no_other_than_before():
    for address, muted in (({"off": "2.0-4"}, None), ({"off": "0.3_2.0-5", "mute": "1"}, "0.3_2.0-5")):
        app = opened(PAGE, text=SENTENCE, layer="2", head="5", **address)
        before = weight_said(whole(app))
        follow(app, "See it in Explore")
        assert (app.query_params["off"], app.query_params.get("muted")) == ("2.0-4_2.6-7", muted)
        assert weight_said(follow(app, "Inside this weight")) == before


def test_the_door_back_keeps_the_weight_that_was_found_where_none_was_chosen(encoder):
    app = opened(PAGE, text=SENTENCE, layer="2", head="5")
    follow(app, "See it in Explore")
    weights = encoder.blocks[2].self_attention.weights[5]
    query, key = divmod(int(weights.argmax()), weights.shape[1])
    assert (whole(app).query_params["query"], app.query_params["key"]) == (str(query), str(key))


def test_the_door_to_positions_keeps_the_text_even_that_of_the_first_view():
    app = whole(opened(PAGE))
    follow(app, "Next: Positions, how words get their order")
    assert "How does the model know the order of words?" in asked(whole(app))
    assert bar(app)["text"] == app.query_params.get("text", EXAMPLES[0]) == EXAMPLES[0]


def test_muting_the_head_gives_the_numbers_of_that_run_and_says_so():
    app = whole(opened(PAGE, text=SENTENCE, layer="2", head="1", query="3", key="1", step="softmax", depth="numbers"))
    before = printed(app, "weight of every key")
    app.selectbox(key="inside_layer").set_value(0).run()
    whole(app.toggle(key="inside_mute").set_value(True).run())
    sentence = "The model ran with head 2 of layer 1 muted."
    assert app.markdown[0].value.endswith(
        f"{sentence} A muted head still computes its weights; its context is set to zero."
    )
    app.selectbox(key="inside_layer").set_value(2).run()
    edits = Edits(muted=frozenset({HeadSite("encoder", 0, 1)}))
    stack: Any = load_checkpoint("sentiment").trace(SENTENCE, edits=edits).encoder
    after = printed(whole(app), "weight of every key")
    assert np.array_equal(after.astype(np.float32), stack.blocks[2].self_attention.weights[1, 3].numpy())
    assert not np.allclose(after, before, atol=1e-4)
    assert app.markdown[0].value.endswith(sentence)
    assert app.query_params["muted"] == "0.1"
    assert not app.toggle(key="inside_mute").value
    app.selectbox(key="inside_layer").set_value(0).run()
    whole(app.toggle(key="inside_mute").set_value(False).run())
    assert "muted" not in app.markdown[0].value
    assert not {"mute", "muted"} & set(app.query_params)


def test_the_files_hold_the_numbers_of_the_steps(encoder):
    selection = selected(text=SENTENCE, layer="1", head="3", query="2", key="4")
    attention = encoder.blocks[1].self_attention
    with np.load(io.BytesIO(weight_walk.npz(selection, ("product",))())) as file:
        facts = {"checkpoint", "text", "edits", "counting", "program"}
        assert {name.split("_")[0] for name in set(file) - facts} == {"product"}
        assert str(file["text"]) == SENTENCE
        assert np.array_equal(file["product_query"], attention.query[3, 2].numpy())
    with np.load(io.BytesIO(weight_walk.npz(selection, weight_walk.ORDER)())) as file:
        assert float(file["softmax_weight"]) == float(attention.weights[3, 2, 4])
        assert np.array_equal(file["feed_forward_stream_out"], encoder.blocks[1].stream_out[2].numpy())


def test_the_script_names_the_weight_and_what_is_muted():
    selection = selected(text=SENTENCE, layer="1", head="3", off="0.2", mute="1")
    edits = Edits(muted=frozenset({HeadSite("encoder", 0, 2)}))
    stack: Any = load_checkpoint("sentiment").trace(SENTENCE, edits=edits).encoder
    written = weight_walk.python(selection)()
    assert f"shown = {float(stack.blocks[1].self_attention.weights[3].max())!r}" in written
    assert "HeadSite(stack='encoder', layer=0, head=2, attention='self')" in written


def test_steps_are_the_difference_of_two_sums_and_what_a_page_does_not_send_is_none():
    first, second, anew = ({"mounted": at, "steps": steps} for at, steps in ((1.5, 2), (1.5, -1), (9.5, 1)))
    assert [steps_between(*pair) for pair in (({}, first), (first, second), (second, anew))] == [2, -3, 1]
    for sent in (None, "3", [3], {"steps": "3"}, {"steps": 1e9}, {"mounted": 1.5}):
        assert steps_between(first, sent) == 0
        assert steps_between(sent, first) == 2


def text_of(app: Any) -> str:
    return "\n".join(text.value for text in whole(app).markdown).replace("\u00a0", " ").replace("\\", "")


def test_why_it_looks_there_is_told_of_any_layer_and_leads_to_the_head_that_wrote_it():
    checkpoint = load_checkpoint("sentiment")
    trace: Any = checkpoint.trace(SENTENCE)
    texts = {"encoder": kinds_of(trace)["encoder"].queries}
    heads = [(layer, head) for layer in (1, 2) for head in range(8)]
    ways = ((followed_back(checkpoint, trace, HeadSite("encoder", *head), 3, 4), head) for head in heads)
    steps, (layer, head) = next(way for way in ways if way[0][0].head and abs(way[0][0].score) > 0.1)
    app = opened(PAGE, text=SENTENCE, step="product", layer=f"{layer}", head=f"{head}", query="3", key="4")
    assert "Why it looks there" in [heading.value for heading in whole(app).subheader]
    assert title(steps, texts).replace("\u00a0", " ").replace("\\", "") in text_of(app)
    assert f"The parts of each side add up to {decimal(steps[0].score, '.7g')}" in text_of(app)
    whole(app.button(key="step_back_0").click().run())
    place = [app.selectbox(key=f"inside_{name}").value for name in SITE]
    assert steps[0].head is not None
    assert place == [steps[0].head.layer, steps[0].head.head, steps[0].position, steps[0].read]


def test_a_translators_cross_attention_leads_back_into_the_stack_that_wrote_the_part():
    text, query, key = "The small dog sees the old man.", 7, 6
    checkpoint = load_checkpoint("translate-en-fr")
    trace: Any = checkpoint.trace(text)
    ways = (followed_back(checkpoint, trace, HeadSite("decoder", 1, head, "cross"), query, key) for head in range(8))
    head, step = next(
        (head, way[0]) for head, way in enumerate(ways) if way[0].stack == "decoder" and way[0].head and told(way)
    )
    weight = {"layer": "1", "head": f"{head}", "query": f"{query}", "key": f"{key}"}
    app = opened(PAGE, checkpoint="translate-en-fr", text=text, attention="cross", step="product", **weight)
    assert "wrote at" in text_of(app)
    assert step.head is not None
    name = f"head {step.head.head + 1} of layer {step.head.layer + 1} of the decoder"
    assert whole(app).button(key="step_back_0").label.endswith(name)
    whole(app.button(key="step_back_0").click().run())
    assert app.selectbox(key="inside_attention").value == ("decoder" if step.head.attention == "self" else "cross")
    place = [app.selectbox(key=f"inside_{name}").value for name in SITE[:3]]
    assert place == [step.head.layer, step.head.head, step.position]
    assert "Why it looks there" in [heading.value for heading in app.subheader]


@pytest.mark.parametrize("step", ["product", "softmax", "whole"])
def test_why_it_looks_there_gives_the_score_and_the_mean_of_the_trace(step: str):
    trace: Any = load_checkpoint("sentiment").trace(SENTENCE)
    scores = trace.encoder.blocks[2].self_attention.scores[1, 3]
    app = opened(PAGE, text=SENTENCE, step=step, layer="2", head="1", query="3", key="4")
    above = float(scores[4] - scores.mean())
    sizes = [decimal(float(value), ".4f") for value in (scores[4], scores.mean(), abs(above))]
    said = "The score is {}; the mean of the scores that this query gives is {}. The bars split the {} {} it twice"
    assert said.format(*sizes, "above" if above > 0 else "below") in text_of(app)


def test_of_a_hidden_key_and_of_a_query_that_sees_one_key_it_is_said_why_there_is_no_why():
    app = opened(PAGE, checkpoint="stories", text="The old king saw", step="product", query="1", key="3")
    assert "The mask hides this key from this query" in text_of(app)
    app = opened(PAGE, checkpoint="stories", text="Once", step="softmax")
    assert "This query sees one key alone" in text_of(app)
    assert "The score is" not in text_of(app)


def test_no_picture_of_a_step_is_described_twice(caplog):
    for step in STEPS:
        opened(PAGE, text="A slow film.", step=step)
    assert "already sets description" not in caplog.text


def test_a_sentence_that_ends_with_the_key_of_a_full_stop_has_one():
    app = opened(PAGE, text="A slow film.", query="1", key="3")
    assert "to key 4 · .\n" in text_of(app)


def test_why_it_looks_there_is_not_told_of_an_edited_pass():
    app = opened(PAGE, text=SENTENCE, step="product", layer="2", head="1", muted="0.1")
    assert "take them back" in text_of(app)
