"""The page Compare, without a browser: its numbers against loops over whole passes, its states and its address."""

import csv
import io
import json
import re
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from streamlit.testing.v1 import AppTest

from model import Checkpoint, Edits, HeadSite, Overwrite, load_checkpoint
from model.measures.causes.patching import head_patching, stream_patching, weight_patching
from model.measures.two_runs.aligned_heads import AttentionPairing
from model.measures.two_runs.token_pairs import token_pairs
from pages.parts.compare import patched_answers
from pages.parts.compare.compared_heads import ComparedHeads, compared_heads
from pages.parts.compare.second_text import second_text
from pages.parts.compare.settings import CompareSettings
from pages.parts.compare.token_links import with_link
from pages.parts.compare.two_passes import TwoPasses
from pages.parts.edit import kept_edits
from pages.parts.state.selection import EXAMPLES, Selection
from tests.folders import KINDS
from tests.pages.test_break import values
from tests.pages.test_every_page import button, component, link, opened, taken, typed
from tests.pages.test_heads import text_of
from viz.text.causes.two_runs import ONE_PARTNER, ONE_TOKEN, SAME_PASSES, WRONG_WAY, patch_sentence, title

PAGE = "compare.py"
FILM, SWAPPED = "The film was slow, but I loved it.", "I loved the film, but it was slow."
LONGER = "The new film was not slow, but we loved it."
MADE_OF_A = "B is A with its halves swapped, as this page made it: type a text of your own."


def numbers(app: AppTest) -> dict[tuple[int, int], float]:
    """The picture's numbers, by layer and head."""
    assert not app.exception
    assert not app.error
    return {(row["layer"], row["head"]): row["effect"] for row in values(app, 0)}


def moved(first: Any, second: Any, pairs: Any) -> float:
    """The share of two heads' weights that is elsewhere, key by key: half of what the rows of partners differ by."""
    partners, shares = dict(pairs), []
    for query, other in pairs:
        kept = sum(min(float(first[query, key]), float(second[other, partners[key]])) for key in partners)
        shares.append((float(first[query].sum()) + float(second[other].sum())) / 2 - kept)
    return float(np.mean(shares))


@pytest.mark.parametrize("other", [SWAPPED, LONGER])
def test_every_cell_is_the_share_of_attention_that_is_elsewhere(other):
    checkpoint = load_checkpoint("sentiment")
    traces: Any = [checkpoint.trace(text) for text in (FILM, other)]
    pairs = token_pairs(traces[0].encoder, traces[1].encoder).pairs
    shown = numbers(opened(PAGE, text=FILM, other=other))
    weights = [trace.encoder.weights() for trace in traces]
    for layer, head in np.ndindex(4, 8):
        expected = moved(weights[0][layer, head].double(), weights[1][layer, head].double(), pairs)
        assert shown[layer, head] == pytest.approx(expected, abs=1e-6)


def test_a_head_that_is_edited_and_muted_is_said_to_be_both_and_zero_stands_in_its_place():
    site = HeadSite("encoder", 0, 2)
    edit = Edits(overwritten=frozenset([Overwrite(site, 1, 2, 0.8, renormalise=False)])).to_text()
    address = {"text": FILM, "against": "edits", "edits": edit}
    both = opened(PAGE, **address, muted="0.2", baseline="mean")
    captions = " ".join(caption.value for caption in both.caption)
    assert "Head 3 of layer 1 is muted, too: what was set of its weights changes nothing." in captions
    assert "On Heads that matter, the mean of each in this text stands in its place." in captions
    assert "B in Edit" not in [link.proto.label for link in both.get("page_link")]
    edited = opened(PAGE, **address)
    assert "is muted, too" not in " ".join(caption.value for caption in edited.caption)
    assert "B in Edit" in [link.proto.label for link in edited.get("page_link")]


def test_a_title_says_where_a_head_is_as_far_from_its_partner_as_one_that_looks_at_random():
    less, alike, more = (title((0, 1), 0.9, ("“a”", "“b”"), by_chance=chance) for chance in (0.5, 0.905, 0.99))
    assert alike.endswith("of its attention moves, as much as by chance.")
    assert more.endswith("of its attention moves, less than by chance.")
    assert less.endswith("of its attention moves.")
    of_two = (title((0, 1), 0.9, ("“a”", "“b”"), "other", by_chance=chance) for chance in (0.5, 0.905, 0.99))
    for said, beside in zip(of_two, ("", ", as much as by chance", ", less than by chance"), strict=True):
        assert said.startswith("Of all heads, head 2 of layer 1 is least like any of other")
        assert said.replace("\u00a0", " ").endswith(f"has 90 % of its attention elsewhere{beside}.")


def test_of_texts_that_share_one_token_the_title_says_so():
    app = opened(PAGE, text="A cold rain fell.", other="My young teacher always smiled at us.")
    assert app.title[0].value == ONE_PARTNER
    assert "looks most at" in text_of(app)


def test_a_token_of_the_title_that_comes_again_has_its_place():
    texts = "Slow start, slow end, but I loved it.", "Slow start, slow end, and nobody loved it."
    app, checkpoint = opened(PAGE, text=texts[0], other=texts[1]), load_checkpoint("sentiment")
    shown = numbers(app)
    layer, head = max(shown, key=lambda site: (shown[site], -site[0]))
    traces: Any = [checkpoint.trace(text) for text in texts]
    pairs = token_pairs(traces[0].encoder, traces[1].encoder).pairs
    named = []
    for side, trace in enumerate(traces):
        rows = trace.encoder.weights()[layer, head][[pair[side] for pair in pairs]]
        most, tokens = int(rows.sum(dim=0).argmax()), [token.strip() for token in trace.encoder.tokens]
        again = f" (token {most + 1})" if tokens.count(tokens[most]) > 1 else ""
        named.append(f"“{tokens[most]}”{again}")
    assert "(token" in "".join(named)
    assert f"looks most at {named[0]} in A and at {named[1]} in B" in text_of(app)


def test_the_title_names_the_head_that_moves_most_and_both_verdicts():
    app = opened(PAGE, text=FILM)
    shown = numbers(app)
    layer, head = max(shown, key=lambda site: (shown[site], -site[0]))
    checkpoint, said = load_checkpoint("sentiment"), text_of(app)
    assert said.startswith(f"Layer {layer + 1}, head {head + 1} looks most at")
    first, second = (100 * checkpoint.classify(text)["positive"] for text in (FILM, SWAPPED))
    assert f"Verdict: A positive {first:.1f} %, B negative {100 - second:.1f} %." in said
    half = sum(number >= 0.5 for number in shown.values())
    assert f"Of 32 heads, {half} heads have half of the attention elsewhere in B, or more" in said
    assert f"the median head has {100 * np.median(list(shown.values())):.0f} %" in said


def test_the_matrices_are_the_weights_of_the_chosen_head_on_the_aligned_tokens():
    app = opened(PAGE, text=FILM, layer="1", head="2")
    data = json.loads(component(app, "headlight_comparison").json)
    checkpoint = load_checkpoint("sentiment")
    traces: Any = [checkpoint.trace(text) for text in (FILM, SWAPPED)]
    pairs = dict(token_pairs(traces[0].encoder, traces[1].encoder).pairs)
    first, second = (trace.encoder.weights()[1, 2].numpy() for trace in traces)
    np.testing.assert_allclose(data["before"], first, atol=1e-6)
    order = [pairs[place] for place in range(10)]
    np.testing.assert_allclose(data["after"], second[np.ix_(order, order)], atol=1e-6)
    np.testing.assert_allclose(data["change"], second[np.ix_(order, order)] - first, atol=1e-6)
    assert data["sides"] == ["A", "B"]


def test_the_same_text_twice_says_that_nothing_differs():
    app = opened(PAGE, text=FILM, other=FILM)
    assert text_of(app).startswith("The two texts are the same: every difference is 0.")
    assert set(numbers(app).values()) == {0.0}


def test_a_muted_head_is_compared_with_the_model_as_it_is():
    app = opened(PAGE, text=FILM, against="edits", muted="1.2")
    shown = numbers(app)
    checkpoint = load_checkpoint("sentiment")
    muted = Edits(muted=frozenset([HeadSite("encoder", 1, 2)]))
    before, after = (checkpoint.trace(FILM, edits=edits) for edits in (Edits(), muted))
    pairs = [(place, place) for place in range(10)]
    weights = [trace.encoder.weights().double() for trace in (before, after)]  # type: ignore[union-attr]
    assert shown[3, 4] == pytest.approx(moved(weights[0][3, 4], weights[1][3, 4], pairs), abs=1e-6)
    assert shown[1, 2] == 0


def test_a_and_b_open_where_each_can_be_seen():
    app = opened(PAGE, text=FILM, against="edits", muted="1.2")
    first, second = (dict(parse_qsl(link(app, name).query_string)) for name in ("A in Explore", "B in Explore"))
    assert "muted" not in first
    assert second["muted"] == "1.2"
    app = opened(PAGE, text=FILM, against="edits", edits="scale_1")
    assert dict(parse_qsl(link(app, "B in Break the formula").query_string))["edits"] == "scale_1"


def test_a_distance_stands_beside_that_by_chance():
    app = opened(PAGE, text=FILM, other="The film was fast, but I loved it.")
    found = re.search(
        r"By chance, with its weights in B shuffled, the head that differs most would have (\d+)", text_of(app)
    )
    assert found is not None
    assert f"is elsewhere; by chance {found[1]} %" in text_of(app).replace("\u00a0", " ")


def test_without_an_edit_the_page_says_so_and_leads_to_one():
    app = opened(PAGE, text=FILM, against="edits")
    assert not app.exception
    assert "No edit is kept and no head is muted" in app.error[0].value
    button(app, "Compare two texts").click().run()
    assert not app.error
    assert len(numbers(app)) == 32


def test_an_edit_too_long_for_an_address_is_compared_as_well(monkeypatch):
    site = HeadSite("encoder", 1, 2)
    edits = Edits(overwritten=frozenset(Overwrite(site, query, 0, 1.0, True) for query in range(10)))
    monkeypatch.setattr(kept_edits, "LONGEST_EDIT", 10)
    app = opened(PAGE, text=FILM, against="edits", **kept_edits.changes_of(edits.to_text()))
    checkpoint = load_checkpoint("sentiment")
    traces: Any = [checkpoint.trace(FILM, edits=each) for each in (Edits(), edits)]
    first, second = (trace.encoder.weights() for trace in traces)
    expected = 0.5 * (first - second).abs().sum(dim=-1).mean(dim=-1)
    shown = numbers(app)
    assert [shown[each] for each in np.ndindex(4, 8)] == pytest.approx(expected.flatten().tolist(), abs=1e-6)
    assert shown[1, 2] > 0.1


def test_what_carries_the_difference_names_the_token_of_b_that_it_takes(monkeypatch):
    monkeypatch.setattr(patched_answers, "AT_ONCE", 300.0)
    good, bad = "The food was good.", "The food was bad."
    assert "With the stream at 4 · good (there of 4 · bad), as it enters layer" in text_of(
        opened(PAGE, text=good, other=bad, part="stream")
    )


@pytest.mark.parametrize(
    ("in_second", "least", "ends"),
    [
        (0.9891, 0.989, "There is little to carry: in B, this answer has 98.9 %."),
        (0.985, 0.97, "That is away from B: in B, this answer has 98.5 %."),
        (0.9949, 0.5, "That is all of the difference: in B, this answer has 99.5 %."),
        (0.2, 0.989, f"That is away from B: in B, this answer has 20.0 %. {WRONG_WAY}"),
        (None, 0.989, WRONG_WAY),
        (0.2, 0.5, "The other way, layer 1, head 4 does most: the answer goes from 98.9 % to 50.0 %."),
        (1.0, 0.5, "no other head changes it more. In B, this answer has 100.0 %."),
    ],
)
def test_where_a_part_speaks_for_the_answer_it_is_said_what_speaks_against_it(in_second, least, ends):
    most, against = ("layer 1, head 2", 0.995), ("layer 1, head 4", least)
    said = patch_sentence("label", "negative", "heads", most, against, 0.989, in_second)
    said = said.replace("\u00a0", " ").replace("\\", "")
    assert said.endswith(ends)


@pytest.mark.parametrize(
    ("kind", "part", "said"),
    [
        ("label", "stream", "the stream at any one token from B, the answer of A changes by less than 0.1 points."),
        ("next", "heads", "any one head from B, the answer of A changes by less than 0.1 points."),
        ("label", "weights", "the weights of any one head from B, the answer of A changes by less than 0.1 points."),
        ("stream", "heads", "any one head from B, the last vectors move by less than 0.1 %."),
    ],
)
def test_where_no_part_carries_anything_it_is_said_of_which_parts(kind, part, said):
    before = 0.0 if kind == "stream" else 0.989
    most, least = ("it", before + 0.0001), ("it", before - 0.0001)
    assert patch_sentence(kind, "negative", part, most, least, before, 0.95) == f"With {said}"


def test_of_two_texts_of_one_word_it_is_said_why_no_head_looks_elsewhere():
    app = opened(PAGE, text="Good", other="Bad")
    assert app.title[0].value == SAME_PASSES
    said = text_of(app)
    assert f"{ONE_TOKEN} Of 32 heads, no head has half" in said
    assert "By chance" not in said.partition("Verdict")[0]


def test_explore_of_b_keeps_a_as_the_other_text():
    app = opened(PAGE, text=FILM, other=LONGER)
    there = dict(parse_qsl(link(app, "B in Explore").query_string))
    assert there["text"] == LONGER
    back = opened(PAGE, **there)
    assert back.text_input(key="compare_other").value == FILM
    models = opened(PAGE, text=FILM, other=LONGER, against="model", other_model="stories")
    assert dict(parse_qsl(link(models, "B in Explore").query_string))["other"] == LONGER


def test_a_causal_mask_in_one_of_two_models_is_said():
    one, none = (
        "has a causal mask" in text_of(opened(PAGE, text=FILM, **at))
        for at in ({"against": "model", "other_model": "stories"}, {"other": LONGER})
    )
    assert (one, none) == (True, False)


def test_texts_without_a_token_in_common_are_compared_and_their_partners_can_be_chosen():
    app = opened(PAGE, text="Hello", other="Good morning everyone")
    assert not app.error
    assert "Without a partner: 2 of B (tokens)." in text_of(app)
    assert component(app, "headlight_token_links")


def test_of_a_translation_the_page_says_which_attention_is_compared():
    for attention, named in (("encoder", "encoder self-attention"), ("cross", "cross-attention")):
        said = text_of(opened(PAGE, text="The dog bit the man.", checkpoint="translate-en-fr", attention=attention))
        assert f"Of 24 heads of the {named}, " in said
        assert f"** ({named})" in said or f" ({named})**" in said


def test_what_the_answer_of_a_has_in_b_is_said_of_every_kind_of_answer(monkeypatch):
    monkeypatch.setattr(patched_answers, "AT_ONCE", 60.0)
    text, other = "The cat was happy and the sun was warm.", "The cat was sad and the sun was cold, too."
    stories, translator = load_checkpoint("stories"), load_checkpoint("translate-en-fr")
    first, second = (stories.trace(each).logits[-1].double().softmax(dim=-1) for each in (text, other))  # type: ignore[index]
    share = float(second[first.argmax()])
    said = text_of(opened(PAGE, text=text, other=other, checkpoint="stories"))
    assert f"n B, this answer has {100 * share:.1f} %." in said
    read = translator.trace(text).decoder.ids.tolist()  # type: ignore[union-attr]
    both = [translator.trace_ids(translator.tokenizer.encode(each).ids, read).logits for each in (text, other)]
    answers = [*read[1:], int(both[0][-1].argmax())]  # type: ignore[index]
    shares = both[1].double().softmax(dim=-1)[range(len(answers)), answers]  # type: ignore[union-attr]
    said = text_of(opened(PAGE, text=text, other=other, checkpoint="translate-en-fr"))
    assert f"n B, this answer has {100 * float(shares.mean()):.1f} %." in said


def test_a_second_text_that_the_page_made_is_said_to_be_made():
    made = [
        MADE_OF_A in [caption.value.replace("\\", "") for caption in opened(PAGE, **at).caption]
        for at in ({"text": FILM}, {"text": FILM, "other": LONGER})
    ]
    assert made == [True, False]


def test_models_of_other_sizes_are_compared_with_the_most_similar_head():
    app = opened(PAGE, text=FILM, against="model", other_model="stories")
    assert len(numbers(app)) == 32
    assert "sentiment has 32 heads in this attention and stories has 48" in text_of(app)
    assert re.match(r"Of all heads, head \d of layer \d is least like any of stories: ", text_of(app))


def test_translations_read_one_target_so_that_their_attentions_can_be_compared():
    address = {"checkpoint": "translate-en-fr", "text": "The red house is big.", "attention": "cross"}
    app = opened(PAGE, **address, layer="1", head="4")
    assert len(numbers(app)) == 24
    checkpoint = load_checkpoint("translate-en-fr")
    first: Any = checkpoint.trace("The red house is big.")
    own: Any = checkpoint.trace("The green house is big.")
    second: Any = checkpoint.trace_ids(own.encoder.ids.tolist(), first.decoder.ids.tolist())
    rows = [trace.decoder.blocks[1].cross_attention.weights[4].double().numpy() for trace in (first, second)]
    expected = np.abs(rows[0] - rows[1]).sum(-1).mean() / 2  # every token of the source has its partner
    assert numbers(app)[1, 4] == pytest.approx(expected, abs=1e-6)


def test_partners_made_by_hand_come_from_the_address_and_are_checked():
    app = opened(PAGE, text="A dog.", other="A cat.", aligned="0.0.1.2.2.1")
    assert "These partners were chosen by hand." in text_of(app)
    assert json.loads(component(app, "headlight_token_links").json)["pairs"] == [[0, 0], [1, 2], [2, 1]]
    button(app, "As found").click().run()
    assert json.loads(component(app, "headlight_token_links").json)["pairs"] == [[0, 0], [1, 1], [2, 2]]
    for aligned in ("0.0.0.1", "0.99", "0"):
        refused = opened(PAGE, text="A dog.", other="A cat.", aligned=aligned)
        assert not refused.exception
        assert any("gives no usable value for aligned" in info.value for info in refused.info)
    other = taken(opened(PAGE, text="A dog.", other="A cat.", aligned="0.0.1.2.2.1"), text="A bird.")
    assert "aligned" not in other.query_params


def test_a_link_joins_two_tokens_and_parts_two_partners():
    pairs = ((0, 0), (1, 1), (2, 2))
    assert with_link(pairs, (1, 1)) == ((0, 0), (2, 2))
    assert with_link(pairs, (1, 2)) == ((0, 0), (1, 2))


def test_a_second_text_stands_in_the_address_and_comes_back():
    app = taken(opened(PAGE, text=FILM), other=LONGER)
    assert app.query_params["other"] == LONGER
    again = opened(PAGE, **dict(app.query_params))
    assert numbers(again) == numbers(app)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("against", ["text", "model"])
def test_every_family_is_compared(name, against, app_folders):
    app = opened(PAGE, checkpoint=name, text="the dog bit the man .", other="the cat saw the man .", against=against)
    assert numbers(app)


def test_the_page_finds_a_second_text_for_any_first():
    assert second_text(FILM) == (SWAPPED, "with its halves swapped")
    assert second_text("The red house is big.") == ("The green house is big.", "with “green” in place of “red”")
    assert second_text("The dog bit people.") == ("The people bit dog.", "with “people” and “dog” exchanged")
    assert second_text("Hello") == ("Hello Hello", "written twice")


@pytest.mark.parametrize("address", [{"text": " "}, {"text": "a" * 3000}, {"other": " "}, {"other": "x" * 5000}])
def test_blank_and_endless_texts_cost_a_sentence_at_most(address):
    app = opened(PAGE, **address)
    assert not app.exception
    assert app.title


def heads_of(checkpoint: Checkpoint, texts: tuple[str, str]) -> ComparedHeads:
    """Two texts compared, as the page does it."""
    traces: Any = [checkpoint.trace(text) for text in texts]
    units = token_pairs(traces[0].text_stack, traces[1].text_stack)
    passes = TwoPasses(
        selections=(Selection(text=texts[0]), Selection(text=texts[1])),
        checkpoints=(checkpoint, checkpoint),
        traces=(traces[0], traces[1]),
        own=traces[1],
        edits=Edits(),
        found=units,
        units=units,
        pairing=AttentionPairing(queries=units, keys=units),
        names=("encoder", "encoder"),
        target="",
        key=texts,
    )
    return compared_heads(CompareSettings(), passes)


def test_the_files_have_every_head_and_every_weight_with_all_digits():
    heads = heads_of(load_checkpoint("sentiment"), (FILM, LONGER))
    rows = list(csv.DictReader(io.StringIO(heads.table())))
    assert [float(row["distance"]) for row in rows] == sorted(heads.distances.ravel().tolist(), reverse=True)
    lines = list(csv.DictReader(io.StringIO(heads.weights_table((1, 2)))))
    assert len(lines) == len(heads.passes.pairing.queries.pairs) * len(heads.passes.pairing.keys.columns())
    assert all(float(row["weight in B"]) - float(row["weight in A"]) == float(row["B - A"]) for row in lines)


@pytest.mark.parametrize("part", ["stream", "heads", "weights"])
def test_every_cell_of_the_effect_matrix_is_the_answer_with_that_part_from_the_other_text(part, monkeypatch):
    monkeypatch.setattr(patched_answers, "AT_ONCE", 300.0)
    app = opened(PAGE, text=FILM, part=part)
    assert not app.exception
    checkpoint = load_checkpoint("sentiment")
    trace, donor = checkpoint.trace(FILM), checkpoint.trace(SWAPPED)
    places = token_pairs(trace.text_stack, donor.text_stack).places()
    before = checkpoint.classify(FILM)["positive"]
    if part == "stream":
        expected = stream_patching(checkpoint, trace, donor, places)["encoder"].probability
    else:
        found = (
            head_patching(checkpoint, trace, donor, places)
            if part == "heads"
            else weight_patching(checkpoint, trace, donor)
        )
        expected = np.stack([said.probability for said in found.after.values()])
    cells = {(row["layer"], row["head"]): row["effect"] for row in values(app, 1)}
    assert cells.keys() == set(np.ndindex(*expected.shape))
    assert [cells[site] for site in sorted(cells)] == pytest.approx((expected - before).ravel().tolist(), abs=1e-5)


def test_two_models_have_no_part_to_exchange_and_texts_of_other_lengths_no_weights():
    assert "Two models have no part in common" in text_of(opened(PAGE, text=FILM, against="model"))
    app = opened(PAGE, text=FILM, other=LONGER)
    assert any("different lengths" in caption.value for caption in app.caption)


def test_the_heads_like_this_one_are_the_most_similar_over_the_texts_and_a_press_opens_one():
    app = opened(PAGE, text=FILM, layer="1", head="2")
    said = (
        "Most similar to head 3 of layer 2 in the mean over . texts, this one and examples, of the heads of sentiment"
    )
    assert re.search(said, text_of(app))
    checkpoint, rows = load_checkpoint("sentiment"), []
    for text in dict.fromkeys([FILM, *EXAMPLES]):
        trace: Any = checkpoint.trace(text)
        rows.append(trace.encoder.weights().double().numpy())
    alike = {}
    for layer, head in set(np.ndindex(4, 8)) - {(1, 2)}:
        pairs = [(each[1, 2, at], each[layer, head, at]) for each in rows for at in range(each.shape[-1])]
        alike[layer, head] = np.mean([1 - jensenshannon(*pair, base=2) ** 2 for pair in pairs])
    (layer, head), similarity = max(alike.items(), key=lambda each: each[1])
    assert f"layer {layer + 1}, head {head + 1}: similarity {100 * similarity:.1f} %, by chance" in text_of(app)
    next(each for each in app.button if each.label == "Choose it").click().run()
    assert f"layer {layer + 1}, head {head + 1}: " in text_of(app).replace("*", "").splitlines()[2]


def test_from_a_head_that_was_chosen_a_press_leads_back_to_that_of_the_title_for_the_next_text_too():
    app = opened(PAGE, text=FILM, layer="1", head="2")
    before = text_of(opened(PAGE, text=FILM))
    app.button(key="compare_most").click().run()
    assert text_of(app) == before
    assert "compare_most" not in {button.key for button in app.button}
    app = typed(app, LONGER)
    assert "compare_most" not in {button.key for button in app.button}


def test_whoever_asked_for_heads_like_one_sees_them_first():
    title = "Heads like this one"
    assert [part.value for part in opened(PAGE, text=FILM).subheader].index(title) > 1
    assert opened(PAGE, text=FILM, layer="1", head="2", alike="1").subheader[0].value == title


def test_two_models_each_name_their_similar_heads():
    said = text_of(opened(PAGE, text=FILM, against="model", other_model="stories"))
    assert "of the heads of sentiment; the average" in said
    assert "of the heads of stories; the average" in said


def test_what_was_muted_or_edited_elsewhere_is_said_not_to_count_unless_it_is_compared():
    edited = {"muted": "0.3", "edits": "weight_e1.2.3.2-0.9n"}
    said = [
        " ".join(
            caption.value for caption in opened(PAGE, text="The film was slow, but I loved it.", **address).caption
        )
        for address in ({}, edited, edited | {"against": "edits"})
    ]
    assert ["do not count" in each for each in said] == [False, True, False]
    assert "Heads that are muted and edits do not count" in said[1]
