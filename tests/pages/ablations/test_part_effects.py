"""What the absence of each part does to the prediction: the numbers on the formula, against plain computations."""

import json
from typing import Any

import numpy as np
import pytest
import torch

from model import Edits, HeadSite, HiddenKey, NormSite, Shuffle, SublayerSite, load_checkpoint
from model.measures.outcome import Outcome, answers_otherwise, outcome_of, outcome_value
from pages.parts.ablations.effect_sentences import unmoved_sentence
from pages.parts.ablations.experiments import EXPERIMENTS, ExperimentPlace, without_norm
from pages.parts.ablations.part_effects import Board, PartEffect, groups_of
from tests import tiny
from tests.pages.test_every_page import component, opened

FILM = "The film was slow, but I loved it."
TURNS = "The acting is not bad at all."
SURE = ("worst worst", "awful awful awful", "waste waste waste waste", "The worst film ever.")  # one needs no part
QUESTION = "What is each part of the formula for?"


def switches(app: Any) -> dict[str, dict[str, Any]]:
    """What the browser is given of every part that can be pressed."""
    groups = json.loads(component(app, "headlight_formula").json)["groups"]
    terms = [term for group in groups for line in group["lines"] for term in line["terms"]]
    return {term["part"]: term for term in terms if "part" in term}


def every_head(stack: str, layers: int, kind: str = "self") -> frozenset[HeadSite]:
    return frozenset(HeadSite(stack, layer, head, kind) for layer in range(layers) for head in range(8))


def changed(before: float, after: float) -> str:
    """Both in percent, with one decimal; what that would round to zero, as less than the least of them."""
    said = ("<\u00a00.1" if 0 < share < 0.0005 else f"{100 * share:.1f}" for share in (before, after))
    return f"{' → '.join(said)}\u00a0%"


def probability(logits: torch.Tensor, answer: int) -> float:
    exponentials = np.exp(logits.double().numpy() - float(logits.max()))
    return float(exponentials[answer] / exponentials.sum())


NORMS = {NormSite("encoder", layer, sub, "before") for layer in range(4) for sub in ("self", "feed-forward")}
ENCODER = {
    "positions": Edits(unpositioned=frozenset({"encoder"})),
    "norm": Edits(without_norm=frozenset({*NORMS, NormSite("encoder", None, "final")})),
    "uniform": Edits(uniform=every_head("encoder", 4)),
    "scale": Edits(scale=1.0),
    "residual": Edits(without_residual=frozenset({SublayerSite("encoder", 2, "self")})),
    "mute": Edits(muted=frozenset({HeadSite("encoder", 2, 0)})),
    "shuffle": Edits(shuffled=frozenset({Shuffle("encoder", 1)})),
    "causal": Edits(causal=frozenset({"encoder"})),
}


@pytest.mark.parametrize("text", [TURNS, "I loved the film, but it was slow."])
def test_beside_every_part_stands_what_its_absence_does_to_the_verdict(text):
    checkpoint: Any = load_checkpoint("sentiment", device="cpu")
    logits = checkpoint.trace(text).logits
    label = int(logits.argmax())
    app = opened("break.py", text=text, layer="2")
    terms = switches(app)
    assert terms.keys() == ENCODER.keys() | {"hide"}
    after = {name: probability(checkpoint.trace(text, edits=edits).logits, label) for name, edits in ENCODER.items()}
    for name, share in after.items():
        assert terms[name]["result"] == changed(probability(logits, label), share), name
    taken_out = after.keys() - {"norm", "shuffle", "causal"}
    most = max(taken_out, key=lambda name: abs(after[name] - probability(logits, label)))
    assert [name for name, term in terms.items() if term["most"]] == [most]
    part = EXPERIMENTS[most].part.format(head=1, layer=3)
    assert app.title[0].value.startswith(f"What matters most here: without {part}, the verdict changes; ")
    goes = f"“{checkpoint.config.labels[label]}” goes from {100 * probability(logits, label):.1f}\u00a0%"
    assert f"{goes} to {100 * after[most]:.1f}\u00a0%." in app.title[0].value


def test_of_a_decoder_the_token_that_it_finds_next_is_followed():
    text, checkpoint = "The old king saw the", load_checkpoint("stories", device="cpu")
    edits = {"unmask": Edits(unmasked=frozenset({"decoder"})), "uniform": Edits(uniform=every_head("decoder", 6))}
    logits: Any = checkpoint.trace(text).logits
    token = int(logits[-1].argmax())
    app = opened("break.py", text=text, checkpoint="stories")
    for name, each in edits.items():
        after: Any = checkpoint.trace(text, edits=each).logits
        assert switches(app)[name]["result"] == changed(probability(logits[-1], token), probability(after[-1], token))
    assert "causal" not in switches(app)
    assert "the next token “␣golden” goes from 7.3\u00a0% to <\u00a00.1\u00a0%" in app.title[0].value.replace("\\", "")


def test_of_a_pair_the_tokens_of_its_own_output_are_followed_in_the_mean():
    text, checkpoint = "The red house is big.", load_checkpoint("translate-en-fr", device="cpu")
    trace: Any = checkpoint.trace(text)
    source, read = trace.encoder.ids.tolist(), trace.decoder.ids.tolist()
    told = [*read[1:], checkpoint.config.end_id]  # greedy decoding came to its end
    both = Edits(unpositioned=frozenset({"encoder", "decoder"}))
    after: Any = checkpoint.trace_ids(source, read, edits=both)
    shares: Any = [
        np.mean([probability(row, token) for row, token in zip(run.logits, told, strict=True)])
        for run in (trace, after)
    ]
    app = opened("break.py", text=text, checkpoint="translate-en-fr")
    assert switches(app)["positions"]["result"] == changed(*shares)
    assert {"unmask", "causal"} <= switches(app).keys()
    assert "the probability of its own output" in app.title[0].value


def test_a_model_without_a_head_is_followed_by_its_last_vectors():
    checkpoint = tiny.checkpoint()
    before = checkpoint.trace(tiny.TEXT)
    after = checkpoint.trace(tiny.TEXT, edits=Edits(scale=1.0))
    outcome = outcome_of(checkpoint, before)
    assert outcome.kind == "stream"
    first, second = (run.encoder.final.double().numpy() for run in (before, after))
    share = np.sqrt(((second - first) ** 2).sum() / (first**2).sum())
    assert outcome_value(outcome, before, after) == pytest.approx(share)
    assert outcome_value(outcome, before, before) == 0
    assert not answers_otherwise(outcome, after)


def least_shuffled(checkpoint: Any) -> str:
    """The text whose verdict changes least where positions are shuffled, by less than a title can say."""
    texts = (
        "A superb cast and a wonderful story.",
        "A great, great film.",
        "I loved it.",
        "I loved every minute of this wonderful film.",
        "This is the best film that I have ever seen.",
    )

    def change(text: str) -> float:
        before, after = (checkpoint.classify(text, edits)["positive"] for edits in (Edits(), ENCODER["shuffle"]))
        return abs(after - before)

    text = min(texts, key=change)
    assert change(text) < 0.0005
    return text


def test_where_nothing_moves_the_page_says_so_and_what_it_means():
    said = "Apart from the norms, this text needs no single part of the formula."
    apps = ((text, opened("break.py", text=text, layer="1")) for text in SURE)
    sure, app = next((text, app) for text, app in apps if app.title[0].value == said)
    before = load_checkpoint("sentiment", device="cpu").classify(sure)["negative"]
    assert any(
        f"Apart from the norms, no part moves the probability of “negative” ({100 * before:.1f} %) by more than "
        in text.value.replace("\u00a0", " ").replace("\\", "")
        for text in app.markdown
    )
    still = [text.value for text in opened("break.py", text=sure, layer="1", experiment="scale").markdown]
    assert any("**The answer hardly changes** (" in text and EXPERIMENTS["scale"].unmoved in text for text in still)
    moved = [text.value for text in opened("break.py", text=TURNS, experiment="scale").markdown]
    assert not any("hardly changes" in text for text in moved)


def test_where_the_answer_stays_and_the_stream_moves_one_sentence_says_both_with_the_number_that_was_measured():
    checkpoint: Any = load_checkpoint("sentiment", device="cpu")
    text = least_shuffled(checkpoint)
    answers = [100 * checkpoint.classify(text, edits)["positive"] for edits in (Edits(), ENCODER["shuffle"])]
    runs = [checkpoint.trace(text, edits=edits).encoder.blocks[-1] for edits in (Edits(), ENCODER["shuffle"])]
    before, after = (run.stream_out.double().numpy() for run in runs)
    moved = 100 * np.linalg.norm(after - before) / np.linalg.norm(before)
    share = f"{moved:.1f} %" if moved < 10 else f"{moved:.0f} %"
    app = opened("break.py", text=text, experiment="shuffle")
    texts = [text.value.replace("\u00a0", " ").replace("\\", "") for text in app.markdown]
    (unmoved,) = [text for text in texts if "hardly changes" in text]
    (measured,) = [text for text in texts if text.startswith("**Measured here.**")]
    assert unmoved.startswith(
        "**The answer hardly changes** ({:.1f} → {:.1f} %), although the stream after the last layer ".format(*answers)
    )
    assert f"moves by {share} of its length. " in unmoved
    assert measured.endswith(f"The stream after the last layer moves by {share} of its length.")
    assert not any("othing changes" in text for text in texts)


@pytest.mark.parametrize(
    ("kind", "after", "turned", "moved", "begins"),
    [
        (
            "label",
            0.905,
            False,
            0.35,
            "**The answer hardly changes** (90.0 → 90.5 %), although the stream after the last ",
        ),
        ("label", 0.905, False, 0.004, "**The answer hardly changes** (90.0 → 90.5 %). "),
        ("label", 0.905, True, 0.35, ""),
        ("label", 0.92, False, 0.004, ""),
        ("stream", 0.905, False, 0.004, "**The answer hardly changes** ("),
        ("stream", 0.905, False, 0.02, ""),
    ],
)
def test_one_threshold_decides_what_hardly_changes(kind, after, turned, moved, begins):
    board = Board(
        groups=(),
        place=ExperimentPlace(),
        outcome=Outcome(kind=kind),
        named="positive",
        effects={"scale": PartEffect(before=0.9, after=after, turned=turned)},
        pending=(),
        kept=Edits(),
        gone=frozenset(),
    )
    sentence = unmoved_sentence(board, "scale", moved).replace("\u00a0", " ")
    assert sentence.startswith(begins)
    assert bool(sentence) == bool(begins)
    assert (f"moves by {100 * moved:.0f} % of its length" in sentence) == (moved >= 0.01 and bool(begins))


@pytest.mark.parametrize(("name", "text"), [("sentiment", TURNS), ("stories", "Once upon a time there was")])
def test_without_norms_most_layers_read_vectors_of_lengths_that_training_never_gave_them(name, text):
    checkpoint = load_checkpoint(name, device="cpu")
    without = without_norm(checkpoint.config, ExperimentPlace())
    assert isinstance(without, Edits)
    normed, bare = (
        [
            part.input.norm(dim=-1)
            for block in checkpoint.trace(text, edits=edits).text_stack.blocks
            for part in (block.self_attention, block.feed_forward)
        ]
        for edits in (Edits(), without)
    )
    apart = [
        bool(((after < before.min() / 1.1) | (after > 1.1 * before.max())).all())
        for before, after in zip(normed, bare, strict=True)
    ]
    assert sum(apart) >= len(apart) - 1


def test_the_page_opens_on_the_part_that_matters_most_and_no_address_names_it():
    app = opened("break.py", text=TURNS)
    (most,) = [name for name, term in switches(app).items() if term["most"]]
    assert app.radio(key="experiment").value == most
    assert app.title[0].value.startswith(f"What matters most here: without {EXPERIMENTS[most].part.format(layer=1)}, ")
    assert app.subheader[0].value == EXPERIMENTS[most].name.format(layer=1)
    assert "experiment" not in app.query_params
    assert not [name for name, term in switches(app).items() if term["chosen"]], "nobody has pressed one"
    assert [name for name, term in switches(app).items() if term["shown"]] == [most]
    app.radio(key="experiment").set_value("scale").run()
    assert app.query_params["experiment"] == "scale"
    assert [name for name, term in switches(app).items() if term["chosen"]] == ["scale"]
    assert not [name for name, term in switches(app).items() if term["shown"]]
    assert app.title[0].value.startswith("Without the scale, ")


def test_what_is_changed_and_not_taken_out_is_chosen_and_not_struck_through():
    app = opened("break.py", text=TURNS, experiment="causal")
    assert [name for name, term in switches(app).items() if term["chosen"]] == ["causal"]
    assert not [name for name, term in switches(app).items() if term.get("out")]


def test_an_experiment_that_has_no_box_leaves_none_marked():
    app = opened("break.py", text=TURNS, experiment="heads")
    assert not [name for name, term in switches(app).items() if term["chosen"] or term["shown"]]
    assert not any("dashed box" in text.value for text in app.markdown)


def test_what_is_kept_broken_is_struck_through_and_no_part_is_blamed_for_it():
    app = opened("break.py", text=TURNS, edits=ENCODER["positions"].to_text(), experiment="scale")
    groups = json.loads(component(app, "headlight_formula").json)["groups"]
    struck = [t["notation"] for group in groups for line in group["lines"] for t in line["terms"] if t.get("out")]
    assert struck == ["+ P", "/ √d_k"]
    checkpoint: Any = load_checkpoint("sentiment", device="cpu")
    label = int(checkpoint.trace(TURNS).logits.argmax())
    pair = [ENCODER["positions"], Edits(scale=1.0, unpositioned=ENCODER["positions"].unpositioned)]
    runs = [checkpoint.trace(TURNS, edits=each).logits for each in pair]
    assert switches(app)["scale"]["result"] == changed(*(probability(run, label) for run in runs))
    assert switches(app)["positions"]["result"] == "–"


def test_the_part_that_matters_most_is_measured_on_top_of_what_is_kept():
    checkpoint: Any = load_checkpoint("sentiment", device="cpu")
    text, kept = "The film was slow, but I loved it.", ENCODER["uniform"]
    label = int(checkpoint.trace(text).logits.argmax())
    site = SublayerSite("encoder", 0, "self")
    each = {
        "scale": Edits(scale=1.0, uniform=kept.uniform),
        "positions": Edits(unpositioned=frozenset({"encoder"}), uniform=kept.uniform),
        "residual": Edits(without_residual=frozenset({site}), uniform=kept.uniform),
        "mute": Edits(muted=frozenset({HeadSite("encoder", 0, 0)}), uniform=kept.uniform),
    }
    before = probability(checkpoint.trace(text, edits=kept).logits, label)
    after = {name: probability(checkpoint.trace(text, edits=edits).logits, label) for name, edits in each.items()}
    app = opened("break.py", text=text, layer="0", edits=kept.to_text())
    terms = switches(app)
    assert {name: terms[name]["result"] for name in after} == {n: changed(before, share) for n, share in after.items()}
    most = max(after, key=lambda name: abs(after[name] - before))
    assert [name for name, term in terms.items() if term["most"]] == [most]
    part = EXPERIMENTS[most].part.format(head=1, layer=1)
    assert app.title[0].value.startswith(
        f"What matters most here, on top of the kept edits: without {part}, the verdict "
    )
    assert f" from {100 * before:.1f}\u00a0% to {100 * after[most]:.1f}\u00a0% " in app.title[0].value
    page_text = " ".join(text.value for text in app.markdown)
    assert "Each part was taken out on top of the kept edits; of these, this one changes the answer most" in page_text
    assert "with the kept edits → after a press" in page_text
    assert "alone" not in app.markdown[0].help
    scale = [text.value for text in opened("break.py", text=text, edits=kept.to_text(), experiment="scale").markdown]
    assert any("**The answer hardly changes** beyond the kept edits" in text for text in scale)


def test_the_key_that_is_hidden_is_named_with_its_attention_where_there_are_several():
    def label(name: str, attention: str) -> str:
        checkpoint = load_checkpoint(name, device="cpu")
        groups = groups_of(checkpoint, ExperimentPlace(attention=attention, key=1, token="rouge"))
        (words,) = [term.name for group in groups for line in group.lines for term in line.terms if term.part == "hide"]
        return words

    assert label("translate-en-fr", "encoder") == "no encoder head looks at “rouge”"
    assert label("translate-en-fr", "decoder") == "no decoder head looks at “rouge”"
    assert label("translate-en-fr", "cross") == "no cross-attention looks at “rouge”"
    assert label("sentiment", "encoder") == "no head looks at “rouge”"


def test_a_long_text_is_drawn_before_all_is_measured_and_waits_for_the_browser_to_ask_for_more():
    text = f"{TURNS} not so dull and not so good either. " * 6
    app = opened("break.py", text=text)
    assert not app.exception
    assert json.loads(component(app, "headlight_formula").json)["pending"] == 1
    results = [term["result"] for term in switches(app).values()]
    assert results.count("") >= 6
    assert app.title[0].value == QUESTION
    assert not app.subheader
    named = opened("break.py", text=text, experiment="norm")
    assert named.subheader[0].value == "No norm"


@pytest.mark.parametrize("folder", ["gpt2", "bert", "llama", "t5"])
def test_other_families_are_measured_too(folder, app_folders):
    app = opened("break.py", checkpoint=folder, text="the dog bit the man .")
    assert not app.exception
    assert not app.error
    terms = switches(app)
    assert all(term["result"].endswith("%") for term in terms.values())
    assert sum(term["most"] for term in terms.values()) == 1


def test_a_text_that_is_refused_leaves_the_question():
    app = opened("break.py", text=" ")
    assert app.title[0].value == QUESTION
    assert len(app.error) == 1
    assert component(app, "headlight_formula") is None


@pytest.mark.parametrize("page", ["break.py", "positions.py"])
def test_the_picture_to_share_has_the_numbers_of_the_finding_and_no_head(page, monkeypatch):
    taken: list[Any] = []

    def keep(*given: Any, **_: Any) -> bytes:
        taken.append(given)
        return b""

    monkeypatch.setattr("pages.parts.frame.downloads.bars_png", keep)
    monkeypatch.setattr("pages.parts.frame.downloads.button", lambda label, name, make, *_, **__: make())
    app = opened(page, text=TURNS, layer="2", off="2.1")
    assert not app.exception
    ((bars, foot, words),) = taken
    part = "positions"
    if page == "break.py":
        (part,) = [name for name, term in switches(app).items() if term["most"]]
    begins = f"What matters most here: without {EXPERIMENTS[part].part.format(layer=3)}, "
    assert words.title.startswith(begins if page == "break.py" else "Without positions, ")
    assert bars[0].length == 1
    assert foot
    if page == "break.py":
        assert bars[0].label == switches(app)[part]["result"]


@pytest.mark.parametrize(
    ("experiment", "begins"),
    [
        ("hide", "Forbid looking at “loved”: the verdict "),
        ("uniform", "Without a choice of where to look, "),
    ],
)
def test_the_part_that_was_pressed_is_the_title_and_the_largest_stands_in_the_sentence(experiment, begins):
    checkpoint: Any = load_checkpoint("sentiment", device="cpu")
    text = "The film was slow, but I loved it."
    app = opened("break.py", text=text, experiment=experiment, key="7")
    title = app.title[0].value.replace("\u00a0", " ")
    assert title.startswith(begins)
    if experiment == "hide":
        hidden = Edits(hidden=frozenset({HiddenKey("encoder", 7)}))
        share = checkpoint.classify(text, edits=hidden)["positive"]
        assert title.endswith(f" to {100 * share:.1f} % positive." if share > 0.5 else f" to {100 * share:.1f} %.")
        assert any("matters most here" in element.value for element in app.markdown)


def test_a_verdict_that_moves_by_less_than_its_title_can_say_stays():
    checkpoint = load_checkpoint("sentiment", device="cpu")
    classify, stays = checkpoint.classify, least_shuffled(checkpoint)
    still = opened("break.py", text=stays, experiment="shuffle")
    assert f"stays at {100 * classify(stays)['positive']:.1f}\u00a0% positive." in still.title[0].value
    before, after = (100 * classify(TURNS, edits)["positive"] for edits in (Edits(), ENCODER["uniform"]))
    assert after < 50
    turns = opened("break.py", text=TURNS, experiment="uniform")
    assert f"changes; “positive” goes from {before:.1f}\u00a0% to {after:.1f}\u00a0%." in turns.title[0].value
