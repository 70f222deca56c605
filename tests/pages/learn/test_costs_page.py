"""The page What it costs as without a browser: models, typed sizes, what cannot be, and the measurement."""

from dataclasses import replace
from typing import Any

import pyarrow.ipc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from model import Config, load_checkpoint
from model.config import LARGEST_LAYERS, POSITIONS
from model.measures.learn.sizes.costs import LENGTHS, LONGEST_LIVE, TimedLength
from model.measures.learn.sizes.model_sizes import MOST_HEADS, WIDEST
from model.measures.learn.sizes.parameters import parameter_count
from pages.parts.costs import live
from pages.parts.costs.settings import MOST_WORDS, PRESETS, Costs
from tests.pages.test_every_page import button, follow, opened


def costs(*settings: str, **address: str) -> AppTest:
    """The page at an address with these settings."""
    return opened("costs.py", **({"costs": "~".join(settings)} if settings else {}), **address)


def bars(app: AppTest) -> list[dict[str, Any]]:
    """What the picture shows."""
    return chart_rows(app, 0)


def chart_rows(app: AppTest, place: int) -> list[dict[str, Any]]:
    """The rows of a chart of the page."""
    data = app.get("vega_lite_chart")[place].proto.data.data
    return pyarrow.ipc.open_stream(data).read_all().to_pylist()


def test_it_opens_on_the_papers_base_model():
    app = costs()
    assert not app.exception
    assert "63.1 million parameters" in app.title[0].value
    assert sum(row["total"] for row in bars(app)) == 63_082_496


@pytest.mark.parametrize("preset", PRESETS)
def test_every_model_has_its_page(preset):
    app = costs(f"preset.{preset}")
    assert not app.exception
    assert not app.error
    assert len(bars(app)) > 2


def test_a_checkpoint_has_the_parameters_of_its_weights():
    app = costs("preset.checkpoint", checkpoint="translate-en-fr")
    parameters = load_checkpoint("translate-en-fr", device="cpu").model.parameter_count()
    assert app.title[0].value.startswith("translate\\-en\\-fr has ")
    assert sum(row["total"] for row in bars(app)) == parameters


def test_another_model_is_one_choice_away_and_stands_in_the_address():
    app = costs()
    app.selectbox(key="costs_model").set_value("gpt2").run()
    assert app.title[0].value.replace("\\", "").startswith("GPT-2 small has 124.4 million")
    assert app.query_params["costs"] == "preset.gpt2"
    app.selectbox(key="costs_model").set_value("checkpoint:stories").run()
    assert app.title[0].value.startswith("stories has ")


def test_a_typed_size_is_counted_and_goes_with_another_model():
    app = costs()
    app.number_input(key="costs_width").set_value(1024).run()
    assert app.title[0].value.startswith("This model has ")
    assert app.query_params["costs"] == "width.1024"
    button(app, "Back to its own sizes").click().run()
    assert "63.1 million" in app.title[0].value
    assert "costs" not in app.query_params
    app.number_input(key="costs_layers").set_value(12).run()
    app.selectbox(key="costs_model").set_value("bert").run()
    assert app.query_params["costs"] == "preset.bert"


@pytest.mark.parametrize(
    ("key", "size", "sentence"),
    [
        (
            "costs_width",
            513,
            "A width of 513 cannot be shared by 8 heads. Choose a width of 512 or 520, or 3 or 9 heads.",
        ),
        (
            "costs_heads",
            9,
            "A width of 512 cannot be shared by 9 heads. Choose a width of 504 or 513, or 8 or 16 heads.",
        ),
    ],
)
def test_sizes_that_do_not_go_together_get_one_sentence_and_leave_the_page_whole(key, size, sentence):
    app = costs()
    charts = len(app.get("vega_lite_chart"))
    app.number_input(key=key).set_value(size).run()
    assert not app.exception
    (box,) = app.error
    instead = "Shown is the model with its own width of 512 and 8 heads."
    assert box.value.replace("\\", "") == f"{sentence} {instead}"
    assert app.number_input(key=key).value == size, "what was typed is kept"
    assert "63.1 million parameters" in app.title[0].value
    assert len(app.get("vega_lite_chart")) == charts
    assert app.number_input(key="costs_tokens")
    app.number_input(key=key).set_value(1024 if key == "costs_width" else 16).run()
    assert not app.error


def test_other_typed_sizes_are_counted_beside_a_width_that_the_heads_cannot_share():
    app = costs("width.513", "layers.12")
    assert len(app.error) == 1
    assert sum(row["total"] for row in bars(app)) == parameter_count(replace(Config.paper_base(), layers=12))
    assert app.title[0].value.startswith("This model has ")


@given(
    width=st.integers(0, WIDEST), heads=st.integers(0, MOST_HEADS), layers=st.integers(0, LARGEST_LAYERS),
    vocabulary=st.integers(0, MOST_WORDS), preset=st.sampled_from(PRESETS),
    positions=st.sampled_from(POSITIONS),
)  # fmt: skip
def test_there_is_a_model_to_count_whatever_is_typed(positions, **settings):
    own = replace(Config.paper_base(), positions=positions)
    counted, refusal = Costs(**settings).countable(own)
    assert parameter_count(counted.config(own)) > 0
    assert bool(refusal) == (counted != Costs(**settings))


@pytest.mark.parametrize("settings", ["width.99999", "preset.none", "tokens.0", "layers.-1", "heads.<b>", "depth.3"])
def test_a_setting_that_cannot_be_falls_back_with_one_sentence(settings):
    app = costs(settings)
    assert not app.exception
    assert ["no usable value for costs" in info.value for info in app.info] == [True]
    assert "63.1 million" in app.title[0].value


def test_the_largest_sizes_that_can_be_typed_are_counted_at_once():
    app = costs("width.16384", "heads.256", "layers.256", "hidden.65536", "vocabulary.500000", "tokens.100000")
    assert not app.exception
    assert not app.error
    assert "trillion parameters" in app.title[0].value or "billion parameters" in app.title[0].value


def test_the_length_of_the_text_changes_what_its_attention_needs():
    app = costs()
    assert any("512 × 512 weights" in text.value for text in app.markdown)
    app.number_input(key="costs_tokens").set_value(1000).run()
    assert any("1,000 × 1,000 weights" in text.value for text in app.markdown)


@pytest.mark.parametrize(
    ("preset", "limit"),
    [
        ("base", ""),
        ("gpt2", "The model itself reads at most 1,024"),
        ("checkpoint", "checkpoint allows at most 512 tokens"),
    ],
)
def test_a_longest_text_is_named_where_there_is_one(preset, limit):
    app = costs(f"preset.{preset}", "tokens.100000", checkpoint="sentiment")
    text = " ".join(each.value for each in app.markdown)
    assert limit in text
    assert ("at most" in text) == bool(limit)


def times(app: AppTest) -> dict[str, list[int]]:
    """At which lengths each line of the last chart has a point."""
    lines: dict[str, list[int]] = {}
    for row in chart_rows(app, -1):
        lines.setdefault(row["line"], []).extend([row["place"]] if row["value"] is not None else [])
    return lines


def last_caption(app: AppTest) -> str:
    return app.main.caption[-1].value.replace("\\", "")


def test_the_record_is_there_at_once_and_a_measurement_on_a_click():
    app = costs()
    assert times(app).keys() == {"forward pass, recorded", "training step, recorded"}
    assert last_caption(app).endswith("milliseconds of processor time on one core.")
    button(app, "Measure here").click().run()
    assert not app.exception
    assert times(app)["training step, here"] == [tokens for tokens in LENGTHS if tokens <= LONGEST_LIVE]
    assert button(app, "Measure again")
    assert last_caption(app).endswith("Here: milliseconds on the clock, on one core."), "the tests have one thread"
    assert not live.measuring().locked()


def test_a_disturbed_measurement_is_called_so_on_the_page():
    app = costs()
    app.session_state[live.POINTS] = tuple(
        TimedLength(tokens=tokens, forward=forward, training=0.08, weight_bytes=tokens**2)
        for tokens, forward in ((256, 0.02), (512, 0.09))
    )
    app.run()
    assert any("disturbed this: measure again" in text.value for text in app.markdown)
    assert not any("512 tokens take" in text.value for text in app.markdown)


def test_only_one_visitor_measures_at_a_time(monkeypatch):
    monkeypatch.setattr(live, "ENDING", 0.1)
    app = costs()
    with live.measuring():
        button(app, "Measure here").click().run()
    assert [info.value for info in app.info] == [live.BUSY]
    assert button(app, "Measure here"), "to be tried again"
    assert not any("here" in line for line in times(app))


def test_the_picture_alone_has_no_controls():
    app = costs(view="picture")
    assert not app.exception
    assert not app.number_input
    assert len(app.get("vega_lite_chart")) == 1


def test_the_last_link_leads_to_learn():
    app = follow(costs(), "Learn: twelve questions about one sentence")
    assert not app.exception
    assert "Question 1 of" in app.main.caption[0].value


def test_a_checkpoint_that_cannot_be_read_leaves_the_page_whole(tmp_path, monkeypatch):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text("{<b>", encoding="utf-8")
    monkeypatch.setattr("model.checkpoint.CHECKPOINTS", tmp_path)
    app = costs("preset.checkpoint")
    assert not app.exception
    assert "63.1 million" in app.title[0].value
