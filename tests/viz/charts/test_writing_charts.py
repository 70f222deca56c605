"""The figures of the page Write hold the numbers given."""

import numpy as np
import pytest
import torch

from model.decoding.logits_processors import LogitsProcessors
from model.decoding.steps import Step
from model.measures.last_token import LastLink, most_unusual_link
from viz.charts.logit_lens import LensColumn, lens_chart, lens_grid, lens_table
from viz.charts.next_token import drawn_tokens, stage_chart, titles_of
from viz.sentences.token_strip import shade, written_row
from viz.text import writing_finding
from viz.theme import DARK, LIGHT

THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])


@THEMES
def test_every_stage_is_a_column_whose_bars_have_one_scale(theme):
    stages = {"the model": [0.5, 0.25], "top-k\n1": [1.0, 0.0]}
    chart = stage_chart(stages, [7, 3], [" was", " was"], taken=1, theme=theme).to_dict()
    rows = next(layer["data"]["values"] for layer in chart["layer"] if "probability" in str(layer.get("data", "")))
    assert [row["probability"] for row in rows] == [0.5, 0.25, 1.0, 0.0]
    assert [row["id"] for row in rows] == [7, 3, 7, 3]
    lengths = [row["to"] - row["from"] for row in rows]
    assert np.allclose(np.array(lengths) / lengths[2], [0.5, 0.25, 1.0, 0.0])
    assert [row["shown"] for row in rows] == ["50.0\u00a0%", "25.0\u00a0%", "100.0\u00a0%", "out"]
    assert [row["token"] for row in rows[:2]] == ["1 · ␣was", "▸ 2 · ␣was"]
    assert rows[2]["stage"] == "top-k 1"


def test_drawn_are_the_likeliest_to_the_model_those_that_the_settings_like_and_the_one_taken():
    logits = torch.tensor([5.0, 4.0, 3.0, 2.0, 1.0, 0.0, -1.0, -2.0])
    penalised = LogitsProcessors(repetition_penalty=100.0)
    step = Step(token_id=7, token="h", logits=logits, read=(0, 1, 2), logits_processors=penalised)
    assert drawn_tokens(step, 2) == [0, 1, 3, 4, 7]
    narrow = Step(token_id=0, token="a", logits=logits, read=(), logits_processors=LogitsProcessors(top_k=1))
    assert drawn_tokens(narrow, 2) == [0, 1], "what the settings leave out is no favourite of theirs"


def test_a_stage_of_another_length_is_refused():
    with pytest.raises(ValueError, match="numbers for 2 ids"):
        stage_chart({"the model": [1.0]}, [1, 2], ["a", "b"])


def test_the_stages_are_named_with_their_settings():
    assert titles_of({"temperature": 0.8})["temperature"].replace("-\n", "") == "temperature 0.8"


@THEMES
def test_the_lens_shows_every_probability(theme):
    numbers = np.array([[0.5, 0.25], [0.75, 0.125]])
    chart = lens_chart(numbers, [["a", "<b>"], ["c", "d"]], theme=theme).to_dict()
    rows = chart["data"]["values"]
    assert [(row["layer"], row["place"], row["token"], row["probability"]) for row in rows] == [
        ("embedding", "1", "a", 0.5),
        ("embedding", "2", "<b>", 0.25),
        ("1", "1", "c", 0.75),
        ("1", "2", "d", 0.125),
    ]
    with pytest.raises(ValueError, match="rows of tokens"):
        lens_chart(numbers, [["a", "b"]])


def test_the_table_of_the_lens_holds_probability_and_rank():
    table = lens_table(["a", "b"], np.array([0.5, 0.75]), np.array([0.25, 0.5]), np.array([2, 3]))
    assert table["after layer"] == ["embedding", "1"]
    assert table["its probability"] == [0.5, 0.75]
    assert table["probability of the token"] == [0.25, 0.5]
    assert table["its rank"] == [2, 3]


@THEMES
def test_a_written_token_is_shaded_by_its_probability(theme):
    row = written_row("Once", [" was", "\n\n", "x"], [0.0, 0.5, 1.0], 2, theme=theme)
    tokens = row["tokens"]
    assert [token["shade"] for token in tokens][::2] == [theme.weights[0], theme.weights[-1]]
    assert [token["number"] for token in tokens] == ["0.0\u00a0%", "50\u00a0%", "100\u00a0%"]
    assert [(token["text"], token["spaced"], token["breaks"]) for token in tokens] == [
        ("was", True, 0),
        ("↵↵", True, 2),
        ("x", False, 0),
    ]
    assert shade(1 / 64, theme) == theme.weights[1]


@THEMES
@pytest.mark.parametrize("probability", np.linspace(0, 1, 41))
def test_a_written_token_can_be_read_on_its_shade(theme, probability):
    (token,) = written_row("", ["x"], [probability], 1, theme=theme)["tokens"]
    lighter, darker = sorted((luminance(token["shade"]), luminance(token["ink"])), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def luminance(colour: str) -> float:
    """WCAG 2.2, relative luminance."""
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_link_beyond_a_heads_habit_is_found_by_hand():
    habitual = [[1, 0, 0, 0], [0.9, 0.1, 0, 0], [0.9, 0.05, 0.05, 0], [0.9, 0.05, 0.05, 0]]
    turning = [[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.6, 0.3, 0.1, 0], [0.1, 0.8, 0.1, 0]]
    link = most_unusual_link(np.array([[habitual, turning]], np.float32))
    assert link is not None
    assert (link.layer, link.head, link.key) == (0, 1, 1), "0.9 on the first token is a habit"
    assert [link.weight, link.before] == pytest.approx([0.8, (0.5 + 0.3) / 2])
    assert most_unusual_link(np.ones((1, 1, 1, 1), np.float32)) is None


def test_the_weight_of_the_query_that_sees_one_key_alone_is_no_habit_and_no_link_needs_to_exceed_it():
    two = [[1, 0], [0.98, 0.02]]
    assert most_unusual_link(np.array([[two]], np.float32)) is None
    steady = [[1, 0, 0], [0.3, 0.7, 0], [0.3, 0.6, 0.1]]
    assert most_unusual_link(np.array([[steady]], np.float32)) is None
    rising = [[1, 0, 0], [0.3, 0.7, 0], [0.4, 0.5, 0.1]]
    link = most_unusual_link(np.array([[steady], [rising]], np.float32))
    assert link is not None
    assert (link.layer, link.head, link.key) == (1, 0, 0)
    assert [link.weight, link.before] == pytest.approx([0.4, 0.3])


@pytest.mark.parametrize(
    ("text", "tail"),
    [
        ("Once upon a time there was a girl who", "… there was a girl who"),
        ("Once", "Once"),
        ("two\n words ", "two words"),
        ("x" * 40, "… " + "x" * 24),
        ("", "(empty)"),
    ],
)
def test_the_title_quotes_the_last_words_that_were_read(text, tail):
    assert writing_finding.tail(text) == tail
    title = writing_finding.title(text, " time", 0.93)
    assert title == f"After “{tail}”, the likeliest token is “time”: 93\u00a0%."


def test_the_sentence_says_what_was_taken_and_looked_at_with_all_numbers():
    def sentence(token: str, read: int, shares: tuple[float, float], **how: bool) -> str:
        return writing_finding.choice(token, read, shares, **how).replace("\\", "").replace("\u00a0", " ")

    shares = "(25.0 % from the model, 50.0 % after the settings)."
    greedy = f"After one token, **Step** writes the token that is likeliest after the settings, **“*a*”** {shares}"
    assert sentence(" *a*", 1, (0.25, 0.5), already=False) == greedy
    drawn = (
        "After 3 tokens, **Step** draws the next token at random, by the probabilities after the settings; with this "
        f"seed it is **“a”** {shares}"
    )
    assert sentence("a", 3, (0.25, 0.5), already=False, drawn=True) == drawn
    alone = "After 3 tokens, the settings leave one token, and **Step** writes it: **“a”** ("
    assert sentence("a", 3, (0.25, 1.0), already=False, drawn=True).startswith(alone)
    assert sentence("a", 3, (0.25, 0.5), already=True, drawn=True) == f"After 3 tokens, **“a”** was taken here {shares}"
    link = LastLink(layer=4, head=3, key=1, weight=0.51, before=0.046)
    looked = (
        "While reading “who”, layer 5, head 4 attends to **“girl”** with 51 %; the tokens before “who” gave “girl” "
        "4.6 % on average."
    )
    assert writing_finding.attention(link, " who", " girl").replace("\u00a0", " ") == looked
    assert "to **“aul”** of “Paul” with" in writing_finding.attention(link, ".", "aul", "Paul")
    assert writing_finding.attention(None, "a", "") == ""


def test_a_piece_is_named_with_its_word():
    tokens = ["P", "aul", " has", " two", ",", "bro", "thers", ".", "\ufffdF0"]
    words = [writing_finding.word_around(tokens, place) for place in range(len(tokens))]
    assert words == ["Paul", "Paul", "", "", "", "brothers", "brothers", "", ""]


@THEMES
def test_the_lens_of_all_positions_holds_every_answer_with_its_probability(theme):
    columns = [
        LensColumn("1 · a", [["x", "y"], ["<b>", "z"]], np.array([[0.75, 0.25], [0.5, 0.125]])),
        LensColumn("2 · a", [["p", "q"], ["r", "s"]], np.array([[0.25, 0.2], [1.0, 0.0]])),
    ]
    spec = lens_grid(columns, read=1, theme=theme).to_dict()
    rows = spec["data"]["values"]
    assert [(row["column"], row["after"], row["answer"], row["probability"]) for row in rows] == [
        (0, "embedding", "x", 0.75),
        (0, "1", "<b>", 0.5),
        (1, "embedding", "p", 0.25),
        (1, "1", "r", 1.0),
    ]
    assert rows[1]["said"].replace("\u00a0", " ") == "1 · a, after layer 1: “<b>” 50.0 %, then “z” 12.5 %"
    assert rows[0]["said"].startswith("1 · a, after the embedding: “x”")
    assert [row["last"] for row in rows] == [False, False, True, True]
    assert rows[3]["colour"] == theme.weights[-1]
    assert '{"0": "1 \\u00b7 a", "1": "2 \\u00b7 a"}' in spec["layer"][0]["encoding"]["x"]["axis"]["labelExpr"]


def test_columns_of_different_depths_are_refused():
    columns = [LensColumn("a", [["x"]], np.ones((1, 1))), LensColumn("b", [["x"], ["y"]], np.ones((2, 1)))]
    with pytest.raises(ValueError, match="depths"):
        lens_grid(columns)
