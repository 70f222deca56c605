"""What a checkpoint is said to be and to do: by its card, and from its config where the card says nothing."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from safetensors import safe_open

from model import Config, config, families, load_checkpoint
from model.checkpoint import CHECKPOINTS
from model.loading import checkpoint_files
from tests import tiny
from tests.folders import KINDS
from viz.charts.model_picture import model_picture
from viz.text import card_tables

UNKNOWN = "The checkpoint has no card: its data, training and evaluation are unknown."
BERT = "encoder, 3 layers × 3 heads, 24 wide, post-norm LayerNorm, learned positions, GELU feed-forward"
LLAMA = "decoder, 3 layers × 6 heads, 24 wide, 3 heads of keys and values"
GEMMA = "decoder, 3 layers × 4 heads, 24 wide, 2 heads of keys and values"
ROTARY = "pre-norm RMSNorm, rotary positions, gated SiLU feed-forward, predicts the next token."
FOUR_NORMS = (
    "RMSNorm before and after each sublayer, rotary positions, gated GELU feed-forward, predicts the next token."
)
TWO_STACKS = "encoder-decoder, 2 layers × 3 heads + 3 layers × 2 heads, 24 wide, post-norm LayerNorm"
TARGET = "predicts the next token of the target."

ARCHITECTURES = {
    "gpt2": "GPT-2 family: decoder, 3 layers × 3 heads, 24 wide, pre-norm LayerNorm, learned positions, "
    "GELU feed-forward, predicts the next token.",
    "bert": f"BERT family: {BERT}, predicts masked tokens.",
    "bert-classifier": f"BERT family: {BERT}, chooses between <b>bad</b> / good.",
    "bert-bare": f"BERT family: {BERT}, no head.",
    "roberta": f"RoBERTa family: {BERT}, predicts masked tokens.",
    "distilbert": f"DistilBERT family: {BERT}, predicts masked tokens.",
    "llama": f"Llama family: {LLAMA}, {ROTARY}",
    "mistral": f"Mistral family: {LLAMA}, a window of 9 tokens in every layer, {ROTARY}",
    "qwen2": f"Qwen 2 family: {LLAMA}, {ROTARY}",
    "qwen3": f"Qwen 3 family: {LLAMA}, RMSNorm on queries and keys, {ROTARY}",
    "gemma": f"Gemma family: {GEMMA}, {ROTARY.replace('SiLU', 'GELU')}",
    "gemma2": f"Gemma 2 family: {GEMMA}, a window of 4,096 tokens in 2 of 3 layers, {FOUR_NORMS}",
    "gemma3": f"Gemma 3 family: {GEMMA}, RMSNorm on queries and keys, a window of 4,096 tokens in every layer, "
    f"{FOUR_NORMS}",
    "gpt-neox": "GPT-NeoX family: decoder, 3 layers × 3 heads, 24 wide, pre-norm LayerNorm, attention and feed-forward "
    "in parallel, rotary positions, GELU feed-forward, predicts the next token.",
    "gpt-neo": "GPT-Neo family: decoder, 3 layers × 3 heads, 24 wide, a window of 7 tokens in 2 of 3 layers, "
    "pre-norm LayerNorm, learned positions, GELU feed-forward, predicts the next token.",
    "bart": f"BART family: {TWO_STACKS}, learned positions, GELU feed-forward, {TARGET}",
    "marian": f"Marian family: {TWO_STACKS}, sinusoidal positions, GELU feed-forward, {TARGET}",
    "t5": "T5 family: encoder-decoder, 2 + 3 layers × 3 heads, 24 wide, pre-norm RMSNorm, relative position bias, "
    f"ReLU feed-forward, {TARGET}",
    "own": "Encoder, 2 layers × 4 heads, 16 wide, post-norm LayerNorm, sinusoidal positions, ReLU feed-forward, "
    "chooses between no / yes.",
}
PURPOSES = dict.fromkeys(KINDS, "continues texts") | {
    **dict.fromkeys(("bert", "roberta", "distilbert"), "fills in masked words"),
    "bert-classifier": "judges texts: <b>bad</b> / good",
    "bert-bare": "reads (no head)",
    "bart": "turns one text into another",
    "marian": "translates",
    "t5": "turns one text into another",
    "own": "judges texts: no / yes",
}


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_checkpoint_without_a_card_is_described_from_its_config(name, folders):
    checkpoint = load_checkpoint(folders / name, device="cpu")
    lines = card_tables.about(checkpoint.config, checkpoint.card, checkpoint.family)
    assert lines == [ARCHITECTURES[name], UNKNOWN]
    assert card_tables.purpose(checkpoint.config, checkpoint.card, checkpoint.family) == PURPOSES[name]


@pytest.mark.parametrize(("name", "does"), [
    ("sentiment", "judges texts: negative / positive"),
    ("stories", "continues texts"),
    ("translate-en-fr", "translates"),
])  # fmt: skip
def test_a_bundled_checkpoint_is_described_by_its_card_and_without_it_from_its_config(name, does):
    values = checkpoint_files.read_config(CHECKPOINTS / name)
    family, _, sizes = checkpoint_files.read_parts(CHECKPOINTS / name, values)
    own = checkpoint_files.read_card(CHECKPOINTS / name)
    summary, parts = card_tables.about(sizes, own, family)
    assert summary == own["summary"]
    assert parts.lower() == f"{own['architecture']}."
    assert card_tables.purpose(sizes, own, family) == does
    read_off, unknown = card_tables.about(sizes)
    assert unknown == UNKNOWN
    assert f"{sizes.heads} heads, {sizes.width} wide, {sizes.norm_order}-norm" in read_off


@pytest.mark.parametrize(("own", "lines"), [
    ({"summary": "counts", "data": [1], "training": {"a": 1}}, ["Counts.", "", "Its card names no evaluation."]),
    ({"task": "Counting?", "evaluations": [1]}, ["Counting?", "", "Its card names no data or training."]),
    ({"seed": 7}, ["", "Its card names no data, training or evaluation."]),
    ({"summary": " ", "architecture": [], "data": 0}, ["", "Its card names no data, training or evaluation."]),
])  # fmt: skip
def test_what_a_card_leaves_out_is_said_from_the_config_or_said_to_be_missing(own, lines):
    parts = card_tables.architecture(tiny.config())
    assert card_tables.about(tiny.config(), own) == [line or parts for line in lines]


def test_every_part_that_a_config_may_name_has_its_words():
    assert set(card_tables.NORMS) == set(config.NORMS)
    assert set(card_tables.NORM_ORDERS) == set(config.NORM_ORDERS)
    assert set(card_tables.POSITIONS) == set(config.POSITIONS)
    assert set(card_tables.ACTIVATIONS) == set(config.ACTIVATIONS)


def test_every_family_has_a_name_of_its_own():
    names = [family.name for family in families.FOREIGN]
    assert all(names)
    assert len(set(names)) == len(names)
    assert families.OWN.name == ""


def test_one_of_a_kind_is_said_in_the_singular():
    small = card_tables.architecture(tiny.config("decoder", layers=1, heads=1, window=1, windowed_layers=(0,)))
    assert small.startswith("Decoder, 1 layer × 1 head, 16 wide, a window of 1 token in every layer, ")
    assert "1 head of keys and values," in card_tables.architecture(tiny.config("decoder", kv_heads=1))


def test_windows_are_counted_in_the_layers_that_there_are():
    assert "in 1 of 2 layers" in card_tables.architecture(tiny.config(window=4, windowed_layers=(1, 1, 9)))


def test_labels_are_short_visible_and_few():
    labels = ("a\u200bb", "x" * 99, *map(str, range(1000)))
    purpose = card_tables.purpose(tiny.config(labels=labels))
    assert purpose == f"judges texts: aU+200Bb / {'x' * 23}… / 0 / 1 and 998 more"


@pytest.mark.parametrize("task", ["Translation from Latin", "it translates", "machine translation"])
def test_a_pair_of_stacks_translates_where_its_card_says_so(task):
    pair: Config = tiny.config("encoder-decoder")
    assert card_tables.purpose(pair, {"task": task}) == "translates"
    assert card_tables.purpose(pair, {"task": "summaries"}) == "turns one text into another"


# A checkpoint among others


def models(*names: str) -> list[card_tables.Model]:
    checkpoints = [load_checkpoint(CHECKPOINTS / name, device="cpu") for name in names]
    return [card_tables.Model(one.config, one.card, one.family, one.model.parameter_count()) for one in checkpoints]


def test_the_title_counts_the_models_and_their_numbers():
    both = models("sentiment", "stories")
    numbers = 0
    for name in ("sentiment", "stories"):
        with safe_open(CHECKPOINTS / name / "model.safetensors", "np") as file:
            numbers += sum(file.get_tensor(key).size for key in file.keys())  # noqa: SIM118 - it is no dict
    assert (
        card_tables.models_title(both)
        == f"Two models, trained from scratch, {numbers / 1e6:.1f} million parameters together."
    )
    unknown = replace(both[0], card={}, parameters=999)
    assert card_tables.models_title([unknown]) == "One model, 999 parameters."
    assert card_tables.models_title([unknown, *both]).startswith("Three models, 2 of them trained from scratch, ")
    assert card_tables.models_title([unknown] * 13).startswith("13 models, ")


def test_the_main_result_is_the_first_of_the_card():
    (model,) = models("sentiment")
    first = checkpoint_files.read_card(CHECKPOINTS / "sentiment")["evaluations"][0]
    assert model.main_result() == f"{first['what']}: {first['value']:.6g} {first['unit']}"
    cards: list[dict[str, object]] = [{}, {"evaluations": []}, {"evaluations": [3]}, {"evaluations": [{"what": "a"}]}]
    for odd in cards:
        assert replace(model, card=odd).main_result() == ""


def test_where_the_curve_shows_more_runs_than_the_card_counts_both_say_so():
    for name, runs in (
        ("sentiment", [8000, 2000]),
        ("stories", [8150, 7950, 511]),
        ("translate-en-fr", [4094, 420, 300]),
    ):
        card = checkpoint_files.read_card(CHECKPOINTS / name)
        *_, last = (CHECKPOINTS / name / "curve.csv").read_text(encoding="utf-8").split()
        assert (int(last.split(",")[0]), card["training"]["steps"]) == (sum(runs), runs[-1])
        explained, facts = card_tables.curve_explained(card, sum(runs)), card_tables.training_facts(card, sum(runs))
        counts = {"examples": card["training"]["examples"], "steps": runs[-1]}
        assert {counted: facts[f"{counted} of the last run"] for counted in counts} == {
            counted: f"{count:,}" for counted, count in counts.items()
        }
        assert "time of the last run" in facts
        assert f"all {sum(runs):,} steps of several training runs" in explained
        assert f"took the last {runs[-1]:,} of these steps" in explained


@pytest.mark.parametrize("card", [{}, {"training": {"steps": "x"}}, {"training": {"steps": 9, "seconds": 1}}])
def test_a_curve_of_one_run_needs_no_explanation(card):
    assert card_tables.curve_explained(card, 9) == ""
    assert not any("of the last run" in name for name in card_tables.training_facts(card, 9))


@pytest.mark.parametrize(("config", "squares"), [
    (tiny.config(layers=3, heads=4), 12),
    (tiny.config("decoder", layers=5, heads=2), 10),
    (tiny.config("encoder-decoder", layers=2, heads=4, decoder_layers=3, decoder_heads=2), 2 * 4 + 3 * 2 * 2),
    (tiny.config(layers=48, heads=16), 768),
])  # fmt: skip
def test_the_picture_of_a_model_has_a_square_for_every_head(config, squares):
    root = ElementTree.fromstring(model_picture(config))
    assert len(root.findall(".//{*}rect")) == squares
    assert float(root.attrib["width"]) <= 260
    assert float(root.attrib["height"]) <= 110
