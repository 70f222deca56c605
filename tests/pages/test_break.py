"""The page that breaks the formula: every experiment on every architecture, against the model itself."""

import json
import shutil
from typing import Any

import numpy as np
import pyarrow.ipc
import pytest
from streamlit.testing.v1 import AppTest

from model import Edits, HeadSite, HiddenKey, load_checkpoint
from model.loading import checkpoint_files
from pages.parts.ablations.experiments import EXPERIMENTS, NOTHING, ExperimentPlace, edits_for
from pages.parts.state.selection import EXAMPLES
from tests import reference, tiny
from tests.kinds import BART
from tests.pages.test_every_page import component, opened
from tests.pages.test_families import TEXT
from viz.charts.causes.comparison import MOST_DRAWN


def opened_at(experiment: str, **address: str) -> AppTest:
    app = opened("break.py", experiment=experiment, **address)
    assert not app.exception
    assert not app.error
    return app


def values(app: AppTest, place: int) -> list[dict]:
    """The records of one chart."""
    proto = app.get("vega_lite_chart")[place].proto
    sent = proto.data.data or proto.datasets[0].data.data
    return pyarrow.ipc.open_stream(sent).read_all().to_pylist()


def compared(app: AppTest) -> Any:
    """What the browser draws of the two runs; None where there is nothing to compare."""
    proto = component(app, "headlight_comparison")
    return json.loads(proto.json) if proto else None


def measured(app: AppTest) -> str:
    (sentence,) = [text.value for text in app.markdown if text.value.startswith("**Measured here.**")]
    return sentence.replace("\\", "")


@pytest.fixture(scope="module")
def checkpoint():
    return load_checkpoint("sentiment")


def test_the_token_that_no_head_may_look_at_can_be_chosen_and_is_the_key_of_other_pages(checkpoint):
    text = "The film was slow, but I loved it."
    most = int(checkpoint.trace(text).encoder.weights().sum(dim=(0, 1, 2)).argmax())
    assert opened("break.py", text=text, experiment="hide").selectbox(key="hidden_key").value == most
    app = opened("break.py", text=text, experiment="hide", key="7")
    loved = Edits(hidden=frozenset({HiddenKey("encoder", 7)}))
    before, after = (100 * checkpoint.classify(text, edits=edits)["positive"] for edits in (Edits(), loved))
    assert f"goes from {before:.2f}" in measured(app)
    assert f"to {after:.2f}" in measured(app)
    app.selectbox(key="hidden_key").set_value(3).run()
    assert app.query_params["key"] == "3"
    edits = Edits(hidden=frozenset({HiddenKey("encoder", 3)}))
    label, probability = max(checkpoint.classify(text, edits=edits).items(), key=lambda pair: pair[1])
    assert app.metric[1].value == f"{label} {100 * probability:.1f}\u00a0%"


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_shows_both_runs_or_says_why_not(name, checkpoint):
    app = opened_at(name, layer="1")
    shown_attention = checkpoint.trace(EXAMPLES[0]).encoder.weights().sum(dim=(0, 1, 2))
    edits = edits_for(EXPERIMENTS[name], checkpoint.config, ExperimentPlace(layer=1, key=int(shown_attention.argmax())))
    if isinstance(edits, str):
        assert [info.value for info in app.info] == [edits]
        assert compared(app) is None
        assert len(app.get("vega_lite_chart")) == 0
        return
    assert "nan" not in measured(app)
    runs = [checkpoint.trace(EXAMPLES[0], edits=each) for each in (Edits(), edits)]
    comparison = compared(app)
    layer = 2 if name in ("residual", "mute") else 1  # what acts after a layer's weights is seen in the next one's
    assert f"layer {layer + 1}" in comparison["said"]
    first, second = (run.encoder.blocks[layer].self_attention.weights.double().mean(dim=0).numpy() for run in runs)
    for field, expected in (("before", first), ("after", second), ("change", second - first)):
        assert np.allclose(comparison[field], expected, atol=1e-6)
    moved = [
        float((after.stream_out - before.stream_out).double().norm() / before.stream_out.double().norm())
        for before, after in zip(runs[0].encoder.blocks, runs[1].encoder.blocks, strict=True)
    ]
    assert [row["distance"] for row in values(app, 0)] == pytest.approx(moved, rel=1e-5, abs=1e-9)
    for metric, run in zip(app.metric, runs, strict=True):
        label, probability = max(checkpoint.probabilities(run).items(), key=lambda pair: pair[1])
        assert metric.value == f"{label} {100 * probability:.1f}\u00a0%"


@pytest.fixture(scope="module")
def short_bart(folders):
    """A random decoder never comes to an end: this one runs out of positions after a few tokens."""
    reference.make("BartForConditionalGeneration", folders / "short", **BART | {"max_position_embeddings": 12})
    tiny.tokenizer().save(folders / "short" / checkpoint_files.TOKENIZER)
    yield
    shutil.rmtree(folders / "short")


@pytest.mark.parametrize("folder", ["gpt2", "short"])
def test_every_experiment_opens_on_other_architectures(folder, short_bart, app_folders):
    config = load_checkpoint(app_folders / folder, device="cpu").config
    for name, experiment in EXPERIMENTS.items():
        attention = "encoder" if "encoder" in config.architecture else "decoder"
        app = opened_at(name, checkpoint=folder, text=TEXT)
        refused = edits_for(experiment, config, ExperimentPlace(attention))
        assert len(app.info) == isinstance(refused, str)
        assert (compared(app) is None) == isinstance(refused, str)
        assert len(app.get("vega_lite_chart")) == (not isinstance(refused, str))
        assert all(info.value.startswith(NOTHING) for info in app.info)


def test_cross_attention_is_compared_on_the_text_that_the_original_wrote(short_bart, app_folders):
    app = opened_at("uniform", checkpoint="short", text=TEXT, attention="cross")
    trace: Any = load_checkpoint(app_folders / "short", device="cpu").trace(TEXT)
    mean = trace.decoder.blocks[0].cross_attention.weights.double().mean(dim=0).numpy()[:MOST_DRAWN]
    assert np.allclose(compared(app)["before"], mean[:, :MOST_DRAWN], atol=1e-6)
    assert np.allclose(compared(app)["after"], 1 / mean.shape[1], atol=1e-6)
    assert any("the original run wrote" in text.value for text in app.markdown)


def test_without_positions_the_page_says_that_the_order_is_lost(checkpoint):
    assert "who bit whom is lost" in measured(opened_at("positions"))


def weights_without_positions(name: str, text: str) -> tuple[list[str], list[np.ndarray]]:
    """The tokens, and (head, query, key) of every layer."""
    stack = "encoder" if name == "sentiment" else "decoder"
    trace = load_checkpoint(name, device="cpu").trace(text, edits=Edits(unpositioned=frozenset({stack})))
    side: Any = getattr(trace, stack)
    return side.tokens, [block.self_attention.weights.double().numpy() for block in side.blocks]


def unlike(weights: np.ndarray, one: int, other: int) -> float:
    """The largest difference between the rows, or the columns, of two tokens."""
    return max(float(np.abs(line[one] - line[other]).max()) for head in weights for line in (head, head.T))


def test_a_token_that_stands_twice_is_spoken_of_where_there_is_one_and_looks_alike_unless_a_mask_is_left():
    hint = next(text.value for text in opened_at("positions").markdown if "What to look for" in text.value)
    assert "Where a text contains a token twice, and no mask" in hint
    tokens, layers = weights_without_positions("sentiment", "An odd film, but a good film.")
    places = [place for place, token in enumerate(tokens) if token == "film"]
    assert len(places) == 2
    assert all(unlike(weights, *places) < 1e-5 < unlike(weights, places[0], 1) for weights in layers)
    tokens, layers = weights_without_positions("stories", "The dog saw the dog.")
    places = [place for place, token in enumerate(tokens) if "dog" in token]
    assert len(places) == 2
    assert all(unlike(weights, *places) > 0.01 for weights in layers)


def test_a_decoder_still_knows_the_order_and_the_page_says_why(app_folders):
    assert "because a mask is left" in measured(opened_at("positions", checkpoint="gpt2", text=TEXT))


def test_the_muted_head_is_the_one_that_is_chosen(checkpoint):
    app = opened_at("mute", layer="2")
    app.selectbox(key="compared_head").select(4).run()
    assert not app.exception
    assert app.subheader[0].value == "Mute head 5 of layer 3"
    after = checkpoint.classify(EXAMPLES[0], edits=Edits(muted=frozenset({HeadSite("encoder", 2, 4)})))
    assert f"{100 * after['positive']:.2f}" in measured(app)
    assert any("the same in both runs" in text.value for text in app.markdown)
    assert "layer 4" in compared(app)["said"]
    weights = checkpoint.trace(EXAMPLES[0]).encoder.blocks[3].self_attention.weights.double().mean(dim=0)
    assert np.allclose(compared(app)["before"], weights, atol=1e-6)
    assert app.query_params["off"] == "2.0-3_2.5-7"


HEADS_ON = {"": range(8), "0.1-7": [0], "0.0": range(1, 8), "0.0-7": range(8), "0.0-1_1.4-7": range(2, 8)}


@pytest.mark.parametrize(
    ("name", "off"),
    [*((name, "") for name in EXPERIMENTS), *((name, off) for name in ("mute", "scale") for off in ("0.1-7", "0.0"))],
)
def test_the_control_names_the_head_that_an_experiment_acts_on_or_else_those_that_are_drawn(name, off):
    app, on = opened_at(name, off=off), HEADS_ON[off]
    control = app.selectbox(key="compared_head")
    assert control.index is not None
    option = control.options[control.index]
    if name == "mute":
        assert (control.label, app.subheader[0].value) == ("Head to mute", f"Mute head {option} of layer 1")
        assert control.options == [str(head) for head in range(1, 9)]
    else:
        assert (control.label, option) == ("Head drawn", "1" if len(on) == 1 else f"mean of {len(on)} heads")
    acts = name in ("residual", "mute")
    assert app.selectbox(key="compared_layer").label == ("Layer" if acts else "Layer drawn")


@pytest.mark.parametrize("off", HEADS_ON)
@pytest.mark.parametrize(("name", "layer"), [("scale", 0), ("residual", 1), ("mute", 1)])
def test_the_words_name_the_heads_that_are_drawn_those_of_the_next_layer_too(name, layer, off, checkpoint):
    app = opened_at(name, off=off)
    drawn = HEADS_ON[off] if layer == 0 else range(4 if "1.4-7" in off else 8)
    weights = checkpoint.trace(EXAMPLES[0]).encoder.blocks[layer].self_attention.weights[list(drawn)]
    assert np.allclose(compared(app)["before"], weights.double().mean(dim=0), atol=1e-6)
    named = "head 1" if len(drawn) == 1 else f"mean of {len(drawn)} heads"
    assert compared(app)["said"] == f"attention of layer {layer + 1}, {named}, query by key"
    assert any(text.value.endswith(f"the layer after it, {named}.") for text in app.markdown) == (layer == 1)


def test_a_head_muted_in_the_last_layer_changes_no_weights_and_the_page_says_whose_it_draws():
    app = opened_at("mute", layer="3")
    assert app.subheader[0].value == "Mute head 1 of layer 4"
    assert any(text.value.startswith("The weights drawn (mean of 8 heads) are the same") for text in app.markdown)


def test_a_click_on_an_experiment_is_in_the_address():
    app = opened_at("scale")
    app.radio(key="experiment").set_value("uniform").run()
    assert not app.exception
    assert app.query_params["experiment"] == "uniform"
    assert app.subheader[0].value == EXPERIMENTS["uniform"].name


def test_an_unknown_experiment_in_the_address_falls_back_with_one_sentence():
    app = opened(experiment="<b>")
    assert [info.value for info in app.info] == [
        "The address gives no usable value for experiment; the default is shown."
    ]
    app.switch_page("pages/break.py").run()
    groups = json.loads(component(app, "headlight_formula").json)["groups"]
    terms = [term for group in groups for line in group["lines"] for term in line["terms"] if "part" in term]
    (most,) = [term["part"] for term in terms if term["most"]]
    assert app.subheader[0].value == EXPERIMENTS[most].name.format(layer=1)
    assert "experiment" not in app.query_params


def test_a_long_text_is_measured_whole_and_drawn_in_part():
    app = opened_at("uniform", text="good " * 60)
    assert any("The first 40 of 60 tokens are drawn" in text.value for text in app.markdown)
    assert np.shape(compared(app)["change"]) == (40, 40)


def test_one_token_is_enough():
    for name in EXPERIMENTS:
        opened_at(name, text="good")


def test_heads_that_are_muted_elsewhere_are_said_not_to_be_muted_here():
    sentence = "This page mutes no head; heads that are muted on other pages stay muted there."
    plain, muted = opened("break.py"), opened("break.py", muted="3.3")
    assert sentence not in [caption.value for caption in plain.caption]
    assert sentence in [caption.value for caption in muted.caption]
    assert muted.title[0].value == plain.title[0].value


def test_two_orders_of_words_that_a_model_cannot_read_are_no_measurement():
    said = [
        any("The dog bit the man" in text.value for text in app.markdown)
        for app in (
            opened("break.py", experiment="positions"),
            opened("break.py", experiment="positions", checkpoint="reverse-with-positions.1000", text="light>thgil"),
        )
    ]
    assert said == [True, False]
