"""The figures of a translation hold the numbers that they were given, and refuse what does not fit together."""

import csv
import io
import math

import numpy as np
import pytest
import torch

from model.decoding.steps import Node
from model.measures.teacher_forcing import forced_tokens, log_probability, word_probabilities
from tests import tiny
from viz.charts.alignment import alignment_chart, alignment_csv, alignment_table, link_rows, word_names, words_of
from viz.charts.beam_tree import MOST_DRAWN, label, runs_of, tree_chart, tree_table
from viz.charts.share_bars import largest, share_chart
from viz.charts.teacher_forcing import forced_chart, forced_table
from viz.export.provenance import Provenance
from viz.sentences.word_links import Side, word_links
from viz.text import translation_finding
from viz.theme import DARK


def node(parent: int | None, token_id: int, score: float) -> Node:
    facts = {"depth": 1, "token": f" t{token_id}", "probability": 0.5, "ended": False}
    return Node(parent=parent, token_id=token_id, score=score, **facts)  # type: ignore[arg-type]


# 1 ─ 2 ─ 4 (second), 1 ─ 3 (best), 5 dropped
NODES = [node(None, 1, -1.0), node(None, 5, -0.5), node(0, 2, -1.5), node(0, 3, -1.2), node(2, 4, -2.0)]
FINALS = [(1, 3), (1, 2, 4)]


def rows_of(chart, layer: int) -> list[dict]:
    """The records of one layer of a chart that Vega-Lite's schema allows."""
    spec = chart.to_dict()
    data = spec["layer"][layer].get("data", spec.get("data"))
    return data["values"] if "values" in data else spec["datasets"][data["name"]]


def test_runs_without_a_fork_stand_on_one_line_below_what_they_go_on_from():
    runs = runs_of(NODES, FINALS)
    assert [run.hypothesis for run in runs] == ["t1", "t1 t3", "t1 t2 t4", "t5"]
    assert [run.tokens for run in runs] == [(" t1",), (" t3",), (" t2", " t4"), (" t5",)]
    assert [run.outcome for run in runs] == ["goes on", "translation 1", "translation 2", "dropped"]
    assert [run.parent for run in runs] == [None, 0, 0, None]
    assert [run.level for run in runs] == [0, 1, 1, 0]
    assert [run.score for run in runs] == [-1.0, -1.2, -2.0, -0.5]


def test_a_line_says_what_became_of_it_its_score_and_its_tokens():
    assert [label(run) for run in runs_of(NODES, FINALS)] == [
        "−1.00 · t1",
        "▶ 1: −1.20 · t3",
        "▶ 2: −2.00 · t2 t4",
        "✕ −0.50 · t5",
    ]


def test_the_outline_holds_every_run_and_the_chosen_one_in_its_own_colour():
    runs = runs_of(NODES, FINALS)
    rows = rows_of(tree_chart(runs, chosen=1, theme=DARK), 2)
    assert [row["look"] for row in rows] == ["kept", "kept", "chosen", "dropped"]
    assert [row["score"] for row in rows] == tree_table(runs)["score"] == [-1.0, -1.2, -2.0, -0.5]
    assert [(row["from"], row["line"]) for row in rows_of(tree_chart(runs), 0)] == [(0, 1), (0, 2)]


@pytest.mark.parametrize(("width", "penalty"), [(1, 0.6), (3, 0.6), (4, 0.0)])
def test_every_hypothesis_of_a_search_is_in_the_outline_and_every_translation_ends_a_line(width, penalty):
    checkpoint = tiny.checkpoint("encoder-decoder", seed=1)
    best = checkpoint.generate(tiny.TEXT, 8, method="beam", width=width, length_penalty=penalty)
    every = [best, *best.alternatives]
    runs = runs_of(best.tree, [one.token_ids for one in every])
    assert sum(len(run.tokens) for run in runs) == len(best.tree)
    scores = {run.rank: run.score for run in runs if run.rank is not None}
    assert scores == pytest.approx({rank: one.score for rank, one in enumerate(every)})
    parents = {one.parent for one in best.tree}
    finals = len({one.token_ids for one in every})
    assert sum(run.dropped for run in runs) == sum(place not in parents for place in range(len(best.tree))) - finals


def test_a_deep_tree_is_cut_and_needs_no_recursion():
    nodes = [node(None, 1, -1.0)]
    for place in range(0, 3000, 2):  # each goes on in two ways, the first of which goes on again
        parent = 0 if place == 0 else place - 1
        nodes += [node(parent, 1, -1.0), node(parent, 2, -2.0)]
    runs = runs_of(nodes, [])
    assert len(runs) > 1500
    assert len(rows_of(tree_chart(runs), 2)) == MOST_DRAWN


def test_forced_probabilities_are_those_of_a_softmax_worked_by_hand():
    logits = torch.tensor([[0.0, math.log(3.0)], [math.log(4.0), 0.0]])
    first, second = forced_tokens(logits, [0, 0])
    assert [one.probability for one in (first, second)] == pytest.approx([0.25, 0.8])
    assert [one.rank for one in (first, second)] == [1, 0]
    assert dict(first.likeliest) == pytest.approx({1: 0.75, 0: 0.25})
    assert log_probability([first, second]) == pytest.approx(math.log(0.2))
    with pytest.raises(ValueError, match="1 ids came with 2 positions"):
        forced_tokens(logits, [0])


def test_the_probability_of_a_word_is_the_product_of_those_of_its_tokens():
    tokens = forced_tokens(torch.tensor([[0.0, math.log(3.0)], [math.log(4.0), 0.0], [0.0, 0.0]]), [0, 0, 1])
    assert word_probabilities(tokens, [0, 0, 1]) == pytest.approx([0.25 * 0.8, 0.5])


def test_the_bars_of_tokens_hold_their_probabilities_and_what_was_likelier():
    tokens = forced_tokens(torch.tensor([[0.0, math.log(3.0)], [math.log(4.0), 0.0]]), [0, 0])
    pieces = [(" a", " b"), (" a", " a")]
    rows = rows_of(forced_chart(tokens, pieces), 0)
    assert [row["probability"] for row in rows] == pytest.approx([0.25, 0.8])
    assert [row["said"] for row in rows] == ["25.0\u00a0% · likelier: ␣b 75\u00a0%", "80.0\u00a0%"]
    assert forced_table(tokens, pieces)["rank"] == [2, 1]
    with pytest.raises(ValueError, match="2 tokens came with 1 pieces"):
        forced_chart(tokens, pieces[:1])


def test_bars_hold_their_shares_and_mark_one():
    rows = rows_of(share_chart(["a", "b"], [0.25, 0.5], "weight", marked=1), 0)
    assert [(row["name"], row["share"], row["marked"]) for row in rows] == [("a", 0.25, False), ("b", 0.5, True)]
    assert rows[1]["said"] == "50.0\u00a0% ●"
    assert largest([0.1, 0.5, 0.2, 0.5], 2) == [1, 3]
    for names, shares in ((["a"], [0.1, 0.2]), (["a", "a"], [0.1, 0.2])):
        with pytest.raises(ValueError, match="wanted one for each, all different"):
            share_chart(names, shares, "weight")


def test_the_lines_of_an_alignment_hold_their_weights():
    weights = np.array([[0.25, 0.75], [0.6, 0.4]])
    targets, sources, links = ["1 · x", "2 · y"], ["1 · a", "2 · b"], frozenset({(1, 0), (0, 1)})
    rows = link_rows(weights, targets, sources, links)
    assert alignment_table(rows) == {"target": targets, "source": ["2 · b", "1 · a"], "weight": [0.75, 0.6]}
    assert rows_of(alignment_chart(weights, targets, sources, links), 0) == rows
    assert [row["word"] for row in rows_of(alignment_chart(weights, targets, sources, links), 1)] == sources
    with pytest.raises(ValueError, match=r"wanted \(1 targets, 2 sources\)"):
        alignment_chart(weights, targets[:1], sources, links)


def test_the_file_of_an_alignment_gives_back_every_weight_and_counts_words_from_0():
    weights = np.random.default_rng(0).dirichlet(np.ones(3), size=2)
    targets, sources = ["un", "=chat"], ["a", 'big, "old"', "c" * 40]
    links = frozenset({(2, 0), (1, 1), (0, 1)})
    rows = list(csv.DictReader(io.StringIO(alignment_csv(weights, targets, sources, links).decode("utf-8-sig"))))
    places = [(int(row["target"]), int(row["source"])) for row in rows]
    assert places == [(0, 2), (1, 0), (1, 1)]
    assert [float(row["weight"]) for row in rows] == [weights[place] for place in places]
    assert [row["target_word"] for row in rows] == ["un", "'=chat", "'=chat"]
    assert [row["source_word"] for row in rows] == ["c" * 40, "a", 'big, "old"']
    assert [row["weight"] for row in link_rows(weights, targets, sources, links)] == [
        weights[place] for place in places
    ]
    with pytest.raises(ValueError, match=r"wanted \(1 targets, 3 sources\)"):
        alignment_csv(weights, targets[:1], sources, links)


@pytest.mark.parametrize(
    ("reading", "heads"),
    [
        ((), "mean of all layers and heads"),
        ((1,), "layer 1, mean of its heads"),
        ((1, 3), "layer 1, head 3"),
    ],
)
def test_the_file_of_an_alignment_says_what_it_was_read_off(reading, heads):
    facts = {"reading": reading, "moment": "produced", "provenance": Provenance(checkpoint="a", text="b")}
    lines = alignment_csv(np.ones((1, 1)), ["x"], ["y"], frozenset({(0, 0)}), **facts).decode("utf-8-sig").split("\n")
    assert lines[0] == "# read: pandas.read_csv(file, skiprows=8)"
    assert lines[6:10] == [
        f"# heads: {heads}",
        "# moment: while the word is produced",
        "target,target_word,source,source_word,weight",
        "0,x,0,y,1.0",
    ]


def test_pieces_make_words():
    assert words_of(["[START]", "un", "##like", " dog"], [None, 0, 0, 1]) == ["unlike", "dog"]
    assert words_of([" ", "�F0", "�9F93", "�B1", "é�E9"], [0, 0, 0, 0, 1]) == ["📱", "é�E9"]
    assert word_names(["[START]", " play", "##ing", " dog", "s"], [None, 0, 0, 1, 1]) == ["1 · playing", "2 · dogs"]


SIDES = (
    Side(words=["un", "<b>x</b>", "[END]"], special=[False, False, True]),
    Side(words=["a", "b"], special=[False] * 2),
)


def test_the_links_of_words_hold_their_weights_from_the_largest_on_and_leave_out_the_least():
    weights = np.array([[0.25, 0.75], [0.995, 0.005], [0.004, 0.002]])
    picture = word_links(weights, *SIDES, steps=[0, 2, 4], marked=1)
    links = [[(link["source"], link["weight"]) for link in target["links"]] for target in picture["targets"]]
    assert links == [[(1, 0.75), (0, 0.25)], [(0, 0.995)], [(0, 0.004)]]
    assert [target["later"] for target in picture["targets"]] == [False, False, True]
    assert [target["step"] for target in picture["targets"]] == [0, 2, 4]
    assert picture["targets"][0]["said"] == "un: b 75\u00a0%, a 25\u00a0%. Go to this step"
    assert [link["number"] for link in picture["targets"][1]["links"]] == [">\u00a099\u00a0%"]


def test_a_word_without_weights_has_no_link_and_what_does_not_fit_is_refused():
    picture = word_links(np.zeros((3, 2)), *SIDES, steps=[0, 1, 2], marked=0)
    assert [target["links"] for target in picture["targets"]] == [[], [], []]
    assert picture["targets"][0]["said"] == "un: looks at nothing. Go to this step"
    with pytest.raises(ValueError, match="wanted one for each"):
        word_links(np.zeros((3, 2)), *SIDES, steps=[0], marked=0)
    with pytest.raises(ValueError, match=r"wanted \(3 targets, 2 sources\)"):
        word_links(np.zeros((2, 3)), *SIDES, steps=[0, 1, 2], marked=0)


def test_the_finding_names_the_words_the_heads_and_both_numbers():
    say = translation_finding
    assert say.title("rouge", "red", 0.87, moment="produced") == "To write “rouge”, the model looked at “red”."
    assert say.title("est", "is", 0.45, moment="produced") == "To write “est”, the model looked most at “is”."
    assert (
        say.title("rouge", "red", 0.77, moment="read") == "One step later, reading “rouge”, the model looked at “red”."
    )
    weight = "Layer 3, mean of its heads, gives “red” 87\u00a0% of the weight."
    expected = f"{weight} The model gave “rouge” a probability of 90.3\u00a0%."
    assert say.sentence("rouge", "red", 0.87, 0.903, 1, (2,)) == expected
    assert say.sentence("r", "b", 0.5, 0.5, 1, ()).startswith("The mean of all layers and heads gives “b”")
    assert say.sentence("r", "b", 0.5, 0.5, 1, (0, 6)).startswith("Layer 1, head 7 gives “b”")
    pieces = say.sentence("taquiné", "b", 0.5, 0.002, 4, (2,))
    assert pieces.endswith("The model gave “taquiné” (its 4 pieces together) a probability of 0.2\u00a0%.")
    read = "One step later, while the model reads “rouge”, layer 1, head 7 looks at “red” with 77\u00a0%."
    assert say.of_other_moment("rouge", "red", 0.77, (0, 6), moment="read") == read
    written = "While the model writes “rouge”, layer 3, mean of its heads, looks at “red” with 77\u00a0%."
    assert say.of_other_moment("rouge", "red", 0.77, (2,), moment="produced") == written
    assert say.picture_caption((2,), moment="produced").startswith("Shown: what is looked at while a word is written (")
    assert "one step later, while a word is read (layer 1, h" in say.picture_caption((0, 6), moment="read")
