"""How Explore opens: what was found, the sentence large, three changes with their results, and other heads."""

import json
import re
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest

from model import Edits, HeadSite, HiddenKey, available_checkpoints, load_checkpoint
from model.checkpoint import CHECKPOINTS
from model.measures.head_scores.score_file import read_head_scores
from pages.parts.explore import three_changes
from pages.parts.frame import downloads
from pages.parts.state.selection import EXAMPLES
from tests.first_example import FOUND, FOUND_ADDRESS, FOUND_NAME, LOVED
from tests.pages.test_every_page import SENTENCE, asked, button, component, follow, opened, taken
from viz.explorer.attention_kinds import kinds_of
from viz.export.share_picture import ShareWords, share_svg
from viz.text import head_findings
from viz.text.head_kind_tables import measured_on
from viz.text.swapped_halves import swapped_halves

QUESTION = "Which words does each head look at?"
SWAPPED = "I loved the film, but it was slow."


@pytest.fixture(scope="module")
def checkpoint():
    return load_checkpoint("sentiment")


def figure(app) -> dict[str, Any]:
    """What the large picture is drawn from."""
    return json.loads(component(app, "headlight_sentence").json)


def offered(app) -> list[dict[str, Any]]:
    """The cards of other heads."""
    proto = component(app, "headlight_cards")
    return [] if proto is None else json.loads(proto.json)["cards"]


def plain(text: str) -> str:
    return text.replace("\\", "").replace("\u00a0", " ")


def page_text(app) -> str:
    """All that the page says in Markdown."""
    return plain(" | ".join(text.value for text in app.markdown))


def positive(checkpoint, text=EXAMPLES[0], edits=None) -> str:
    return f"{100 * checkpoint.classify(text, edits or Edits())['positive']:.1f} %"


def test_the_title_is_the_word_that_every_word_looks_at_and_the_verdict_stands_under_it(checkpoint):
    app = opened()
    weights = checkpoint.trace(EXAMPLES[0]).encoder.weights()[FOUND]
    assert (weights.argmax(dim=-1) == LOVED).all()
    assert plain(app.title[0].value) == "Every word looks at “loved”."
    share = weights[:, LOVED].mean()
    much = "more than 99" if 0.995 < share < 1 else f"{100 * share:.0f}"
    verdict = positive(checkpoint)
    sentence = f"{FOUND_NAME} gives it {much} % of its attention. Verdict: positive {verdict}."
    assert plain(app.markdown[0].value) == sentence
    assert QUESTION in asked(app)


@pytest.mark.parametrize("name", ["sentiment", "stories", "translate-en-fr"])
@pytest.mark.parametrize("text", [EXAMPLES[0], SENTENCE])
def test_the_large_picture_is_drawn_from_the_weights_of_the_head_that_is_named(name, text):
    app = opened(checkpoint=name, text=text)
    picture = figure(app)
    layer, head = (int(part) - 1 for part in picture["head"].replace("Layer ", "").split(", head "))
    kind = next(iter(kinds_of(load_checkpoint(name).trace(text)).values()))
    assert np.abs(np.array(picture["weights"]) - kind.weights[layer][head]).max() <= 1e-6
    assert picture["head"].lower() in plain(" ".join([app.title[0].value, app.markdown[0].value])).lower()


def test_the_picture_of_cross_attention_has_the_target_above_the_source():
    app = opened(checkpoint="translate-en-fr", text="The red house is big.", attention="cross")
    picture = figure(app)
    assert [word["text"] for word in picture["rows"]][:3] == ["[START]", "La", "maison"]
    assert [word["text"] for word in picture["columns"]][:3] == ["The", "red", "house"]
    assert picture["rows"][0]["special"]
    assert picture["swappable"] == ["columns"]


def test_one_head_on_is_shown_and_said_and_several_leave_the_picture_on_the_found_one(checkpoint):
    app = opened(layer="1", off="1.0-6")
    weights = checkpoint.trace(EXAMPLES[0]).encoder.weights()[1, 7].numpy()
    assert figure(app)["head"] == "Layer 2, head 8"
    assert np.abs(np.array(figure(app)["weights"]) - weights).max() <= 1e-6
    assert "head 8" in page_text(app).split(" | ")[0] + app.title[0].value
    app = opened(layer="1", off="1.0-5")
    assert figure(app)["head"] == FOUND_NAME


INSIDE = {"layer": "1", "head": "7", "query": "2", "key": "3"}  # as the page Inside a head leaves it in the address


def test_a_head_that_was_chosen_on_the_page_inside_a_head_is_the_one_of_the_title_and_of_the_picture(checkpoint):
    weights = checkpoint.trace(EXAMPLES[0]).encoder.weights()[1, 7].numpy()
    alone = opened(layer="1", off="1.0-6")
    reached = opened("inside.py", **INSIDE).switch_page("pages/explore.py").run().run()
    for app in (opened(**INSIDE), reached):
        assert figure(app)["head"] == "Layer 2, head 8"
        assert np.abs(np.array(figure(app)["weights"]) - weights).max() <= 1e-6
        assert (app.title[0].value, app.markdown[0].value) == (alone.title[0].value, alone.markdown[0].value)
        assert "head 8" in app.markdown[0].value + app.title[0].value
    at = follow(reached, "Next: inside this head").query_params
    assert {name: at[name] for name in INSIDE} == INSIDE


def test_where_other_heads_are_chosen_than_that_of_the_title_the_sentence_says_so():
    told = {
        "The explorer below shows heads 7 and 8 of layer 2.": {"layer": "1", "off": "1.0-5"},
        "The explorer below shows all heads of layer 4.": {"layer": "3"},
    }
    assert FOUND[0] not in {1, 3}
    for sentence, address in told.items():
        app = opened(**address)
        assert figure(app)["head"] == FOUND_NAME
        assert app.markdown[0].value.endswith(sentence)
    for address in ({}, {"layer": str(FOUND[0])}, {"query": "2"}, {"layer": "1", "off": "1.0-6"}, INSIDE):
        assert "The explorer below" not in opened(**address).markdown[0].value


def test_of_a_head_that_does_nothing_notable_the_page_says_so_and_where_it_looks(checkpoint):
    text = "We got lost again."
    weights = checkpoint.trace(text).encoder.weights()
    for layer, head in np.ndindex(*weights.shape[:2]):
        off = f"{layer}.0-{head - 1}_" if head else ""
        off = f"{off}{layer}.{head + 1}-7" if head < 7 else off.rstrip("_")
        app = opened(text=text, layer=str(layer), off=off)
        if "no pattern" in app.title[0].value:
            assert (
                plain(app.title[0].value)
                == f"Layer {layer + 1}, head {head + 1} shows no pattern that stands out here."
            )
            assert f"Head {head + 1} of layer {layer + 1}" in page_text(app)
            return
    pytest.fail("every head is notable")


def test_muting_swapping_and_forbidding_say_what_they_do_to_the_verdict(checkpoint):
    app = opened()
    mute = Edits(muted=frozenset({HeadSite("encoder", *FOUND)}))
    hide = Edits(hidden=frozenset({HiddenKey("encoder", LOVED)}))
    now = positive(checkpoint)
    results = [text for text in page_text(app).split(" | ") if "→" in text]
    expected = []
    for text, edits in ((EXAMPLES[0], mute), (SWAPPED, Edits()), (EXAMPLES[0], hide)):
        after = checkpoint.classify(text, edits)
        turned = f", now negative {100 * after['negative']:.1f} %" if after["negative"] > after["positive"] else ""
        expected.append(f"**positive {now} → {100 * after['positive']:.1f} %{turned}**")
    assert results == expected
    assert any(SWAPPED in plain(caption.value) for caption in app.caption)


def test_the_button_mutes_the_head_and_gives_it_back(checkpoint):
    app = opened()
    button(app, "Mute this head").click().run()
    assert app.query_params["muted"] == FOUND_ADDRESS
    muted = positive(checkpoint, edits=Edits(muted=frozenset({HeadSite("encoder", *FOUND)})))
    assert f"Verdict with heads muted: positive {muted}." in page_text(app)
    assert f"its context is set to zero. Before muting: positive {positive(checkpoint)}." in page_text(app)
    assert f"**positive {muted} → {positive(checkpoint)}**" in page_text(app)
    button(app, "Unmute this head").click().run()
    assert "muted" not in app.query_params


def test_the_button_swaps_the_halves_and_swaps_them_back(checkpoint):
    app = opened()
    button(app, "Swap the halves").click().run()
    assert app.query_params["text"] == SWAPPED
    label, probability = max(checkpoint.classify(SWAPPED).items(), key=lambda each: each[1])
    assert f"Verdict: {label} {100 * probability:.1f} %" in page_text(app)
    button(app, "Swap the halves back").click().run()
    assert app.session_state["_selection"].text == EXAMPLES[0]


def test_halves_that_would_be_swapped_into_another_text_are_swapped_back_into_their_own():
    text = "My grandmother makes the best soup, though it is never hot enough."
    swapped = swapped_halves(text)
    assert swapped is not None
    assert swapped_halves(swapped) != text
    app = opened(text=text)
    for label, new_text in (("Swap the halves", swapped), ("Swap the halves back", text), ("Swap the halves", swapped)):
        button(app, label).click().run()
        assert app.session_state["_selection"].text == new_text


def test_of_one_token_alone_there_is_nothing_to_forbid():
    app = opened(text="hi")
    assert button(app, "Forbid looking at “hi”").disabled
    assert three_changes.ALONE in [caption.value for caption in app.caption]


def test_a_text_without_a_place_to_swap_at_says_what_to_do_instead():
    app = opened(text="The acting is not bad at all.")
    assert button(app, "Swap the halves").disabled
    assert three_changes.NO_HALVES + three_changes.SWAP_WORDS in [caption.value for caption in app.caption]


def test_forbidding_leads_to_the_experiment_with_the_same_result(checkpoint):
    label = next(link.proto.label for link in opened().get("page_link") if "Forbid" in link.proto.label)
    assert "loved" in label
    app = follow(opened(), label)
    assert not app.exception
    after = checkpoint.classify(EXAMPLES[0], Edits(hidden=frozenset({HiddenKey("encoder", LOVED)})))
    label, probability = max(after.items(), key=lambda each: each[1])
    assert f"{label} {100 * probability:.1f} %" in [plain(metric.value) for metric in app.metric]


@pytest.mark.parametrize("name", available_checkpoints())
@pytest.mark.parametrize("text", [EXAMPLES[0], "a", "a b, but c d", "no no no no", "unforgettably " * 90])
def test_every_model_and_odd_texts_get_the_whole_opening(name, text):
    app = opened(checkpoint=name, text=text)
    assert not app.exception
    assert not app.error
    assert len(app.title) == 1
    assert figure(app)["weights"]


def test_what_a_model_without_labels_says_is_set_side_by_side():
    writer, translator = (
        opened(checkpoint="stories"),
        opened(checkpoint="translate-en-fr", text="The red house is big."),
    )
    stories = load_checkpoint("stories")
    token, share = stories.likeliest(stories.trace(EXAMPLES[0]))
    assert f"Next token: “{token.replace(' ', '␣')}” {100 * share:.1f} % → " in page_text(writer)
    assert "Output: “La maison rouge est grande.”" in page_text(translator)
    assert "The output stays the same" in page_text(translator)


def test_cards_name_each_other_kind_of_head_once_with_what_chance_would_give(checkpoint):
    cards = offered(opened())
    weights = checkpoint.trace(EXAMPLES[0]).encoder.weights()
    assert 0 < len(cards) <= 6
    assert len({card["id"] for card in cards}) == len(cards)
    assert "points_at" not in {card["id"] for card in cards}, "that is the finding"
    tokens = checkpoint.trace(EXAMPLES[0]).encoder.tokens
    card = next(card for card in cards if card["id"] == "punctuation")
    layer, head = (int(number) - 1 for number in re.findall(r"\d+", card["where"]))
    marks = [place for place, token in enumerate(tokens) if token in ",."]
    shares = [
        float(sum(weights[layer, head, query, key] for key in marks if key != query)) for query in range(len(tokens))
    ]
    assert plain(card["number"]) == f"{100 * float(np.mean(shares)):.0f} %"
    assert re.fullmatch(r"at the same place, words shuffled: \d+ %", plain(card["chance"]))


def test_a_head_whose_queries_each_have_a_key_of_their_own_is_not_said_to_spread_its_attention():
    text, translator = "The small dog sees the old man.", load_checkpoint("translate-en-fr")
    said = page_text(opened(checkpoint="translate-en-fr", attention="cross", off="0.1-7", text=text))
    trace: Any = translator.trace(text)
    sharpness = 100 * float(trace.decoder.cross_weights()[0, 0].max(dim=-1).values.mean())
    expected = f"Layer 1, head 1 gives {sharpness:.0f} % of its attention, on average over the queries, to one key each"
    assert expected in said
    assert "spreads its attention" not in said.split(" | ")[0]


def test_a_head_that_was_muted_with_its_mean_is_said_to_be_zero_here():
    said = "On Heads that matter, the mean of each in this text stands in its place."
    assert said in page_text(opened(muted="0.2", baseline="mean"))
    assert said not in page_text(opened(muted="0.2"))


def test_of_the_one_head_that_is_on_it_is_said_what_it_does_over_many_texts():
    scores = read_head_scores(CHECKPOINTS / "sentiment")
    assert scores is not None
    said = f"Over {measured_on(scores)}, this head"
    others = "_".join(f"1.{head}" for head in range(8) if head != 4)
    alone, all_on = (
        [caption.value for caption in app.caption if plain(caption.value).startswith(said)]
        for app in (opened(layer="1", off=others), opened(layer="1"))
    )
    assert (len(alone), len(all_on)) == (1, 0)


def test_a_chosen_head_is_no_card_and_the_finding_is_one_to_return_to():
    cards = offered(opened(layer="1", off="1.0-3_1.5-7"))
    assert "first_token" not in {card["id"] for card in cards}
    assert cards[0]["title"] == "Points at “loved”"


def test_where_no_head_has_a_choice_none_is_named():
    app = opened(text="a")
    assert app.title[0].value == QUESTION
    assert not offered(app)
    assert any("sees a single token" in each.value for each in app.markdown)


def test_of_a_long_text_the_drawn_part_is_named():
    picture = figure(opened(text="good film " * 100))
    assert len(picture["rows"]) == 60
    assert "of 200. The views under “All heads” show the whole text." in picture["cut"]


def test_alone_the_picture_has_no_controls():
    app = opened(view="picture")
    assert not app.exception
    assert not figure(app)["swaps"]
    assert not [*app.button, *app.selectbox, *app.get("page_link")]
    assert component(app, "headlight_explorer") is None


@pytest.mark.parametrize("address", [{}, {"layer": "1", "off": "1.0-6"}, {"layer": "2", "words": "1", "query": "1"}])
def test_the_picture_to_share_is_of_the_head_that_the_title_is_about(address, monkeypatch):
    given = []
    monkeypatch.setattr(downloads, "share", lambda page, take: given.append(take))
    head = figure(opened(**address))["head"]
    (take,) = given
    kind, view = kinds_of(take().trace)["encoder"], take().view
    svg = share_svg(kind, view, ShareWords(text="", title="", sentence="", address=""))
    assert f"{head}: words above attend" in svg
    if not address:
        assert (head, view.key) == (FOUND_NAME, LOVED)


def test_muting_the_head_of_the_picture_leaves_the_picture_on_it_where_the_others_are_muted_too():
    app = opened(layer="1", off="1.0-6", mute="1")
    assert figure(app)["head"] == "Layer 2, head 8"
    button(app, "Mute this head").click().run()
    assert (app.query_params["muted"], app.query_params["off"]) == ("1.0-7", "1.0-6")
    assert figure(app)["head"] == "Layer 2, head 8"
    button(app, "Unmute this head").click().run()
    assert app.query_params["muted"] == "1.0-6"
    assert figure(app)["head"] == "Layer 2, head 8"


def test_a_typed_target_is_named_and_its_probability_compared():
    text, target = "The film was good, but the house is big.", "La maison est grande."
    app = opened(checkpoint="translate-en-fr", text=text, target=target)
    assert f"Target: “{target}”" in page_text(app)
    assert "Output" not in page_text(app).partition("Swap")[0].split(" | ")[0]
    translator = load_checkpoint("translate-en-fr")
    head = figure(app)["head"].replace("Layer ", "").split(", head ")
    layer, number = (int(part) - 1 for part in head)
    site = HeadSite("encoder", layer, number)
    shares = []
    for edits in (Edits(), Edits(muted=frozenset({site}))):
        trace = translator.trace(text, target=target, edits=edits)
        decoder = trace.decoder
        assert decoder is not None
        assert trace.logits is not None
        chances = trace.logits[:-1].double().softmax(dim=-1)
        shares.append(float(chances.gather(1, decoder.ids[1:, None]).mean()))
    before, after = (f"{100 * share:.1f} %" for share in shares)
    results = [part for part in page_text(app).split(" | ") if part.startswith("**")]
    assert f"**Target’s tokens, on average: {before} → {after}**" in results
    assert not any("stays the same" in part for part in results)
    swapped = translator.generate("The house is big, but the film was good.", 100).text
    assert f"**Output: “{swapped}”**" in results


def test_the_swap_says_what_the_button_leads_to_with_the_method_that_is_chosen():
    app = opened(checkpoint="translate-en-fr", text="The film was good, but the house is big.")
    app = taken(app, **{"translation.method": "beam", "translation.width": 4})
    result = next(part for part in page_text(app).split(" | ") if part.startswith("**“"))
    button(app, "Swap the halves").click().run()
    output = page_text(app).partition("Output: “")[2].partition("”")[0]
    assert result.endswith(f"→ “{output}”**")


def test_forbidding_counts_no_muted_head_as_the_page_that_it_leads_to_and_says_so(checkpoint):
    app = opened(muted=FOUND_ADDRESS)
    hide = Edits(hidden=frozenset({HiddenKey("encoder", LOVED)}))
    results = [part for part in page_text(app).split(" | ") if "→" in part]
    assert results[-1].startswith(f"**positive {positive(checkpoint)} → {positive(checkpoint, edits=hide)}")
    captions = [caption.value for caption in app.caption]
    assert "No head may look at it. Does the model need it? Measured with no head muted." in captions


@pytest.mark.parametrize(
    ("attention", "named"),
    [
        ("encoder", "the encoder’s own attention"),
        ("decoder", "the decoder’s own attention"),
        ("cross", "the cross-attention"),
    ],
)
def test_of_two_stacks_the_attention_is_named_in_which_a_token_is_forbidden(attention, named):
    app = opened(checkpoint="translate-en-fr", text="The red house is big.", attention=attention)
    assert any(caption.value.startswith(f"No head of {named} may look at it.") for caption in app.caption)
    page_link = next(link.proto for link in app.get("page_link") if "Forbid" in link.proto.label)
    assert f"every layer of {named}." in page_link.help


def test_a_long_text_is_not_translated_three_times_more_before_anybody_asks(monkeypatch):
    asked: list[str] = []

    def change_of(*_: object, **__: object) -> str:
        asked.append("once")
        return ""

    monkeypatch.setattr("pages.parts.explore.three_changes.change_of", change_of)
    app = opened(checkpoint="translate-en-fr", text="It rains, but we go. " * 12)
    assert not app.exception
    assert asked == []
    assert "Press to compute the result" in page_text(app)
    opened(checkpoint="translate-en-fr", text="It rains, but we go.")
    assert asked


@pytest.mark.parametrize("text", [EXAMPLES[0], EXAMPLES[1]])
def test_the_way_on_leads_to_the_weight_that_was_found(text, checkpoint):
    app = opened(text=text)
    finding_key = figure(app)["finding_key"]
    assert finding_key is not None
    at = follow(app, "Next: inside this head").query_params
    layer, head, query, key = (int(at.get(name, "0")) for name in ("layer", "head", "query", "key"))
    gets = checkpoint.trace(text).encoder.weights()[layer, head][:, key].clone()
    gets[key] = 0  # what a word gives to itself is not what was found
    assert (query, key) == (int(gets.argmax()), finding_key)


def test_the_way_on_leads_to_the_weight_that_is_kept_in_the_same_layer():
    at = follow(opened(layer=str(FOUND[0]), query="2", key="5"), "Next: inside this head").query_params
    assert (at["query"], at["key"]) == ("2", "5")


def test_of_one_head_that_is_on_two_questions_are_offered_and_of_several_none():
    alone = opened(layer="2", off="2.0-4_2.6-7")
    places = {link.proto.label: dict(parse_qsl(link.proto.query_string)) for link in alone.get("page_link")}
    for label in ("What does this head do?", "Heads like this one"):
        assert (places[label]["layer"], places[label]["head"]) == ("2", "5")
    assert places["Heads like this one"]["alike"] == "1"
    assert not {"What does this head do?", "Heads like this one"} & {
        link.proto.label for link in opened().get("page_link")
    }


def test_the_help_of_a_verdict_says_how_often_the_model_is_right_and_where_it_is_wrong():
    helps = [opened(text=text).metric[0].proto.help for text in ("We got lost again.", EXAMPLES[1])]
    right = json.loads((CHECKPOINTS / "sentiment" / "card.json").read_text(encoding="utf-8"))["evaluations"][0]["value"]
    assert f"about {right:.0f} of 100 reviews" in helps[0]
    assert "The model is wrong here: this text is positive." in helps[1]


def test_of_random_weights_the_title_says_so_before_what_a_head_does():
    app = opened("explore.py", checkpoint="reverse-with-positions.0", text="abcdef")
    assert app.title[0].value == head_findings.UNTRAINED
    assert "look at it. Layer 1, head 1 gives it" in page_text(app)
    assert any("nothing was learned yet" in caption.value for caption in app.caption)
    assert opened("explore.py", text="abcdef").title[0].value != head_findings.UNTRAINED
