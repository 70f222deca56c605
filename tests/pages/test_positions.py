"""The page on positions, as without a browser: every number on it against one computed elsewhere."""

import base64
import json
import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import Edits, load_checkpoint
from model.positions import POSITIONS
from pages.parts.positions.settings import SECTIONS, PositionsSettings
from pages.parts.state.selection import EXAMPLES
from tests import tiny
from tests.model.measures.test_positions import by_the_paper
from tests.pages.test_every_page import APP, bar, opened, typed
from viz.text import position_sentences

PAGE = "positions.py"
SENTENCE = "The dog bit the man"
SCHEMES = ("sinusoidal", "learned", "rotary", "alibi", "relative")


def figure(app: AppTest, key: str) -> Any:
    """A picture on the page, as the browser gets it."""
    (chart,) = [element.proto for element in app.get("plotly_chart") if element.proto.id.endswith(f"-{key}")]
    return json.loads(chart.spec)


def array(sent: Any) -> np.ndarray:
    """Plotly's own form of an array."""
    if isinstance(sent, dict):
        shape = [int(size) for size in str(sent["shape"]).split(",")] if "shape" in sent else -1
        return np.frombuffer(base64.b64decode(sent["bdata"]), dtype=sent["dtype"]).reshape(shape)
    return np.array(sent, dtype=float)


def unfolded(**address: str) -> AppTest:
    """The page with all its sections open."""
    return opened(PAGE, sections=".".join(map(str, range(len(SECTIONS)))), **address)


def words(app: AppTest) -> str:
    return "\n".join(element.value for element in app.markdown)


def refusal(app: AppTest) -> str:
    assert not app.exception
    (error,) = app.error
    return error.value.replace("\\", "")


@pytest.fixture(scope="module")
def embedding():
    encoder = load_checkpoint("sentiment").trace(SENTENCE).encoder
    assert encoder is not None
    return encoder.embedding


def test_the_first_view_is_the_worked_example_with_every_picture(embedding):
    app = unfolded()
    assert bar(app)["text"] == SENTENCE
    parts = figure(app, "sum")
    for trace, expected in zip(parts["data"], (embedding.token, embedding.position, embedding.total), strict=True):
        assert np.array_equal(array(trace["z"]), expected.numpy())
    assert parts["layout"]["yaxis"]["ticktext"] == ["1 · the", "2 · dog", "3 · bit", "4 · the", "5 · man"]
    assert len(app.get("plotly_chart")) == 14


def test_the_first_picture_is_how_far_each_token_moves_when_two_are_swapped():
    sentiment: Any = load_checkpoint("sentiment")
    bars = figure(unfolded(), "orders")["data"]
    for bar_of, unpositioned in zip(bars, (frozenset(), frozenset({"encoder"})), strict=True):
        edits = Edits(unpositioned=unpositioned)
        first, second = (
            sentiment.trace(text, edits=edits).encoder.final.double().numpy()
            for text in (SENTENCE, "The man bit the dog")
        )
        moved = np.linalg.norm(first - second[[0, 4, 2, 3, 1]], axis=1) / np.linalg.norm(first, axis=1)
        assert np.allclose(array(bar_of["x"]), moved, atol=1e-5)


def test_the_sentence_above_says_how_far_positions_take_a_repeated_token_apart(embedding):
    vectors = embedding.total.double().numpy()
    page_text = words(unfolded())
    assert "stands at positions 0 and 3, counted from 0. Its two vectors are 0 apart before" in page_text
    assert f"before the positions are added, and {math.dist(*vectors[[0, 3]]):.4g} apart afterwards" in page_text


def test_the_heatmap_is_100_by_128_at_first_and_the_curves_are_its_columns():
    app = unfolded()
    table = by_the_paper(100, 128)
    assert np.allclose(array(figure(app, "heatmap")["data"][0]["z"]), table, atol=1e-7)
    for trace, dimension in zip(figure(app, "curves")["data"], (4, 5, 6, 7), strict=True):
        assert trace["name"] == f"dimension {dimension}"
        assert np.allclose(array(trace["y"]), table[:, dimension], atol=1e-12)


def test_another_length_width_and_dimensions_are_drawn():
    app = unfolded()
    app.number_input(key="length").set_value(7)
    app.number_input(key="width").set_value(5).run()
    app.multiselect(key="dimensions").set_value([4, 0]).run()
    assert not app.exception
    table = by_the_paper(7, 5)
    assert np.allclose(array(figure(app, "heatmap")["data"][0]["z"]), table, atol=1e-7)
    assert [trace["name"] for trace in figure(app, "curves")["data"]] == ["dimension 4", "dimension 0"]
    assert np.allclose(array(figure(app, "products")["data"][0]["z"]), table @ table.T, atol=1e-6)
    waves = [2 * math.pi * 10_000 ** (even / 5) for even in (0, 2, 4)]
    assert array(figure(app, "waves")["data"][0]["y"]).tolist() == pytest.approx(waves)


def test_no_dimension_chosen_is_said():
    app = unfolded()
    app.multiselect(key="dimensions").set_value([]).run()
    assert not app.exception
    assert "Choose at least one dimension to draw." in [info.value for info in app.info]
    assert "Choose at least one dimension to draw." in [info.value for info in unfolded(dimensions="").info]


def test_distances_are_sums_of_cosines():
    app = unfolded()
    for trace in figure(app, "distances")["data"]:
        expected = [sum(math.cos(d / 10_000 ** (pair / 64)) for pair in range(64)) for d in range(100)]
        assert array(trace["y"]).tolist() == pytest.approx(expected, abs=1e-9)
    assert "The product depends only on the distance" in words(app)


def test_the_checkpoints_own_table_is_what_its_trace_adds(embedding):
    app = unfolded()
    app.radio(key="table").set_value("own").run()
    heatmap = array(figure(app, "heatmap")["data"][0]["z"])
    assert heatmap.shape == (100, 128)
    assert np.array_equal(heatmap[:5], embedding.position.numpy())


def test_a_shift_is_written_out_as_a_matrix_that_takes_one_pair_to_the_other():
    app = unfolded()
    (matrix,) = [element.value for element in app.latex if "M = " in element.value]
    angle = 5 / 10_000 ** (4 / 128)
    for value in (math.cos(angle), math.sin(angle), -math.sin(angle)):
        assert f"{value:.6f}" in matrix
    later = 8 / 10_000 ** (4 / 128)
    numbers = f"{math.sin(later):.6f} and {math.cos(later):.6f}"
    assert numbers.startswith("-")
    assert f"At position 8 the table holds {numbers.replace('-', '−')}" in words(app)
    _, hand = figure(app, "rotation")["data"]
    assert (hand["x"][1], hand["y"][1]) == pytest.approx((math.sin(later), math.cos(later)))


def test_beyond_the_longest_text_new_numbers_are_counted():
    table = by_the_paper(1024, 128)
    low, high = table[:512].min(axis=0) - 0.01, table[:512].max(axis=0) + 0.01
    share = ((table < low) | (table > high)).mean(axis=1)
    app = unfolded()
    assert np.allclose(array(figure(app, "unseen")["data"][0]["y"]), share)
    assert f"At position 1,023, {100 * share[-1]:.0f}\u00a0% of the numbers" in words(app)


def test_five_schemes_stand_side_by_side():
    app = unfolded()
    app.number_input(key="of_head").set_value(3).run()
    drawn = {scheme: array(figure(app, scheme)["data"][0]["z"]) for scheme in SCHEMES}
    assert {matrix.shape for matrix in drawn.values()} == {(32, 32)}
    assert drawn["alibi"][20, 4] == -16 / 8
    table = by_the_paper(32, 128)
    assert np.allclose(drawn["sinusoidal"], table @ table.T / math.sqrt(128), atol=1e-5)
    for scheme in SCHEMES:
        assert np.allclose(array(figure(app, scheme)["data"][1]["y"]), drawn[scheme][20], atol=1e-6)
    app.toggle(key="causal").set_value(True).run()
    assert np.isnan(array(figure(app, "alibi")["data"][0]["z"])[4, 20])


@pytest.mark.parametrize(
    ("key", "value", "least"),
    [
        ("length", 99_999, 1),
        ("length", 0, 1),
        ("width", 5000, 1),
        ("compared", 100_000, 2),
        ("of_head", 9, 1),
        ("of_query", 32, 0),
        ("pair_of", 64, 0),
        ("shift", 1001, 0),
    ],
)
def test_a_number_out_of_bounds_that_a_browser_would_not_send_is_not_taken(key, value, least):
    app = unfolded()
    app.number_input(key=key).set_value(value).run()
    assert not app.exception
    assert app.number_input(key=key).value == least


def test_fewer_tokens_or_dimensions_take_the_query_and_the_pair_along():
    app = unfolded()
    app.number_input(key="compared").set_value(4).run()
    app.number_input(key="width").set_value(3).run()
    assert not app.exception
    assert app.number_input(key="of_query").value in range(4)
    assert app.number_input(key="pair_of").value == 0


@pytest.mark.parametrize(("length", "width"), [(1, 1), (2, 1), (1, 2), (5000, 1024)])
def test_the_smallest_and_the_largest_tables_are_drawn(length, width):
    app = unfolded()
    app.number_input(key="length").set_value(length)
    app.number_input(key="width").set_value(width).run()
    assert not app.exception
    assert not app.error


def test_an_empty_text_gets_one_sentence_and_the_rest_of_the_page_stands():
    app = typed(unfolded(), "   ")
    assert refusal(app)
    assert figure(app, "heatmap")
    assert bar(app)["text"] == "   "


def test_hostile_tokens_are_labels():
    app = typed(unfolded(), "<b>good</b> $x$ &amp;")
    assert not app.exception
    labels = figure(app, "sum")["layout"]["yaxis"]["ticktext"]
    assert not any(mark in label for label in labels for mark in "<>$")


# The address

SET = {
    "token": "3",
    "length": "7",
    "width": "9",
    "dimensions": "8.0",
    "pair_of": "1",
    "position": "12",
    "shift": "2",
    "compared": "5",
    "of_query": "4",
    "of_head": "2",
    "causal": "1",
}


def test_an_address_restores_everything_that_the_page_is_set_to(embedding):
    app = unfolded(**SET)
    assert not app.info
    assert np.allclose(array(figure(app, "heatmap")["data"][0]["z"]), by_the_paper(7, 9), atol=1e-7)
    assert [trace["name"] for trace in figure(app, "curves")["data"]] == ["dimension 8", "dimension 0"]
    assert [trace["name"] for trace in figure(app, "rotation")["data"]] == ["position 12", "position 14"]
    assert figure(app, "rotation")["data"][1]["x"][1] == pytest.approx(math.sin(14 / 10_000 ** (2 / 9)))
    drawn = array(figure(app, "alibi")["data"][0]["z"])
    assert drawn.shape == (5, 5)
    assert (drawn[4, 0], np.isnan(drawn[0, 4])) == (-4 / 8, True)
    assert np.array_equal(app.dataframe[0].value["sum"], embedding.total[3].numpy())
    assert {name: app.query_params[name] for name in SET} == SET


def test_every_control_is_in_the_address():
    app = unfolded()
    for name in ("length", "width", "pair_of", "position", "shift", "of_query", "compared", "of_head"):
        app.number_input(key=name).set_value(int(SET[name]) + (name == "of_head")).run()
    app.multiselect(key="dimensions").set_value([8, 0]).run()
    app.toggle(key="causal").set_value(True).run()
    app.selectbox(key="token").set_value(3).run()
    assert {name: app.query_params[name] for name in SET} == SET
    app.radio(key="table").set_value("own").run()
    assert app.query_params["table"] == "own"


def test_the_view_of_an_address_is_kept_over_another_text_and_another_page():
    app = typed(unfolded(**SET), "A dog saw a cat.").switch_page("pages/explore.py").run()
    app = app.switch_page("pages/positions.py").run().run()
    assert app.number_input(key="shift").value == 2
    assert {name: app.query_params[name] for name in SET if name != "token"} == {
        name: value for name, value in SET.items() if name != "token"
    }
    assert "token" not in app.query_params  # it was of the text before


def test_in_a_decoder_alone_later_keys_can_be_seen_by_an_address():
    app = unfolded(checkpoint="stories", causal="0")
    assert not np.isnan(array(figure(app, "alibi")["data"][0]["z"])).any()
    assert app.query_params["causal"] == "0"
    assert np.isnan(array(figure(unfolded(checkpoint="stories"), "alibi")["data"][0]["z"])[0, 1])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("length", "0"),
        ("length", "5001"),
        ("length", "1e3"),
        ("width", "1025"),
        ("width", "-1"),
        ("table", "mine"),
        ("stack", "decoder"),
        ("stack", "head"),
        ("token", "5"),
        ("token", "99999"),
        ("dimensions", "128"),
        ("dimensions", "4.4"),
        ("dimensions", "4,5"),
        ("dimensions", ".".join(map(str, range(13)))),
        ("pair_of", "64"),
        ("shift", "1001"),
        ("position", "１"),
        ("compared", "1"),
        ("of_query", "32"),
        ("of_head", "8"),
        ("causal", "yes"),
    ],
)
def test_what_an_address_cannot_mean_is_said_and_the_page_is_as_it_opens(name, value):
    app = unfolded(**{name: value})
    assert not app.exception
    assert [info.value for info in app.info] == [f"The address gives no usable value for {name}; the default is shown."]
    assert figure(app, "heatmap")["layout"] == figure(unfolded(), "heatmap")["layout"]
    assert name not in app.query_params or (name, app.query_params[name]) == ("dimensions", "0")


def test_what_is_put_back_because_nothing_else_fits_is_not_called_unusable():
    app = unfolded(width="3", compared="4")
    assert not app.info
    assert (app.number_input(key="pair_of").value, app.number_input(key="of_query").value) == (0, 3)


# The shared selection


def test_the_example_of_this_page_leaves_the_text_of_the_others():
    app = unfolded().switch_page("pages/explore.py").run()
    assert bar(app)["text"] == EXAMPLES[0]
    assert "text" not in app.query_params


def test_a_text_chosen_anywhere_is_kept_here_and_from_here():
    # Once more, because AppTest leaves out app.py, where one page's controls are told from another's.
    app = typed(opened(), "A good film.").switch_page("pages/positions.py").run().run()
    assert bar(app)["text"] == "A good film."
    app = typed(app, "Not a good one.").switch_page("pages/explore.py").run().run()
    assert bar(app)["text"] == "Not a good one."
    assert bar(unfolded(text="From the address.").run())["text"] == "From the address."


def test_the_show_button_takes_the_example_which_then_goes_along_to_other_pages():
    app = opened(PAGE)
    typed(app, SENTENCE)
    assert not app.query_params, "this page shows it anyway"
    app = app.switch_page("pages/explore.py").run().run()
    assert bar(app)["text"] == app.query_params["text"] == SENTENCE


# Other checkpoints


@pytest.mark.parametrize(
    ("name", "added", "phrase"),
    [
        ("gpt2", True, "It adds vectors that training found: choose “this checkpoint” to draw them."),
        ("gpt2", True, "a vector that training found for the position to every"),
        ("roberta", True, "for the place among the non-padding tokens"),
        ("llama", False, "this checkpoint does not use it. It adds no vectors; it rotates queries and keys"),
        ("llama", False, "rotates every query and key by an angle"),
        ("t5", False, "adds to every score a number that training found"),
        ("bart", True, "a vector that training found for the position to every"),
    ],
)
def test_every_kind_of_scheme_is_put_in_words_with_its_own_numbers(name, added, phrase, app_folders):
    app = opened(PAGE, sections="0.4", checkpoint=name, text="the dog bit the man .")
    assert not app.exception
    assert not app.error
    assert phrase in words(app)
    trace = load_checkpoint(app_folders / name, device="cpu").trace("the dog bit the man .")
    stack = trace.encoder or trace.decoder
    assert stack is not None
    embedding: Any = stack.embedding
    parts = [array(part["z"]) for part in figure(app, "sum")["data"]]
    assert np.array_equal(parts[0], embedding.token.numpy())
    assert np.array_equal(parts[-1], embedding.total.numpy())
    assert any("adds no position vectors" in info.value for info in app.info) == (not added)
    assert ("the vector that is added for its position, and the sum" in words(app)) == added
    headings = [heading.value for heading in app.subheader]
    assert ("Token vector plus position vector" in headings) == added
    assert (len(app.radio(key="table").options) == 2) == added
    if added:
        app.radio(key="table").set_value("own").run()
        heatmap = array(figure(app, "heatmap")["data"][0]["z"])
        assert np.array_equal(heatmap[: len(stack.ids)], embedding.position.numpy())


def test_a_table_that_a_checkpoint_lacks_is_put_back(app_folders):
    app = opened(PAGE, sections="0.1.2.3.4.5", checkpoint="llama", text="the dog bit the man .", table="own")
    assert not app.exception
    assert not app.error
    assert app.radio(key="table").value == "formula"
    assert "The address gives no usable value for table; the default is shown." in [info.value for info in app.info]


def test_a_table_that_training_found_is_called_no_wave():
    app = unfolded(checkpoint="stories")
    assert "sine and the cosine of the shortest wave" not in words(app)
    assert "The formula is that of the paper; this checkpoint does not use it." in words(app)
    assert len(app.latex) > 1
    app.radio(key="table").set_value("own").run()
    assert "training found them" in words(app)
    assert any("vectors that training found are not waves" in info.value for info in app.info)
    assert app.number_input(key="width").value == array(figure(app, "heatmap")["data"][0]["z"]).shape[1] == 256
    app.radio(key="table").set_value("formula").run()
    assert app.number_input(key="width").value == 128
    assert "training found them" not in words(app)


def test_plotly_stays_off_the_way_to_the_first_page():
    """The server's own import of plotly.graph_objects is Streamlit's."""
    script = (
        "import sys\nfrom streamlit.testing.v1 import AppTest\n"
        f"app = AppTest.from_file({str(APP)!r}, default_timeout=120).run()\n"
        "assert not app.exception\nassert not app.get('plotly_chart')\n"
        "assert 'plotly.subplots' not in sys.modules\nassert 'viz.charts.position_charts' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=300, cwd=APP.parent)


def test_every_scheme_has_words_beside_the_formula_and_those_of_no_other():
    assert position_sentences.BESIDE_FORMULA.keys() == POSITIONS.keys() == position_sentences.SCHEMES.keys()
    for scheme, sentence in position_sentences.BESIDE_FORMULA.items():
        assert ("adds the vectors of this formula" in sentence) == scheme.startswith("sinusoidal")
        assert ("training found" in sentence) == (scheme in ("learned", "counted", "relative"))
        for architecture in ("encoder", "decoder"):
            stack: Any = getattr(tiny.checkpoint(architecture, positions=scheme).trace(tiny.TEXT), architecture)
            assert (stack.embedding.position is not None) == (scheme in position_sentences.ADDS)


@pytest.mark.parametrize("text", ["a", SENTENCE])
def test_how_the_order_is_known_stands_once(text):
    page_text = words(unfolded(text=text))
    assert page_text.count("This checkpoint adds a fixed vector of sines and cosines") == 1


# Sections


def charts(app: AppTest) -> set[str]:
    assert not app.exception
    return {element.proto.id.rsplit("-", 1)[1] for element in app.get("plotly_chart")}


def test_what_is_folded_is_not_made():
    assert charts(opened(PAGE)) == {"orders", "sum"}
    assert charts(opened(PAGE, sections="2")) == {"orders", "sum", "waves"}
    assert charts(opened(PAGE, sections="")) == {"orders", "sum"}


@pytest.mark.parametrize(
    ("address", "drawn"),
    [({"length": "7"}, {"curves", "heatmap"}), ({"shift": "2"}, {"rotation"}), ({"compared": "8"}, set(SCHEMES))],
)
def test_an_address_that_names_a_setting_unfolds_what_shows_it(address, drawn):
    assert charts(opened(PAGE, **address)) == {"orders", "sum"} | drawn
    assert charts(opened(PAGE, sections="", **address)) == {"orders", "sum"}


def test_a_section_that_is_turned_over_keeps_the_others_as_they_are():
    settings = PositionsSettings(length=7)
    assert settings.unfolded("table")
    assert settings.with_fold("waves") == (0, 2)
    assert settings.with_fold("table") == ()
    assert PositionsSettings(sections=(0, 5)).with_fold("schemes") == (0,)
