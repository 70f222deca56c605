"""Figures, tables and files hold the numbers and tokens they were given; sentences say what the numbers say."""

import json
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model import available_checkpoints, load_checkpoint
from viz.charts.learning_curve import accuracy_curve, loss_curve, read_curve
from viz.text import card_tables, weight_sentences
from viz.text.token_table import token_table
from viz.theme import DARK, LIGHT, Theme, colour_at, colour_scale, difference_scale, theme_of
from viz.tokens import counted, list_of, markdown_text, percent, position_name, visible

ROOT = Path(__file__).parents[3]
HARD_TOKENS = ["the", "the", "1", "2", "2020-01-01", "😀", "<b>", "&amp;", "$x$", "שלום", "\u200b", "##ly", "=1+1"]
THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])


def random_weights(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).dirichlet(np.ones(shape[-1]), size=shape[:-1]).astype(np.float32)


# Colours


def luminance(colour: str) -> float:
    """Relative luminance, WCAG 2.2."""
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@THEMES
@pytest.mark.parametrize("name", ["blue", "orange", "grey"])
def test_every_scale_begins_at_the_background_and_only_leaves_it(theme: Theme, name):
    scale = theme.scales[name]
    distances = [contrast(colour, theme.background) for colour in scale]
    assert scale[0] == theme.background
    assert distances == sorted(distances)
    assert distances[-1] > 12


# Machado, Oliveira and Fernandes 2009, "A Physiologically-based Model for Simulation of Color Vision Deficiency",
# severity 1, for linear RGB.
DEFICIENCIES: dict[str, list[list[float]]] = {
    "none": np.eye(3).tolist(),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
# Linear RGB to OKLab, https://bottosson.github.io/posts/oklab.
TO_CONES = [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566]]
TO_CONES += [[0.0883024619, 0.2817188376, 0.6299787005]]
TO_LAB = [[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099]]
TO_LAB += [[0.0259040371, 0.7827717662, -0.8086757660]]


def seen(colour: str, deficiency: str = "none") -> np.ndarray:
    """OKLab's lightness and two axes of hue, as somebody with the deficiency sees the colour."""
    channels = np.array([int(colour[start : start + 2], 16) for start in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return TO_LAB @ np.cbrt(TO_CONES @ np.clip(DEFICIENCIES[deficiency] @ linear, 0, 1))


@THEMES
@pytest.mark.parametrize("side", ["above", "below"])
@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_the_lightness_of_signed_numbers_only_leaves_the_background(theme: Theme, side, deficiency):
    lightness = [seen(colour, deficiency)[0] for colour in getattr(theme, side)]
    steps = np.diff(lightness) * (1 if theme is DARK else -1)
    assert getattr(theme, side)[0] == theme.background
    assert steps.min() > 0.03
    assert steps.max() < 0.09, "no step stands out"


@THEMES
@pytest.mark.parametrize(("side", "hue"), [("above", 257), ("below", 50)])
def test_signed_numbers_end_in_saturated_blue_and_orange(theme: Theme, side, hue):
    lightness, *axes = seen(getattr(theme, side)[-1])
    assert 0.5 < lightness < 0.8, "neither near black nor near white"
    assert np.hypot(*axes) > 0.15
    assert np.degrees(np.arctan2(*axes[::-1])) % 360 == pytest.approx(hue, abs=8)
    assert contrast(getattr(theme, side)[-1], theme.background) > 3


@THEMES
@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_the_two_signs_are_told_apart_at_every_strength(theme: Theme, deficiency):
    pairs = zip(theme.above, theme.below, strict=True)
    apart = [np.linalg.norm(seen(one, deficiency) - seen(other, deficiency)) for one, other in pairs]
    assert apart == sorted(apart)
    assert apart[2] > 0.08, "a quarter of the way"
    assert apart[-1] > 0.25


@THEMES
def test_a_colour_between_two_stops_is_mixed_of_them(theme: Theme):
    stops = difference_scale(theme)
    assert [colour_at(stops, place) for place, _ in stops] == [colour for _, colour in stops]
    assert (colour_at(stops, -2.0), colour_at(stops, 2.0)) == (theme.below[-1], theme.above[-1])
    assert colour_at([(0.0, "#000000"), (2.0, "#ff8040")], 0.5) == "#402010"


@THEMES
def test_text_and_lines_stand_out_from_the_background(theme: Theme):
    for colour in (theme.text, theme.quiet, theme.accent, theme.second):
        assert contrast(colour, theme.background) >= 4.5


@THEMES
def test_the_colours_of_heads_are_seen_on_the_background_and_are_all_different(theme: Theme):
    assert len(set(theme.heads)) == 12
    assert min(contrast(colour, theme.background) for colour in theme.heads) >= 3


@THEMES
def test_the_canvases_have_the_colours_of_the_page(theme: Theme):
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())
    page = config["theme"]["dark" if theme is DARK else "light"]
    assert (theme.background, theme.surface, theme.text) == (
        page["backgroundColor"],
        page["secondaryBackgroundColor"],
        page["textColor"],
    )


def test_a_browser_that_has_not_told_its_theme_gets_the_light_one():
    assert (theme_of(None), theme_of("light"), theme_of("dark")) == (LIGHT, LIGHT, DARK)


def test_the_stops_of_a_scale_run_from_0_to_1():
    stops = [stop for stop, _ in colour_scale(LIGHT.weights)]
    assert (stops[0], stops[-1]) == (0, 1)
    assert stops == sorted(stops)


# Tokens in print


@pytest.mark.parametrize(
    ("token", "printed"),
    [
        ("film", "film"),
        ("", "(empty)"),
        (" film", "␣film"),
        ("[UNK] é", "[UNK] é"),
        ("\n\n", "↵↵"),
        ("\u200b", "U+200B"),
        ("\x00", "U+0000"),
        ("\u202eabc", "U+202Eabc"),
        ("\u0301", "◌\u0301"),
        ("👩\u200d👧", "👩\u200d👧"),
        ("שלום", "\u2068שלום\u2069"),
        ("x" * 30, "x" * 23 + "…"),
    ],
)
def test_what_is_invisible_in_a_token_is_named(token, printed):
    assert visible(token) == printed


@given(st.text(max_size=40))
def test_whatever_a_token_holds_its_label_holds_no_control_character(token):
    assert not re.search(r"[\x00-\x1f\u200b\u202e]", visible(token))


@given(st.text(max_size=60))
def test_escaped_markdown_keeps_the_text_and_no_bare_punctuation(text):
    escaped = markdown_text(text)
    lines = "".join(one if one == "\xa0" or not one.isspace() else " " for one in text)
    assert re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", escaped) == " ".join(filter(None, lines.split(" ")))
    assert not re.search(r"(?<!\\)[*_`$<>\[\]:#]", escaped.replace("\\\\", ""))


def test_the_screen_counts_from_1():
    assert position_name(4, "slow") == "5 · slow"
    assert counted(0) == "1"
    assert (list_of((0,)), list_of((0, 2)), list_of((0, 2, 4))) == ("1", "1 and 3", "1, 3 and 5")


def test_percentages_are_rounded_for_sentences():
    assert (percent(0.714), percent(0.034), percent(0.5, 1), percent(1.0)) == (
        "71\u00a0%",
        "3.4\u00a0%",
        "50.0\u00a0%",
        "100\u00a0%",
    )


def test_what_is_little_is_not_said_to_be_nothing_nor_much_to_be_all():
    assert (percent(0.0), percent(1e-9), percent(0.0004, 2), percent(0.0006)) == (
        "0.0\u00a0%",
        "<\u00a00.1\u00a0%",
        "0.04\u00a0%",
        "0.1\u00a0%",
    )
    assert (
        percent(0.998),
        percent(0.998, 1),
        percent(0.9997, 1),
        percent(float(np.float32(1) - np.float32(6e-8))),
    ) == (
        ">\u00a099\u00a0%",
        "99.8\u00a0%",
        ">\u00a099.9\u00a0%",
        "100\u00a0%",
    )


# What the page says


NAMES = [f"{place} · {letter}" for place, letter in enumerate("abcdefghi", 1)]


def band(size: int, offset: int, share: float) -> np.ndarray:
    """Every query gives that share to the key at an offset, and the rest evenly to all keys."""
    weights = np.full((size, size), (1 - share) / size, np.float32)
    for query in range(size):
        weights[query, (query + offset) % size] += share
    return weights


@pytest.mark.parametrize(
    ("weights", "target"),
    [
        (band(9, 0, 0.8), "the token itself"),
        (band(9, -1, 0.8), "the previous token"),
        (band(9, 1, 0.8), "the next token"),
        (np.eye(9, dtype=np.float32)[np.zeros(9, int)], "the first token"),
        (np.eye(9, dtype=np.float32)[np.full(9, 8)], "the last token"),
        (np.eye(9, dtype=np.float32)[np.full(9, 4)], "token 5 · e"),
    ],
)
def test_a_head_with_a_plain_habit_is_described_by_it(weights, target):
    look = weight_sentences.where_it_looks(weights, NAMES)
    assert look.target == target
    assert look.share > 0.6


def test_the_share_is_that_part_of_all_weight():
    weights = np.array([[0.1, 0.9], [0.7, 0.3]], np.float32)
    # By hand: the diagonal holds 0.4, below it 0.7, above it 0.9, the first column 0.8, the last 1.2, of 2 in all.
    look = weight_sentences.where_it_looks(weights, ["a", "b"])
    assert look.target == "the last token"
    assert look.share == pytest.approx(0.6)


def test_the_sentence_names_head_layer_and_share():
    sentence = weight_sentences.sentence(band(9, -1, 0.8), NAMES, layer=2, heads=(1,))
    assert sentence == "Head 2 of layer 3 gives 73\u00a0% of its attention to the previous token."


def test_the_sentence_says_when_it_speaks_of_a_mean():
    sentence = weight_sentences.sentence(band(9, 0, 0.1), NAMES, layer=0, heads=(0, 3))
    assert sentence.startswith("On average, the 2 heads of layer 1 that are on spread their attention")


def test_the_sentence_about_one_token_says_so():
    sentence = weight_sentences.sentence(np.ones((1, 1), np.float32), ["a"], layer=0, heads=(0,))
    assert sentence == "Head 1 of layer 1 gives all its attention to the only token there is."


def test_of_hidden_tokens_no_share_is_made_up():
    weights = np.array([[0.25, 0.75], [0.5, 0.5]], np.float32)
    alone = weight_sentences.sentence(weights[:, :1], ["1 · a"], layer=0, heads=(0,))
    assert alone == "Head 1 of layer 1 gives 38\u00a0% of its attention to the only token that is shown."
    assert weight_sentences.where_it_looks(weights[:, 1:], ["2 · b"], one_text=False).share == pytest.approx(0.625)


def test_a_token_cannot_bring_markdown_into_the_sentence():
    weights = np.eye(5, dtype=np.float32)[np.full(5, 2)]
    assert "\\*\\*b\\*\\*" in weight_sentences.sentence(weights, ["a", "a", "**b**", "c", "d"], layer=0, heads=(0,))


def test_the_mean_of_heads_is_their_mean_and_one_head_is_itself():
    weights = random_weights(4, 5, 5)
    assert np.array_equal(weight_sentences.mean_of_heads(weights, (2,)), weights[2])
    assert np.allclose(weight_sentences.mean_of_heads(weights, (0, 3)), (weights[0] + weights[3]) / 2, atol=1e-7)


@pytest.mark.parametrize("heads", [(), (4,), (-1,)])
def test_a_mean_without_heads_or_of_heads_that_are_not_there_is_refused(heads):
    with pytest.raises(ValueError, match="wanted heads of"):
        weight_sentences.mean_of_heads(random_weights(4, 5, 5), heads)


def test_a_text_that_was_cut_says_so():
    assert "Kept 512 of 600 tokens" in weight_sentences.kept_tokens(512, 88)
    assert weight_sentences.kept_tokens(9, 0) == ""


def test_of_two_texts_no_neighbour_is_named():
    weights = np.eye(3, dtype=np.float32)
    assert "itself" in weight_sentences.sentence(weights, list("abc"), layer=0, heads=(0,))
    assert "token" in weight_sentences.sentence(weights, list("abc"), layer=0, heads=(0,), one_text=False)
    assert "itself" not in weight_sentences.sentence(weights, list("abc"), layer=0, heads=(0,), one_text=False)


@pytest.mark.parametrize(("share", "verb"), [(0.8, "gives"), (0.3, "gives"), (0.05, "spreads its")])
def test_the_verb_follows_the_share(share, verb):
    assert verb in weight_sentences.sentence(band(20, -1, share), ["a"] * 20, layer=0, heads=(0,))


def test_the_outcome_is_the_most_probable_label():
    assert weight_sentences.outcome({"negative": 0.066, "positive": 0.934}) == "positive 93.4\u00a0%"


# Tables


def test_a_piece_is_shown_with_its_whole_word():
    spans = [(0, 2), (2, 6), (6, 10), (11, 15)]
    table = token_table(["Unbearably good"], ["un", "##bear", "##ably", "good"], [5, 6, 7, 8], [0, 0, 0, 1], spans)
    assert table["piece of the word"] == ["“Unbearably”"] * 3 + ["“good”"]
    assert table["id"] == [5, 6, 7, 8]
    assert table["position"] == [1, 2, 3, 4]


def test_the_pieces_of_two_texts_are_those_of_their_own_text():
    spans = [None, (0, 3), None, (0, 4), None]
    table = token_table(["not bad", "good"], list("abcde"), [1] * 5, [None, 0, None, 0, None], spans, [0, 0, 0, 1, 1])
    assert table["piece of the word"] == ["–", "“not”", "–", "“good”", "–"]
    assert table["text"] == [1, 1, 1, 2, 2]


# The training curve

CURVE = """step,examples,training_loss,validation_loss,validation_accuracy,learning_rate
0,0,0.7,0.69,0.5,0.001
10,320,0.6,,,0.001
20,640,0.5,0.55,0.75,0.001
"""


def drawn(chart) -> list[dict]:
    (points,) = json.loads(chart.to_json())["data"].values()
    return points


def test_the_loss_curve_holds_the_losses_of_the_file():
    points = drawn(loss_curve(read_curve(CURVE)))
    assert [(p["step"], p["loss"]) for p in points if p["measured on"] == "training"] == [
        (0, 0.7),
        (10, 0.6),
        (20, 0.5),
    ]
    assert [(p["step"], p["loss"]) for p in points if p["measured on"] == "validation"] == [(0, 0.69), (20, 0.55)]


def test_the_accuracy_curve_leaves_out_steps_without_a_measurement():
    assert [(p["step"], p["accuracy"]) for p in drawn(accuracy_curve(read_curve(CURVE)))] == [(0, 0.5), (20, 0.75)]


@pytest.mark.parametrize(
    "text", ["", "step,examples\n0,0\n", "step,training_loss,validation_loss,validation_accuracy\n"]
)
def test_a_curve_without_its_columns_is_refused(text):
    with pytest.raises(ValueError, match="column"):
        read_curve(text)


# The card


def test_every_evaluation_stands_under_its_command():
    rows = [
        {"what": "accuracy", "value": 88.25, "unit": "%", "examples": 25000, "command": "python -m x"},
        {"what": "loss", "value": 0.3, "examples": 10, "command": "python -m y"},
        {"what": "speed", "value": 7, "unit": "ms", "command": "python -m x"},
    ]
    assert card_tables.evaluations_by_command({"evaluations": rows}) == {
        "python -m x": {"what": ["accuracy", "speed"], "result": ["88.25 %", "7 ms"], "examples": ["25,000", ""]},
        "python -m y": {"what": ["loss"], "result": ["0.3"], "examples": ["10"]},
    }


def test_the_measures_of_a_card_are_explained_once_each():
    rows = [{"what": "accuracy, all texts"}, {"what": "another run: accuracy, all texts"}, {"what": "speed"}, {}]
    assert card_tables.all_measures_explained({"evaluations": rows}) == [card_tables.MEASURES["accuracy"]]
    assert card_tables.all_measures_explained({}) == []


@pytest.mark.parametrize("name", available_checkpoints())
def test_every_checkpoint_of_ours_says_what_its_main_result_measures(name):
    one = load_checkpoint(name)
    model = card_tables.Model(one.config, one.card, one.family, 0)
    assert model.main_result()
    assert model.main_result_explained().lower().startswith(model.main_result().partition(",")[0].lower())


def test_data_is_listed_with_its_licence_and_only_web_addresses_become_links():
    good = {"name": "*Reviews*", "use": "training", "licence": "MIT", "source": "https://example.org/a_b/"}
    (line,) = card_tables.data_lines({"data": [good]})
    assert line.splitlines()[0].startswith("**\\*Reviews\\***")
    assert "Licence: MIT" in line
    assert line.endswith("<https://example.org/a_b/>")
    (line,) = card_tables.data_lines({"data": [good | {"source": "javascript:alert(1)"}]})
    assert "<" not in line


@pytest.mark.parametrize(
    "odd",
    [{}, {"evaluations": None, "data": 3, "training": [], "limits": "x"}, {"data": [None, {"use": 1}], "limits": [1]}],
)
def test_an_odd_card_is_shown_as_far_as_it_goes(odd):
    card_tables.evaluations_by_command(odd)
    card_tables.data_lines(odd)
    card_tables.training_facts(odd)
    assert card_tables.text_of(odd, "training", "command") == ""
    assert all(isinstance(limit, str) for limit in card_tables.limits(odd))


def test_times_and_sizes_are_short():
    assert [card_tables.duration(seconds) for seconds in (40.0, 360.0, 4360.0)] == ["40 s", "6 min", "1 h 13 min"]
    assert (card_tables.size(2_840_000), card_tables.size(9_999), card_tables.megabytes(6_100_000)) == (
        "2.84 million",
        "9,999",
        "6.1 MB",
    )
