"""The page Heads that matter, without a browser: every number on it against passes with one edit each."""

import csv
import io
import json
import re
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import Checkpoint, Edits, HeadSite, load_checkpoint
from model.checkpoint import CHECKPOINTS
from model.measures.causes.ablation import mean_contexts
from model.measures.causes.contributions import logit_parts
from model.measures.causes.stream_parts import Part
from model.measures.head_scores.score_file import read_head_scores
from model.measures.outcome import answers_otherwise, outcome_of, outcome_value
from model.trace import Trace
from pages.parts.heads import head_effects
from pages.parts.heads.answer_logit import with_mask
from tests.model.measures.causes.test_ablation import held
from tests.pages.test_break import values
from tests.pages.test_every_page import button, opened
from viz.explorer.attention_kinds import TITLES
from viz.tokens import decimal, percent

PAGE = "heads.py"
TEXT = "The film was slow, but I loved it."
TRANSLATED = (
    "The good actor was good until the end.",
    "I would have gone if you had asked me.",
    "The old man who lives here never says what he thinks.",
    "She would rather stay at home than go to the party with him.",
    "It was so cold that nobody wanted to leave the house.",
    "He was told to wait until the others had left.",
    "There is nothing that I like more than a good book.",
)
SENTENCES = (
    "The good actor was good until the end.",
    "It is far from perfect.",
    "The acting is not bad at all.",
    "It was never boring.",
    "The food was cold, but the staff were kind.",
    "I wanted to like it.",
    "A waste of time, but the music is lovely.",
    "He is not a bad cook.",
    "The plot makes no sense, yet I laughed.",
    "My brother is a doctor.",
)


def numbers(app: AppTest) -> dict[tuple[int, int], float]:
    """The picture's numbers, by layer and head."""
    assert not app.exception
    assert not app.error
    return {(row["layer"], row["head"]): row["effect"] for row in values(app, 0)}


def measured(checkpoint: Checkpoint, trace: Trace, stack: str, kind: str = "self", field: str = "muted") -> np.ndarray:
    """The change of the answer without each head, of a whole pass with the edit that takes it away."""
    outcome, blocks = outcome_of(checkpoint, trace), getattr(trace, stack).blocks
    heads = blocks[0].self_attention.weights.shape[0]
    before = outcome_value(outcome, trace, trace)
    changes = np.zeros((len(blocks), heads))
    for layer, head in np.ndindex(*changes.shape):
        one = frozenset([HeadSite(stack, layer, head, kind)])
        edits = Edits(muted=one) if field == "muted" else Edits(averaged=one)
        changes[layer, head] = outcome_value(outcome, trace, checkpoint.trace_again(trace, edits)) - before
    return changes


def text_of(app: AppTest) -> str:
    return "\n".join(part.value for part in (*app.title, *app.markdown)).replace("\\", "").replace("\u00a0", " ")


def chart_rows(app: AppTest, field: str) -> list[dict[str, Any]]:
    """The data of the chart that has this field."""
    data = []
    for place, chart in enumerate(app.get("vega_lite_chart")):
        layers = json.loads(chart.proto.spec)["layer"]
        inside = [layer["data"]["values"] for layer in layers if "values" in layer.get("data", {})]
        data += inside or [values(app, place)]
    return next(rows for rows in data if field in rows[0])


@pytest.fixture(scope="module")
def sentiment() -> np.ndarray:
    checkpoint = load_checkpoint("sentiment")
    return measured(checkpoint, checkpoint.trace(TEXT), "encoder")


@pytest.mark.parametrize(
    ("address", "stack", "kind", "field"),
    [
        ({"checkpoint": "sentiment"}, "encoder", "self", "muted"),
        ({"checkpoint": "sentiment", "baseline": "mean"}, "encoder", "self", "averaged"),
        ({"checkpoint": "stories", "attention": "decoder"}, "decoder", "self", "muted"),
        ({"checkpoint": "translate-en-fr", "attention": "cross"}, "decoder", "cross", "muted"),
    ],
)
def test_every_cell_is_the_change_of_the_answer_without_that_head(address, stack, kind, field):
    checkpoint = load_checkpoint(address["checkpoint"])
    expected = measured(checkpoint, checkpoint.trace(TEXT), stack, kind, field)
    shown = numbers(opened(PAGE, text=TEXT, **address))
    assert shown.keys() == set(np.ndindex(*expected.shape))
    assert [shown[site] for site in sorted(shown)] == pytest.approx(expected.ravel().tolist(), abs=1e-5)


def test_the_title_names_the_head_with_the_largest_change_and_the_sentence_counts(sentiment):
    app = opened(PAGE, text=TEXT)
    layer, head = np.unravel_index(np.abs(sentiment).argmax(), sentiment.shape)
    checkpoint = load_checkpoint("sentiment")
    before = checkpoint.classify(TEXT)["positive"]
    assert text_of(app).startswith(
        f"Without head {head + 1} of layer {layer + 1}, the verdict “positive” goes from {100 * before:.1f} % to "
        f"{100 * (before + sentiment[layer, head]):.1f} %."
    )
    large, median = (np.abs(sentiment) >= 0.01).sum(), 100 * np.median(np.abs(sentiment))
    assert f"Of 32 heads, muted one at a time, {large} heads change it by 1 point or more" in text_of(app)
    assert f"the median head changes it by {median:.1f} points" in text_of(app)


@pytest.mark.parametrize("one", [True, False])
def test_so_many_heads_as_are_said_to_be_enough_keep_the_answer(one):
    """The texts are those whose answer, once it is another, stays so as more heads are muted."""
    checkpoint = load_checkpoint("sentiment")

    def shares_of(text: str) -> list[float]:
        """The probability of the answer with so many heads muted, those of the smallest effect first."""
        changes = measured(checkpoint, checkpoint.trace(text), "encoder")
        order = sorted(np.ndindex(*changes.shape), key=lambda site: abs(changes[site]))
        whole = checkpoint.classify(text)
        muted = [Edits(muted=frozenset(HeadSite("encoder", *site) for site in order[:count])) for count in range(33)]
        return [checkpoint.classify(text, edits)[max(whole, key=whole.__getitem__)] for edits in muted]

    def needed(shares: list[float]) -> int:
        kept = [share > 1 / 2 for share in shares]
        return 32 - (kept.index(False) - 1) if kept == sorted(kept, reverse=True) and not all(kept) else 0

    measured_texts = ((text, shares_of(text)) for text in (*SENTENCES, TEXT))
    text, shares = next(each for each in measured_texts if needed(each[1]) and (needed(each[1]) == 1) == one)
    app = opened(PAGE, text=text)
    several = f"The {needed(shares)} heads with the largest effect, for the answer or against it, are enough"
    enough = "The head with the largest effect is enough" if one else several
    assert f"{enough}: with all others muted, the answer stays." in text_of(app)
    curve = [row["value"] for row in chart_rows(app, "count")]
    assert len(curve) == 33
    assert curve[20] == pytest.approx(shares[20], abs=1e-5)
    said = f"With all 32 heads muted, the probability is {percent(shares[32], 1)}."
    assert said in [caption.value for caption in app.caption]


def test_a_head_is_muted_beside_others_and_given_back():
    app = opened(PAGE, text=TEXT, layer="2", head="5")
    assert "layer 3, head 6:" in text_of(app).replace("*", "")
    button(app, "Mute it").click().run()
    button(app, "Unmute it")
    two = opened(PAGE, text=TEXT, layer="0", head="3", muted="2.5")
    button(two, "Mute it").click().run()
    both = Edits(muted=frozenset([HeadSite("encoder", 2, 5), HeadSite("encoder", 0, 3)]))
    after = load_checkpoint("sentiment").classify(TEXT, both)["positive"]
    assert "Muted together: head 4 of layer 1, head 6 of layer 3." in text_of(two)
    assert f"→ {100 * after:.1f} %" in text_of(two)
    assert [row["text"] for row in values(two, 0) if row["text"].endswith("×")] != []
    of_every_head = "In the picture they have a ×. All else on this page starts from the model with every head."
    assert of_every_head in [caption.value for caption in two.caption]
    button(two, "Unmute all").click().run()
    assert "Muted together" not in text_of(two)


def test_what_the_chosen_head_adds_directly_is_its_part_of_the_logit():
    checkpoint = load_checkpoint("stories")
    trace = checkpoint.trace(TEXT)
    part = logit_parts(checkpoint, trace)[Part("self", 4, 6)]
    assert trace.logits is not None
    app = opened(PAGE, checkpoint="stories", text=TEXT, layer="4", head="6")
    (said,) = [caption.value for caption in app.caption if caption.value.startswith("It adds")]
    expected = f"It adds {part:+.2f} directly to the answer's logit, which is {float(trace.logits[-1].max()):.2f}."
    assert said.replace("−", "-").startswith(expected)
    translator = opened(PAGE, checkpoint="translate-en-fr", text=TEXT)  # its encoder's heads have no direct part
    assert not [caption for caption in translator.caption if caption.value.startswith("It adds")]


@pytest.mark.parametrize(("address", "total"), [({}, "lead"), ({"summed": "logit"}, "logit")])
def test_the_waterfall_sums_to_the_lead_of_two_classes_or_to_the_logit(address, total):
    checkpoint = load_checkpoint("sentiment")
    logits = checkpoint.trace(TEXT).logits
    assert logits is not None
    rows = chart_rows(opened(PAGE, text=TEXT, layer="2", head="5", **address), "row")
    expected = float(logits.max() - logits.min()) if total == "lead" else float(logits.max())
    assert rows[-1]["name"] == f"= {total}"
    assert rows[-1]["to"] == pytest.approx(expected, abs=1e-4)
    assert sum(row["value"] for row in rows[:-1]) == pytest.approx(expected, abs=1e-4)
    assert [row["name"] for row in rows if row["layer"] == 2] == [f"layer 3, head {head + 1}" for head in range(8)]


@pytest.mark.parametrize("name", ["sentiment", "stories", "translate-en-fr"])
def test_the_last_row_of_the_lens_is_the_models_own_answer_and_the_first_is_of_the_embedding(name):
    trace = load_checkpoint(name).trace(TEXT)
    assert trace.logits is not None
    cells = {
        (row["after"], row["column"]): row for row in chart_rows(opened(PAGE, checkpoint=name, text=TEXT), "after")
    }
    depth, columns = len(trace.output_stack.blocks), len(trace.output_stack.ids) + (name == "sentiment")
    assert {after for after, _ in cells} == {"embedding", *map(str, range(1, depth + 1))}
    assert len(cells) == (depth + 1) * columns
    own = trace.logits.double().softmax(dim=-1).max(dim=-1).values.reshape(-1).tolist()
    shown = [cells[str(depth), column]["probability"] for column in range(columns)]
    assert shown[: len(own)] == pytest.approx(own, abs=1e-5)


def test_the_means_of_the_examples_are_another_baseline():
    zero, reference = (numbers(opened(PAGE, text=TEXT, baseline=name)) for name in ("zero", "reference"))
    assert max(abs(zero[site] - reference[site]) for site in zero) > 0.01


def test_a_model_that_takes_longer_shows_what_there_is_and_goes_on(monkeypatch):
    monkeypatch.setattr(head_effects, "AT_ONCE", 0.0)
    head_effects.effects_cache.clear()
    app = opened(PAGE, text="A cat sleeps.")
    assert app.title[0].value == "Which heads does this answer depend on?"
    assert "Muting one head after the other" in text_of(app)
    monkeypatch.setattr(head_effects, "AT_ONCE", 60.0)
    assert text_of(app.run()).startswith("Without head")


def test_the_file_has_every_head_with_all_digits(sentiment):
    checkpoint = load_checkpoint("sentiment")
    effects = head_effects.HeadEffects(
        attention="encoder",
        outcome=outcome_of(checkpoint, checkpoint.trace(TEXT)),
        named="positive",
        before=0.9,
        without=sentiment + 0.9,
        turned=np.zeros(sentiment.shape, bool),
        odds_before=2.0,
        odds_without=sentiment + 2.0,
        unit="points",
        layers_left=0,
    )
    skip, fact, *lines = effects.table({"text": TEXT}).splitlines(keepends=True)
    assert (skip, fact) == ("# read: pandas.read_csv(file, skiprows=2)\n", f"# text: {TEXT}\n")
    rows = list(csv.DictReader(io.StringIO("".join(lines))))
    assert len(rows) == 32
    assert float(rows[9]["log-odds without it"]) == (sentiment + 2.0)[1, 1]
    assert float(rows[9]["probability without it"]) == (sentiment + 0.9)[1, 1]
    assert (rows[9]["layer"], rows[9]["head"], rows[9]["another answer is likelier"]) == ("2", "2", "0")


def test_a_head_that_turns_the_answer_comes_before_larger_effects_and_its_cell_is_marked():
    checkpoint = load_checkpoint("translate-en-fr")
    text, changes = next((text, turning) for text in TRANSLATED if (turning := turning_heads(checkpoint, text)))
    app = opened(PAGE, checkpoint="translate-en-fr", text=text, attention="encoder")
    most = max(changes, key=lambda site: changes[site])
    assert f"Without head {most[1] + 1} of layer {most[0] + 1}" in text_of(app)


def turning_heads(checkpoint: Checkpoint, text: str) -> dict[tuple[int, int], float]:
    """The heads of the encoder without which the translator writes something else, and the size of their effect."""
    trace = checkpoint.trace(text)
    changes, outcome = measured(checkpoint, trace, "encoder"), outcome_of(checkpoint, trace)
    edits = {site: Edits(muted=frozenset([HeadSite("encoder", *site)])) for site in np.ndindex(*changes.shape)}
    return {
        (site[0], site[1]): abs(float(changes[site]))
        for site, without in edits.items()
        if answers_otherwise(outcome, checkpoint.trace_again(trace, without))
    }


def test_what_is_written_without_the_head_of_the_title_is_said_and_which_head_has_a_larger_effect():
    """Of one of the texts a head of the encoder turns a token that has not the largest effect."""
    checkpoint = load_checkpoint("translate-en-fr")
    for text in TRANSLATED:
        turned, trace = turning_heads(checkpoint, text), checkpoint.trace(text)
        changes = np.abs(measured(checkpoint, trace, "encoder"))
        site = max(turned, key=turned.__getitem__, default=None)
        if site is not None and changes[site] < changes.max():
            break
    else:
        pytest.fail("of every text the head with the largest effect turns it, or none does")
    edits = {site: Edits(muted=frozenset([HeadSite("encoder", *site)]))}
    said = text_of(opened(PAGE, checkpoint="translate-en-fr", text=text, attention="encoder"))
    assert said.startswith(f"Without head {site[1] + 1} of layer {site[0] + 1} of the encoder self-attention, ")
    traces: Any = trace, checkpoint.trace(text, edits=edits[site])
    written = [checkpoint.tokenizer.decode(each.decoder.ids.tolist()).strip() for each in traces]
    assert written[0] != written[1]
    assert f"The model then writes “{written[1]}” " in said
    signed, largest = measured(checkpoint, trace, "encoder"), np.unravel_index(changes.argmax(), changes.shape)
    change = f"{100 * signed[largest]:+.1f}".replace("-", "−")
    larger = f"Without head {largest[1] + 1} of layer {largest[0] + 1} the change is larger, {change} points"
    assert f"{larger}, but the answer stays." in said


def test_of_an_answer_that_is_nearly_sure_nats_are_said_to_tell_more():
    sure = {"text": "I wanted to like it, but the plot makes no sense."}
    shown = [
        "a probability can hardly rise: nats" in text_of(opened(PAGE, **at))
        for at in (sure, sure | {"unit": "nats"}, {"text": "The acting is not bad at all."})
    ]
    assert shown == [True, False, False]


def test_the_head_of_another_attention_that_has_a_larger_effect_is_named():
    checkpoint = load_checkpoint("translate-en-fr")
    trace = checkpoint.trace(TEXT)
    stacks = {"encoder": ("encoder", "self"), "decoder": ("decoder", "self"), "cross": ("decoder", "cross")}
    changes = {name: measured(checkpoint, trace, *where) for name, where in stacks.items()}
    largest = max(changes, key=lambda name: np.abs(changes[name]).max())
    layer, head = np.unravel_index(np.abs(changes[largest]).argmax(), changes[largest].shape)
    for name in stacks:
        app = opened(PAGE, checkpoint="translate-en-fr", text=TEXT, attention=name)
        said = [caption.value for caption in app.caption if "largest effect" in caption.value]
        if name == largest:
            assert said == []
            continue
        (line,) = said
        assert line.startswith(f"Of all attentions, head {head + 1} of layer {layer + 1} of the ")
        assert TITLES[largest].partition(",")[0] in line
        assert abs(changes[largest][layer, head]) >= 0.01
        assert line.endswith(f": {decimal(float(100 * changes[largest][layer, head]), '+.1f')} points.")


def test_another_attention_has_no_head_chosen():
    app = opened(PAGE, checkpoint="translate-en-fr", text=TEXT, attention="encoder", layer="1", head="4")
    assert "**layer 2, head 5**: " in text_of(app)
    app.radio(key="heads_attention").set_value("cross").run()
    shown = numbers(app)
    layer, head = max(shown, key=lambda site: abs(shown[site]))
    assert f"**layer {layer + 1}, head {head + 1}**: " in text_of(app)


def test_the_mean_in_the_place_of_the_head_of_the_title_is_said_where_it_changes_the_answer_otherwise():
    text = SENTENCES[0]
    said = text_of(opened(PAGE, text=text))
    found = re.match(r"Without head (\d) of layer (\d), the verdict “positive” goes from", said)
    assert found is not None
    head, layer = (int(number) - 1 for number in found.groups())
    mean = Edits(averaged=frozenset([HeadSite("encoder", layer, head)]))
    checkpoint = load_checkpoint("sentiment")
    change = 100 * (checkpoint.classify(text, mean)["positive"] - checkpoint.classify(text)["positive"])
    assert f"with its mean in this text there, the change is {decimal(change, '+.1f')} points" in said
    assert "with its mean in this text there" not in text_of(opened(PAGE, text=text, baseline="reference"))


def test_of_one_token_the_mean_over_the_text_is_no_finding():
    said = text_of(opened(PAGE, text="good"))
    assert said.startswith("Without head")
    assert "with its mean in this text" not in said


def test_heads_are_enough_by_the_most_that_can_be_muted_though_the_answer_was_another_before():
    counts, turned = (0, 1, 2, 3, 4), np.array([False, True, False, False, True])
    assert head_effects.Curve(counts=counts, values=np.zeros(5), turned=turned).kept() == 3
    assert head_effects.Curve(counts=counts, values=np.zeros(5), turned=np.ones(5, bool)).kept() == 0


def test_heads_muted_together_are_replaced_as_the_page_says():
    app = opened(PAGE, text=TEXT, layer="2", head="5", muted="2.5", baseline="mean")
    assert "Muted: head 6 of layer 3, with its mean in this text in its place." in text_of(app)
    mean = Edits(averaged=frozenset([HeadSite("encoder", 2, 5)]))
    after = 100 * load_checkpoint("sentiment").classify(TEXT, mean)["positive"]
    assert re.search(rf"→ ({after:.1f}|{after:.2f}) %", text_of(app).replace("\u00a0", " "))
    app = opened(PAGE, text=TEXT, layer="2", head="5", muted="1.0_2.5", baseline="reference")
    checkpoint = load_checkpoint("sentiment")
    means = mean_contexts(checkpoint, head_effects.example_passes(checkpoint).values())
    with held(checkpoint, [HeadSite("encoder", 2, 5), HeadSite("encoder", 1, 0)], means):
        after = checkpoint.classify(TEXT)["positive"]
    assert "with their means over the examples in their place. positive: " in text_of(app)
    assert f"→ {100 * after:.2f} % without them" in text_of(app).replace("\u00a0", " ")


def test_in_nats_every_cell_is_the_change_of_the_log_odds():
    checkpoint, shown = load_checkpoint("sentiment"), numbers(opened(PAGE, text=TEXT, unit="nats"))

    def odds(edits: Edits) -> float:
        logits = checkpoint.trace(TEXT, edits=edits).logits
        assert logits is not None
        return float(logits[1] - logits[0])

    for site in ((0, 3), (2, 5), (3, 0)):
        muted = Edits(muted=frozenset([HeadSite("encoder", *site)]))
        assert shown[site] == pytest.approx(odds(muted) - odds(Edits()), abs=1e-4)


def test_the_runner_up_is_named_with_how_far_it_is_behind():
    trace = load_checkpoint("stories").trace(TEXT)
    assert trace.logits is not None
    (first, second), _ = trace.logits[-1].double().topk(2)
    share = 100 * float(trace.logits[-1].double().softmax(dim=-1).topk(2).values[1])
    said = text_of(opened(PAGE, checkpoint="stories", text=TEXT))
    assert f"with {share:.1f} %; its logit is {float(first - second):.2f} lower." in said


def test_a_mask_goes_in_the_place_of_the_last_word():
    assert with_mask("The film was good.", "[MASK]") == "The film was [MASK]."
    assert with_mask("...", "[MASK]") == "..."


def test_the_chosen_head_is_said_to_be_what_the_file_of_scores_says():
    app = opened("heads.py", checkpoint="stories", layer="5", head="0")
    (said,) = [
        caption.value
        for caption in app.main.caption
        if caption.value.startswith("Over 430 sentences of reviews in the treebank UD English EWT")
    ]
    scores = read_head_scores(CHECKPOINTS / "stories")
    assert scores is not None
    table = scores.kinds["decoder"]["induction"]
    said = said.replace("\\", "")
    assert f"induction ({table.scores[5, 0]:.2f} beside a null of {table.nulls[5, 0]:.2f})" in said
