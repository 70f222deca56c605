"""What the page Break the formula shows beside its edits: each number against a computation of its own."""

import json
import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from model import Edits, HeadSite, load_checkpoint
from model.measures.experiments.gradient_depth import Fresh, gradient_norms
from model.measures.experiments.score_spread import WIDTHS, spread_of_products
from pages.parts.ablations.attention_by_hand import EXAMPLE, TypedCells, typed_of
from pages.parts.ablations.experiments import EXPERIMENTS
from pages.parts.ablations.subjects import ALL, GROUPS, SUBJECTS
from pages.parts.ablations.untrained_stacks import STACKS
from pages.parts.ablations.word_in_two_texts import FIRST, SECOND, Two, two_of
from pages.parts.state.selection import EXAMPLES
from tests.pages.test_break import compared, measured, opened_at, short_bart, values
from tests.pages.test_every_page import component, opened
from tests.pages.test_families import TEXT

__all__ = ["short_bart"]  # fixtures

NOTICE = "The address gives no usable value for setting; the default is shown."
HOSTILE = [
    "<b>",
    "[",
    "[[[[",
    '["a"]',
    "[1,2,3]",
    "-1",
    "1" * 1999,
    "[" * 1900,
    '[[["1"]],[["1"]],[["1"]],["1"]]',
    "{}",
    "null",
]


@pytest.fixture(scope="module")
def checkpoint():
    return load_checkpoint("sentiment")


@pytest.fixture(scope="module")
def trace(checkpoint) -> Any:
    return checkpoint.trace(EXAMPLES[0])


def by_line(app, place: int, field: str = "value") -> dict[str, list]:
    lines: dict[str, list] = {}
    for row in values(app, place):
        lines.setdefault(row["line"], []).append(row[field])
    return lines


def table(app) -> Any:
    return app.dataframe[0].value


def test_every_experiment_stands_in_one_group():
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(ALL)


@pytest.mark.parametrize("folder", ["gpt2", "short", "llama", "t5"])
def test_every_subject_opens_on_other_architectures(folder, short_bart, app_folders):
    target = {} if folder != "t5" else {"text": "a"}
    for name in SUBJECTS if folder != "t5" else ("heads", "split"):
        app = opened_at(name, **{"checkpoint": folder, "text": TEXT} | target)
        assert app.subheader[0].value == SUBJECTS[name].name
        refused = folder in ("llama", "t5", "short") and name == "heads"
        assert len(app.info) == refused
        assert bool(app.get("vega_lite_chart") or compared(app) or steps(app)) != refused


@pytest.mark.parametrize(
    ("name", "setting"),
    [*((name, HOSTILE[0]) for name in SUBJECTS), *((name, text) for name in ("word", "bench") for text in HOSTILE[1:])],
)
def test_a_hostile_setting_gives_the_default_and_one_sentence(name, setting):
    app = opened_at(name, setting=setting)
    assert [info.value for info in app.info] == [NOTICE]
    assert app.get("vega_lite_chart") or compared(app) or steps(app)


def test_the_gradients_on_the_screen_are_those_of_the_text(trace):
    app = opened_at("depth", setting="4")
    ids = trace.encoder.ids.tolist()
    lines = by_line(app, 0)
    for name, (order, residuals) in STACKS.items():
        expected = gradient_norms(ids, Fresh(norm_order=order, layers=4, residuals=residuals))
        assert lines[name] == pytest.approx(expected.tolist(), rel=1e-5)
    assert f"pre-norm {lines['pre-norm'][0]:.2f} in the first layer" in measured(app)
    app.selectbox(key="stack_depth").set_value(2).run()
    assert app.query_params["setting"] == "2"
    assert len(by_line(app, 0)["post-norm"]) == 2


def test_a_text_of_one_token_has_no_next_token_to_predict():
    app = opened_at("depth", text="good")
    assert ["no next token" in info.value for info in app.info] == [True]


def test_the_spread_stands_beside_its_theory_and_the_products_of_the_text(trace):
    app = opened_at("spread", layer="2")
    lines, largest = by_line(app, 0), by_line(app, 1)
    spreads = [spread_of_products(width) for width in WIDTHS]
    assert lines["√d_k, theory"] == pytest.approx([math.sqrt(width) for width in WIDTHS])
    assert lines["q·k, measured"] == pytest.approx([spread.deviation for spread in spreads])
    assert largest["softmax(q·k)"] == pytest.approx([spread.largest for spread in spreads])
    assert table(app)["entropy of softmax(q·k), bits"].tolist() == [spread.entropy for spread in spreads]
    products = trace.encoder.blocks[2].self_attention.products.double()
    assert f"spread by {float(products.std(correction=0)):.2f}" in measured(app)


def test_a_words_distances_are_those_of_its_two_vectors(checkpoint):
    first, second = (checkpoint.trace(text).encoder for text in (FIRST, SECOND))
    a, b = first.tokens.index("bank"), second.tokens.index("bank")
    app, expected, cosines = opened_at("word"), [], []
    steps = [
        (s.embedding.token[p], s.embedding.total[p], *(block.stream_out[p] for block in s.blocks))
        for s, p in ((first, a), (second, b))
    ]
    for x, y in zip(*steps, strict=True):
        lengths = (x.double().norm() + y.double().norm()) / 2
        expected.append(float((x.double() - y.double()).norm() / lengths))
        cosines.append(float(torch.nn.functional.cosine_similarity(x.double(), y.double(), dim=0)))
    assert [row["value"] for row in values(app, 0)] == pytest.approx(expected, abs=1e-6)
    assert [row["value"] for row in values(app, 1)] == pytest.approx(cosines, abs=1e-6)
    assert f"After the last layer it is {expected[-1]:.2f}," in measured(app)


def test_other_texts_and_another_word_go_into_the_address():
    app = opened_at("word")
    app.text_input(key="first_text").set_value("The bank of the river was wet.")
    app.button(key="FormSubmitter:two_texts-Compare").click().run()
    assert json.loads(app.query_params["setting"]) == ["The bank of the river was wet.", SECOND, "bank"]
    app.selectbox(key="shared_word").select("the").run()
    assert json.loads(app.query_params["setting"])[2] == "the"
    assert opened_at("word", setting=app.query_params["setting"]).selectbox(key="shared_word").value == "the"
    app.text_input(key="second_text").set_value("Nothing shared")
    app.button(key="FormSubmitter:two_texts-Compare").click().run()
    assert ["no word in common" in info.value for info in app.info] == [True]


def test_one_head_compares_all_coordinates_at_once(trace, checkpoint):
    app = opened_at("heads")
    attention = trace.encoder.blocks[0].self_attention
    scores = attention.products.double().sum(dim=0) / math.sqrt(128)
    one = scores.softmax(dim=-1).numpy()
    many = attention.weights.double().numpy()
    assert np.allclose(compared(app)["before"], many.mean(axis=0), rtol=0, atol=1e-6)
    assert np.allclose(compared(app)["after"], one, rtol=0, atol=1e-5)
    frame = table(app)
    assert frame["heads"].tolist() == [1, 2, 4, 8]
    assert frame["d_k"].tolist() == [128, 64, 32, 16]
    kinds = [len({int(head[query].argmax()) for head in many}) for query in range(len(one))]
    assert frame["different favourites"].tolist()[::3] == [1, pytest.approx(np.mean(kinds))]
    assert frame["largest weight"][0] == pytest.approx(one.max(axis=-1).mean(), abs=1e-5)
    label, probability = max(checkpoint.probabilities(trace).items(), key=lambda item: item[1])
    assert frame["Prediction"][3] == f"{label} {100 * probability:.1f}\u00a0%"
    app.radio(key="heads_count").set_value(4).run()
    assert app.query_params["setting"] == "4"


def test_the_width_is_cut_where_the_model_cuts_it(trace, checkpoint):
    app = opened_at("split", layer="1", setting="3")
    attention = trace.encoder.blocks[1].self_attention
    projection = checkpoint.model.encoder.blocks[1].self_attention.query
    with torch.no_grad():
        joined = projection(attention.input[3])
    for place in (0, 1):
        assert [cell["number"] for cell in values(app, place)] == pytest.approx(joined.tolist(), abs=1e-5)
    assert [cell["head"] for cell in values(app, 1)] == [str(1 + at // 16) for at in range(128)]


def test_the_leak_of_padding_is_that_of_a_longer_text(trace, checkpoint):
    app = opened_at("padding", setting="3")
    ids = trace.encoder.ids.tolist()
    longer: Any = checkpoint.trace_ids([*ids, *[checkpoint.config.pad_id] * 3])
    shares = [float(b.self_attention.weights[:, : len(ids), len(ids) :].sum(-1).mean()) for b in longer.encoder.blocks]
    lines = by_line(app, 0)
    assert lines["without the mask"] == pytest.approx(shares, abs=1e-5)
    assert lines["with the mask"] == [0.0] * 4
    moved = float((longer.encoder.final[: len(ids)] - trace.encoder.final).abs().max())
    frame = table(app)
    assert float(frame["largest difference"][2]) == pytest.approx(moved, rel=0.05)
    assert float(frame["largest difference"][1]) <= 1e-5
    for place, run in ((0, trace), (1, trace), (2, longer)):
        label, probability = max(checkpoint.probabilities(run).items(), key=lambda item: item[1])
        assert frame["prediction"][place] == f"{label} {100 * probability:.1f}\u00a0%"


def test_a_causal_mask_hides_padding_and_the_page_says_so(app_folders):
    assert "change nothing here" in measured(opened_at("padding", checkpoint="gpt2", text=TEXT))


# By hand


def with_cell(text: str) -> str:
    """The example, with another text in the first cell of the queries."""
    first, *others = EXAMPLE.matrices
    return TypedCells(matrices=(((text, first[0][1]), *first[1:]), *others), mask=EXAMPLE.mask).to_setting()  # type: ignore[arg-type]


def test_the_bench_shows_the_steps_of_plain_loops():
    app = opened_at("bench", setting=with_cell("-0.5"))
    query, key, value = ([list(map(float, row)) for row in matrix] for matrix in EXAMPLE.matrices)
    query[0][0] = -0.5
    products = [[sum(a * b for a, b in zip(q, k, strict=True)) for k in key] for q in query]
    powers = [
        [math.exp(product / math.sqrt(2)) if tick == "1" else 0 for product, tick in zip(row, ticks, strict=True)]
        for row, ticks in zip(products, EXAMPLE.mask, strict=True)
    ]
    weights = [[power / sum(row) for power in row] for row in powers]
    context = [[sum(w * v[at] for w, v in zip(row, value, strict=True)) for at in (0, 1)] for row in weights]
    for place, expected in ((0, products), (3, weights), (4, context)):
        assert steps(app)[place] == pytest.approx(np.ravel(expected), abs=1e-12)
    masked = [number is None for number in steps(app)[2]]
    assert masked == [tick == "0" for row in EXAMPLE.mask for tick in row]


def steps(app) -> list[list]:
    """The numbers of every matrix by hand; none where they cannot be computed."""
    proto = component(app, "headlight_tables")
    tables = json.loads(proto.json)["matrices"] if proto else []
    return [[cell["number"] for row in table["rows"] for cell in row["cells"]] for table in tables]


@pytest.mark.parametrize("cell", ["", "nan", "inf", "-inf", "1e999", "abc", "1,5", "<b>x</b>", "$x$", "2e6", "１e"])
def test_a_hostile_cell_gets_one_plain_sentence_and_the_tables_stay(cell):
    app = opened_bench(with_cell(cell))
    (error,) = app.error
    assert error.value.startswith("Q, row 1, column 1 ")
    assert "\n" not in error.value
    assert not steps(app)


def opened_bench(setting: str) -> Any:
    app = opened("break.py", experiment="bench", setting=setting)
    assert not app.exception
    return app


def test_fewer_tokens_are_cut_off_and_more_start_as_0(checkpoint):
    app = opened_at("bench")
    app.radio(key="bench_tokens").set_value(3).run()
    three = typed_of(app.query_params["setting"])
    assert three.matrices == tuple(matrix[:3] for matrix in EXAMPLE.matrices)
    assert three.mask == tuple(row[:3] for row in EXAMPLE.mask[:3])
    assert len(steps(app)[3]) == 9
    app.radio(key="bench_tokens").set_value(4).run()
    four = typed_of(app.query_params["setting"])
    assert four.matrices[2][3] == ("0", "0")
    assert four.mask[3] == ("1", "1", "1", "1")
    app.button(key="start_over").click().run()
    assert "setting" not in app.query_params


def test_the_settings_round_trip():
    assert typed_of(with_cell("x")).matrices[0][0][0] == "x"
    two = Two("a “b” | ; , b", "b", "b")
    assert two_of(two.to_setting()) == two


# Several edits at once


def test_a_broken_part_can_be_kept_while_another_is_broken(checkpoint):
    app = opened_at("positions")
    app.button(key="keep").click().run()
    assert app.query_params["edits"] == "unplace_e"
    app.radio(key="experiment").set_value("scale").run()
    assert not app.exception
    texts = [text.value for text in app.markdown]
    assert texts[texts.index("**Kept edits**, also in effect:") + 1] == "no positions"
    both = Edits(unpositioned=frozenset({"encoder"}), scale=1.0)
    weights = checkpoint.trace(EXAMPLES[0], edits=both).encoder.blocks[0].self_attention.weights
    assert np.allclose(compared(app)["after"], weights.double().mean(dim=0).numpy(), rtol=0, atol=1e-6)
    app.button(key="mend_0").click().run()
    assert "edits" not in app.query_params


def test_of_several_kept_parts_each_can_be_mended_alone():
    kept = Edits(muted=frozenset({HeadSite("encoder", 0, 1), HeadSite("encoder", 2, 3)}), scale=1.0)
    app = opened_at("positions", edits=kept.to_text())
    parts = {text.value for text in app.markdown if "muted in" in text.value or "q·k ×" in text.value}
    muted = {"head 2 muted in layer 1's attention (encoder)", "head 4 muted in layer 3's attention (encoder)"}
    assert parts == {"q·k × 1 in place of the model's scale", *muted}
    app.button(key="mend_1").click().run()
    assert Edits.from_text(app.query_params["edits"]) == replace(kept, muted=frozenset({HeadSite("encoder", 2, 3)}))
    app.button(key="mend").click().run()
    assert "edits" not in app.query_params


def test_a_hidden_token_is_named_and_can_be_shown_again():
    app = opened_at("scale", edits="hide_e2_e4")
    texts = [text.value for text in app.markdown]
    assert [text for text in texts if text.startswith("no head may look at token ")] == [
        "no head may look at token 3 (encoder)",
        "no head may look at token 5 (encoder)",
    ]
    app.button(key="mend_0").click().run()
    assert app.query_params["edits"] == "hide_e4"


@pytest.mark.parametrize("name", [name for name, experiment in EXPERIMENTS.items() if not experiment.on_head])
def test_no_sentence_says_what_is_no_number_where_every_token_is_hidden(name):
    app = opened_at(name, text="I loved it", edits="hide_e0_e1_e2")
    assert not app.exception
    assert not [text.value for text in app.markdown if re.search(r"\bnan\b", text.value)]


def test_what_is_kept_and_has_no_place_in_a_shorter_text_can_still_be_mended():
    app = opened("break.py", text="Good film.", edits="hide_e14")
    (error,) = app.error
    assert "has no key 14 here" in error.value.replace("\\", "")
    app.button(key="mend_0").click().run()
    assert not app.error
    assert "edits" not in app.query_params


def test_hostile_edits_in_the_address_break_nothing():
    for edits in ("<b>", "mute_e9", "scale_nan", "scale_1~scale_2", "~" * 1500):
        app = opened(edits=edits)
        assert [info.value for info in app.info] == [NOTICE.replace("setting", "edits")]
        app.switch_page("pages/break.py").run()
        assert not app.exception
        assert app.query_params == {}
    app = opened_at("scale", edits="mute_e90.3")
    assert ["This experiment does not apply to this checkpoint" in info.value for info in app.info] == [True]


def test_edits_that_contradict_each_other_are_one_plain_sentence():
    app = opened("break.py", experiment="shuffle", edits="unplace_e")
    assert not app.exception
    (error,) = app.error
    assert "positions" in error.value


def test_an_experiment_without_a_place_offers_one_that_has(checkpoint):
    app = opened_at("unmask")
    app.button(key="instead").click().run()
    assert app.query_params["experiment"] == "causal"
    assert app.get("vega_lite_chart")


def test_a_mask_is_taken_from_the_attention_that_has_one(short_bart, app_folders):
    app = opened_at("unmask", checkpoint="short", text=TEXT)
    assert "This attention keeps its mask" in measured(app)
    app.radio(key="experiment").set_value("scale").run()
    app.radio(key="experiment").set_value("unmask").run()
    assert app.query_params["attention"] == "decoder"
    after = np.array(compared(app)["after"])
    assert after[np.triu_indices_from(after, 1)].min() > 0, "every token sees those after it"
    assert "of a query's weight before" in measured(app)
