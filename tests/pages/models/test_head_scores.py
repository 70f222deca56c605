"""What the heads of a model do over many texts, on the page Models: against the files that lie beside the models."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, parse_qsl

import pytest

from model.checkpoint import CHECKPOINTS
from model.measures.head_scores.score_file import FILE, HeadScores, read_head_scores
from pages.parts.models import catalogue
from tests.pages.test_every_page import opened
from viz.text import head_kind_tables as words

PAGE = "checkpoints.py"


@pytest.fixture
def beside(tmp_path, monkeypatch) -> Iterator[Path]:
    """The folder of one more model, opened on this server; its files may be spoilt."""
    folder = tmp_path / "mine"
    shutil.copytree(CHECKPOINTS / "sentiment", folder)
    catalogue.opened.clear()
    catalogue.opened()["mine"] = folder
    yield folder
    catalogue.opened.clear()


def tables(app) -> list[list[dict]]:
    return [
        frame.value.to_dict("records") for frame in app.dataframe if "kind" in frame.value or "asked" in frame.value
    ]


def numbers_of(scores: HeadScores) -> Iterator[list[tuple[float, int]]]:
    """What every table should show: of kinds the strongest score and the queries, of gold data the best advantage."""
    for kinds in scores.kinds.values():
        listed = (kinds[kind] for kind in words.NAMES if kind in kinds)
        yield [(round(float(each.scores[each.strongest]), 4), each.queries) for each in listed]
    for gold in filter(None, (scores.syntax, scores.coreference)):
        yield [(round(100 * max(score.accuracy - score.baseline for score in gold), 2), len(gold))]


def test_every_number_of_the_tables_is_that_of_the_file():
    files = (read_head_scores(CHECKPOINTS / name) for name in ("sentiment", "stories", "translate-en-fr"))
    expected = [numbers for scores in files if scores for numbers in numbers_of(scores)]
    shown = [
        [(row["score"], row["queries"]) for row in rows]
        if "kind" in rows[0]
        else [(round(rows[0]["right"] - rows[0]["rule is right"], 2), len(rows))]
        for rows in tables(opened(PAGE))
    ]
    assert shown == expected


def test_a_link_opens_the_strongest_head_alone_on_the_text_of_its_example():
    app, scores = opened(PAGE), read_head_scores(CHECKPOINTS / "sentiment")
    assert scores is not None
    table = scores.kinds["encoder"]["first_token"]
    layer, head = table.strongest
    label = f"Layer {layer + 1}, head {head + 1}: first token"
    (link,) = [each.proto for each in app.get("page_link") if each.proto.label == label]
    address = dict(parse_qsl(link.query_string))
    example = table.example_of(layer, head)
    assert example is not None
    assert (address.get("checkpoint", "sentiment"), address.get("layer", "0"), address["text"]) == (
        "sentiment",
        str(layer),
        scores.texts[example.text],
    )
    app.query_params.clear()
    app.query_params.update(address)
    there = app.switch_page("pages/explore.py").run()
    assert not there.exception
    assert not there.error
    assert there.session_state["_selection"].view.heads_on(8) == (head,)


def test_a_kind_of_single_weights_without_a_whole_example_has_no_link(beside):
    values = json.loads((beside / FILE).read_text(encoding="utf-8"))
    values["kinds"]["encoder"]["punctuation"]["examples"] = []
    (beside / FILE).write_text(json.dumps(values), encoding="utf-8")
    app, scores = opened(PAGE), read_head_scores(beside)
    assert scores is not None
    linked = [(each.proto.label, parse_qs(each.proto.query_string).get("checkpoint")) for each in app.get("page_link")]
    for kind, name in (("punctuation", "punctuation"), ("first_token", "first token")):
        layer, head = scores.kinds["encoder"][kind].strongest
        assert ((f"Layer {layer + 1}, head {head + 1}: {name}", ["mine"]) in linked) == (kind == "first_token")
    labels = [label for label, _ in linked]
    assert "Layer 2, head 1: broad" in labels, "no single weight shows it"


def test_the_link_of_induction_opens_a_text_that_comes_twice():
    app = opened(PAGE)
    (link,) = [each.proto for each in app.get("page_link") if each.proto.label == "Layer 6, head 1: induction"]
    address = dict(parse_qsl(link.query_string))
    half = len(address["text"]) // 2
    assert address["text"][:half].strip() == address["text"][half:].strip()
    assert "query" not in address
    there = opened("explore.py", **address)
    assert not there.exception
    assert "what followed" in "".join(title.value for title in there.title)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda values: values | {"kinds": 3}, "kinds"),
        (lambda values: values | {"kinds": {"decoder": values["kinds"]["encoder"]}}, "scores of another model"),
        (lambda values: {}, "head_scores.json"),
    ],
)
def test_a_spoilt_file_costs_one_sentence(change, said, beside):
    values = json.loads((beside / FILE).read_text(encoding="utf-8"))
    (beside / FILE).write_text(json.dumps(change(values)), encoding="utf-8")
    app = opened(PAGE)
    assert not app.exception
    (error,) = app.error
    assert said in error.value.replace("\\", "")


def test_scores_of_ones_own_texts_are_shown_beside_the_others_and_a_model_without_any_says_how(beside):
    shutil.copy(beside / FILE, beside / "head_scores-letters.json")
    app = opened(PAGE)
    assert len([text for text in app.markdown if text.value.startswith("Measured over ")]) == 5
    for file in beside.glob("head_scores*"):
        file.unlink()
    app = opened(PAGE)
    assert not app.exception
    assert len([text for text in app.markdown if text.value.startswith("Measured over ")]) == 3
    assert any("score_heads mine --texts" in code.value for code in app.code)


def test_a_number_of_a_text_with_thousands_of_digits_is_refused(beside):
    values = json.loads((beside / FILE).read_text(encoding="utf-8"))
    (beside / FILE).write_text(json.dumps(values | {"texts": {"9" * 5000: "a text"}}), encoding="utf-8")
    app = opened(PAGE)
    assert not app.exception
    assert len(app.error) == 1
