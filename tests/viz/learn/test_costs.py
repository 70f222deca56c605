"""The words and charts of what a model costs: formulas that give their numbers, charts that hold them."""

import re
from dataclasses import replace
from typing import Any

import pytest

from model import Config
from model.measures.learn.sizes.costs import TimedLength
from model.measures.learn.sizes.model_sizes import MODEL_SIZES
from model.measures.learn.sizes.parameters import ParameterGroup, groups_of, parameter_count, parts_of
from tests import tiny
from tests.model.measures.learn.sizes.test_parameters import VARIANTS
from viz.charts.learn.recurrence.costs import memory_lines, parameter_bars, time_lines
from viz.text.learn import costs as words
from viz.theme import DARK, LIGHT, Theme

POINTS = tuple(TimedLength(tokens=n, forward=n / 1e4, training=n / 1e3, weight_bytes=n * n) for n in (16, 32, 64))


def rows(chart: Any) -> list[dict[str, Any]]:
    return chart.to_dict()["data"]["values"]


def computed(formula: str, symbols: dict[str, int]) -> int:
    """What a formula comes to, read as a person reads it."""
    arithmetic = formula.replace("²", "**2").replace("³", "**3").replace("·", "*").replace("×", "*")
    return eval(re.sub(r"[A-Za-z]\w*", lambda name: str(symbols[name[0]]), arithmetic))


@pytest.mark.parametrize("config", [make() for make in MODEL_SIZES.values()], ids=list(MODEL_SIZES))
def test_the_formula_under_a_bar_gives_its_number(config: Config):
    for group in groups_of(config):
        assert computed(words.formula(group), dict(group.parts[0].symbols)) == group.total


@pytest.mark.parametrize(("architecture", "changes"), VARIANTS)
def test_the_formula_of_every_part_of_every_variant_gives_its_number(architecture, changes):
    config = tiny.config(architecture, **changes)
    for part, row in zip(parts_of(config), words.part_rows(config), strict=True):
        each, together = (int(row[name].replace(",", "")) for name in ("each", "together"))
        assert computed(row["formula"], dict(part.symbols)) == part.each == each
        assert together == part.total
        assert all(symbol in words.SYMBOLS for shape in part.shapes for symbol in shape)


def group_named(config: Config, name: str) -> ParameterGroup:
    return next(group for group in groups_of(config) if words.group_name(group, config) == name)


def test_the_paper_is_counted_as_one_would_on_paper():
    config = Config.paper_base()
    assert words.formula(group_named(config, "Encoder self-attention")) == "6 × (4·d² + 4·d)"
    assert words.formula(group_named(config, "Decoder norms")) == "6 × 6·d"
    assert words.formula(group_named(config, "Word embeddings")) == "V·d"
    assert words.title("The paper's base model", config) == (
        "The paper's base model has 63.1 million parameters; 30\u00a0% are its word embeddings."
    )
    sentence = words.sentence(config, "base", typed=False)
    assert "feed-forward layers hold 40\u00a0%, its attention 30\u00a0%" in sentence
    assert "63,082,496" in sentence
    assert "65 million" in sentence
    assert "65 million" not in words.sentence(config, "base", typed=True)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({}, "“6 × (4·d² + 4·d)” means 6 layers, each with four matrices of d × d and four vectors of d."),
        ({"layers": 1}, "“4·d² + 4·d” means four matrices of d × d and four vectors of d."),
        ({"layers": 2, "projection_bias": False}, "“2 ×” means 2 layers."),
        ({"layers": 1, "projection_bias": False}, ""),
    ],
)
def test_the_formula_that_is_explained_stands_on_the_screen(changes, line):
    config = replace(Config.paper_base(), **changes)
    assert words.formula_line(config) == line
    written = [words.formula(group) for group in groups_of(config)]
    assert not line or any(re.findall("“(.*)”", line)[0] in formula for formula in written)


@pytest.mark.parametrize(("architecture", "changes"), VARIANTS)
def test_a_table_is_called_shared_where_the_model_has_fewer_than_uses(architecture, changes):
    config, model = tiny.config(architecture, **changes), tiny.transformer(architecture, **changes)
    uses = len(config.stacks) + (config.has_decoder or config.word_head)
    tables = [weight for weight in model.parameters() if weight.shape == (config.vocabulary, config.width)]
    assert bool(words.shared_table(config)) == (len(tables) < uses)


def test_a_shared_table_is_named_with_those_who_share_it():
    config = Config.paper_base()
    assert words.shared_table(config).startswith("Encoder, decoder and output layer use the same embedding table")
    assert words.shared_table(replace(config, tie_embeddings=False)).startswith("Encoder and decoder use")
    gpt2 = "The output layer reuses the embedding table, so it is counted once."
    assert words.shared_table(MODEL_SIZES["gpt2"]()) == gpt2
    assert words.shared_table(MODEL_SIZES["bert"]()) == ""


@pytest.mark.parametrize(("architecture", "changes"), VARIANTS)
def test_heads_are_called_free_where_half_as_many_leave_the_parameters_as_they_are(architecture, changes):
    config = tiny.config(architecture, **changes)
    fewer = replace(config, heads=config.heads // 2, decoder_heads=(config.decoder_heads or 0) // 2 or None)
    assert bool(words.heads_line(config)) == (parameter_count(fewer) == parameter_count(config))


def test_v_counts_tokens():
    assert "V = 37,000 (tokens in the vocabulary)" in words.symbols_line(Config.paper_base())


def test_the_title_of_gpt2_is_that_of_its_published_size():
    assert words.title("GPT-2 small", MODEL_SIZES["gpt2"]()) == (
        "GPT-2 small has 124.4 million parameters; 31\u00a0% are its word embeddings."
    )


def test_a_sentence_about_a_text_has_the_numbers_of_the_formulas():
    sentence = words.attention_sentence(Config.paper_base(), 512)
    assert sentence.startswith("Source and target are both this long. Each head")
    # 2 × 512 × (6 × 12·512² + 6 × 16·512² + 37,000·512) + 18 × 4·512³
    assert "74.2 billion operations, each a multiplication or an addition of two numbers; " in sentence
    assert "512 × 512 weights: 37.7 million in all, 151.0 MB" in sentence  # 18 attentions × 8 heads × 512² × 4 bytes

    assert "Source" not in words.attention_sentence(MODEL_SIZES["gpt2"](), 512)


@pytest.mark.parametrize(
    ("positions", "checkpoint", "sentence"),
    [
        ("sinusoidal", False, ""),  # the sinusoids go on for ever
        ("sinusoidal", True, "The configuration of the checkpoint allows at most 512 tokens."),
        ("rotary", False, ""),
        *(
            (
                "learned",
                checkpoint,
                "The model itself reads at most 512 tokens: its table of positions (n_max) has no vector for more.",
            )
            for checkpoint in (False, True)
        ),
    ],
)
def test_a_longest_text_is_said_of_models_that_have_one(positions, checkpoint, sentence):
    config = replace(Config.paper_base(), positions=positions)
    assert words.limit_sentence(config, 513, checkpoint=checkpoint) == sentence
    assert words.limit_sentence(config, 512, checkpoint=checkpoint) == ""
    assert ("n_max = 512" in words.symbols_line(config)) == ("n_max" in sentence)


def test_growth_is_said_of_the_two_longest_texts():
    assert "64 tokens take 2.0 times as long as 32" in words.growth_sentence(POINTS, live=True)
    assert "; the attention weights take 4 times the memory." in words.growth_sentence(POINTS, live=True)
    assert words.growth_sentence(POINTS[:1], live=True) == ""


@pytest.mark.parametrize(
    ("forward", "training", "clause"),
    [
        (7.2, 6.4, "a training step of 512 tokens took less time than the forward pass that it contains"),
        (7.2, 7.9, "a training step of 512 tokens took less time than one of 256"),
        (1.9, 9.0, "a forward pass of 512 tokens took less time than one of 256"),
    ],
)
def test_nothing_is_concluded_from_times_that_contradict_each_other(forward, training, clause):
    before = TimedLength(tokens=256, forward=2.0, training=8.0, weight_bytes=1)
    last = TimedLength(tokens=512, forward=forward, training=training, weight_bytes=4)
    assert words.growth_sentence([before, last], live=True) == (
        f"On this server, {clause}. Other work on the machine disturbed this: measure again."
    )


@pytest.mark.parametrize(
    ("count", "amount"),
    [(999, "999"), (12_288, "12,288"), (63_082_496, "63.1 million"), (74_200_000_000, "74.2 billion")],
)
def test_numbers_are_said_in_words(count, amount):
    assert words.amount(count) == amount


def test_memory_is_said_in_powers_of_a_thousand():
    assert [words.memory(count) for count in (12, 1500, 252_330_000)] == ["12 bytes", "1.5 kB", "252.3 MB"]


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_bars_hold_the_totals_with_their_words(theme: Theme):
    chart = parameter_bars(["a", "b"], ["V·d", "4·d²"], [7, 3], ["7 · 70 %", "3 · 30 %"], marked=[0], theme=theme)
    held = [(row["name"], row["formula"], row["total"], row["label"], row["marked"]) for row in rows(chart)]
    assert held == [("a", "V·d", 7, "7 · 70 %", True), ("b", "4·d²", 3, "3 · 30 %", False)]
    drawn = chart.to_dict()
    assert drawn["config"]["background"] == theme.background
    assert drawn["layer"][0]["encoding"]["x"]["scale"]["domain"] == [0, 7]


def test_bars_that_do_not_fit_together_are_refused():
    with pytest.raises(ValueError, match="2 names, 1 formulas"):
        parameter_bars(["a", "b"], ["x"], [1, 2], ["1", "2"])


def test_lines_of_time_hold_milliseconds_recorded_and_live():
    held = {(row["line"], row["place"]): row["value"] for row in rows(time_lines(POINTS, POINTS[:2]))}
    assert held["forward pass, recorded", 64] == pytest.approx(6.4)
    assert held["training step, here", 32] == pytest.approx(32.0)
    assert held["training step, here", 64] is None, "it was not measured here"
    assert {line for line, _ in held if "here" in line} == {"forward pass, here", "training step, here"}
    assert not any("here" in row["line"] for row in rows(time_lines(POINTS)))


def test_lines_of_memory_hold_megabytes():
    held = {
        (row["line"], row["place"]): row["value"] for row in rows(memory_lines([16, 32], [10**6, 4 * 10**6], 5 * 10**5))
    }
    assert held["attention weights", 32] == 4.0
    assert held["parameters", 16] == held["parameters", 32] == 0.5
