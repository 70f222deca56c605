"""The page Translate without a browser: how text is produced, typed targets, hostile input, the address."""

import json
import math
import re
import shutil
from dataclasses import replace
from urllib.parse import parse_qsl

import numpy as np
import pytest
import torch

from model import load_checkpoint
from model.checkpoint import CHECKPOINTS
from pages.parts.state.page_fields import CODEC
from pages.parts.state.selection import LONGEST_TEXT, Selection
from pages.parts.translate.controls import ending
from pages.parts.translate.productions import candidate_target, compact
from pages.parts.translate.settings import SENTENCES as EXAMPLES
from pages.parts.translate.settings import Options
from tests.pages.test_break import values
from tests.pages.test_every_page import bar, component, one_refusal, opened, picture, typed
from tests.pages.test_every_page import link as door_named
from viz.tokens import percent

TEXT = "The dog bit the man."
LONG = "The red house is big. The dog bit the man."  # of which a beam ends before the others
TARGET = "Le chien a mordu l'homme."


@pytest.fixture(scope="module")
def checkpoint():
    return load_checkpoint("translate-en-fr", device="cpu")


def at(**address: str):
    app = opened("translate.py", **address)
    assert not app.exception
    return app


def table_with(app, column: str):
    """The one table with this column."""
    (frame,) = [table.value for table in app.dataframe if column in table.value.columns]
    return frame


def translation(app) -> str:
    return app.text[0].value


def paragraph(app, beginning: str) -> str:
    (sentence,) = [text.value for text in app.markdown if text.value.startswith(beginning)]
    return sentence.replace("\\", "").replace("\u00a0", " ")


def test_what_was_stopped_says_when_and_its_script_produces_it_again(checkpoint):
    selection = CODEC.changed(Selection(), text=LONG, checkpoint="translate-en-fr")
    after_its_end = 0
    for steps, part in enumerate(checkpoint.stream(LONG, 64, method="beam", width=3), start=1):
        options = Options(method="beam", width=3, choice=min(1, len(part.alternatives)))
        stopped = replace(compact(part), stopped=True)
        target = candidate_target(selection, options, stopped)
        assert target.options
        again = checkpoint.generate(LONG, **target.options)
        assert target.text == [again, *again.alternatives][target.rank].text
        assert f"Stopped after {steps} tokens" in ending(stopped, options, typed=False)
        after_its_end += len(part.token_ids) < steps
    assert after_its_end


def forced_by_hand(checkpoint, target: str) -> list[float]:
    trace = checkpoint.trace(TEXT, target=target)
    logs = torch.log_softmax(trace.logits.double(), dim=-1)
    next_ids = [*trace.decoder.ids.tolist()[1:], checkpoint.config.end_id]
    return [float(logs[place, token]) for place, token in enumerate(next_ids)]


def test_the_page_opens_on_its_sentence_its_checkpoint_and_cross_attention(checkpoint):
    app = at()
    assert bar(app)["text"] == EXAMPLES[0]
    assert bar(app)["model"] == "translate-en-fr"
    assert picture(app)["view"]["attention"] == "cross"
    assert list(picture(app)["header"]["kinds"]) == ["encoder", "decoder", "cross"] or len(picture(app)["layers"]) == 9
    assert translation(app) == checkpoint.generate(EXAMPLES[0]).text


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("", {}),
        ("method.beam", {"method": "beam", "width": 4}),
        ("method.beam~width.2~length_penalty.0", {"method": "beam", "width": 2, "length_penalty": 0.0}),
        ("method.sample~seed.3~temperature.0.8", {"method": "sample", "seed": 3, "temperature": 0.8}),
        ("method.sample~top_k.2~top_p.0.5", {"method": "sample", "top_k": 2, "top_p": 0.5}),
    ],
)
def test_what_is_shown_is_what_the_model_produces_with_these_settings(checkpoint, text, options):
    app = at(text=TEXT, translation=text)
    expected = checkpoint.generate(TEXT, 512, **options)
    assert translation(app) == expected.text
    tokens = table_with(app, "log-probability")
    assert len(tokens) == len(expected.steps)
    assert list(tokens["probability"]) == pytest.approx([step.probability for step in expected.steps], abs=1e-5)
    if options.get("method") == "beam":
        scores = [one.score for one in (expected, *expected.alternatives)]
        assert len(app.radio(key="choice").options) == len(scores)
        for option, score in zip(app.radio(key="choice").options, scores, strict=True):
            assert option.replace("\\", "").startswith(f"−{-score:.2f} · ")
        count = len(expected.steps)
        total = sum(tokens["log-probability"])
        assert total / ((5 + count) / 6) ** options.get("length_penalty", 0.6) == pytest.approx(
            expected.score, abs=1e-4
        )


def linked(app) -> dict:
    """Words above words, as the browser is told them."""
    return json.loads(component(app, "headlight_linked_words").json)


def finding(app) -> tuple[str, str]:
    (title,) = app.title
    texts = [plain(text.value) for text in app.markdown]
    return plain(title.value), next(text for text in texts if " of the weight. The model gave " in text)


def other_moment(app) -> str:
    """What is said at the choice of a moment of the one that is not chosen."""
    marked = "**Not in the picture.** "
    (words,) = [plain(text.value) for text in app.caption if plain(text.value).startswith(marked)]
    return words.removeprefix(marked)


def plain(text: str) -> str:
    return text.replace("\\", "").replace("\u00a0", " ")


def test_the_page_opens_on_rouge_with_the_layer_that_is_right_and_its_numbers_are_torchs(checkpoint):
    app = at()
    trace = checkpoint.trace(EXAMPLES[0], target="La maison rouge est grande.")
    cross = trace.decoder.cross_weights().double()
    row, later = cross[2].mean(dim=0)[2], cross[0, 0, 3]
    title, sentence = finding(app)
    assert title == "To write “rouge”, the model looked at “red”."
    assert int(row.argmax()) == int(later.argmax()) == 1
    probability = float(trace.logits[2].double().softmax(dim=-1)[trace.decoder.ids[3]])
    assert f"Layer 3, mean of its heads, gives “red” {100 * float(row.max()):.0f} % of the weight." in sentence
    assert f"The model gave “rouge” a probability of {100 * probability:.1f} %." in sentence
    assert "One step later" not in sentence, "the picture shows the moment when the word is written"
    assert linked(app)["caption"] == "Shown: what is looked at while a word is written (layer 3, mean of its heads)"
    share = percent(float(later.max())).replace("\u00a0", " ")
    one_later = f"One step later, while the model reads “rouge”, layer 1, head 1 looks at “red” with {share}."
    assert other_moment(app) == one_later
    assert "translation" not in app.query_params, "nobody chose it"


def test_the_picture_holds_the_weights_of_the_layer_word_by_word(checkpoint):
    trace = checkpoint.trace(EXAMPLES[0], target="La maison rouge est grande.")
    weights = trace.decoder.cross_weights()[2].double().mean(dim=0)
    word_picture = linked(at())
    words = [word["text"] for word in word_picture["targets"]]
    assert (words, words[word_picture["marked"]]) == (["La", "maison", "rouge", "est", "grande", ".", "[END]"], "rouge")
    assert [word["text"] for word in word_picture["sources"]] == ["The", "red", "house", "is", "big", ".", "[END]"]
    for place, target in enumerate(word_picture["targets"]):
        drawn = {link["source"]: link["weight"] for link in target["links"]}
        assert drawn == {key: pytest.approx(float(weights[place, key]), abs=1e-6) for key in drawn}
        assert set(range(7)) - set(drawn) == {key for key in range(7) if weights[place, key] < 0.01}


@pytest.mark.parametrize(("moment", "shift"), [("produced", 0), ("read", 1)])
def test_words_of_several_pieces_are_joined_in_the_picture_as_by_hand(checkpoint, moment, shift):
    app = at(text=TEXT, target=TARGET, translation=f"reading.1.4~moment.{moment}~step.4")
    trace = checkpoint.trace(TEXT, target=TARGET)
    weights = trace.decoder.blocks[1].cross_attention.weights[4].double()
    word_picture = linked(app)
    place = [word["text"] for word in word_picture["targets"]].index("mordu")
    assert place == word_picture["marked"], "the second piece is the same word"
    pieces = [token.strip() for token in trace.decoder.tokens]
    rows = [pieces.index("mor") - 1 + shift, pieces.index("du") - 1 + shift]
    expected = weights[rows].mean(dim=0)
    for link in word_picture["targets"][place]["links"]:
        assert link["weight"] == pytest.approx(float(expected[link["source"]]), abs=1e-6)
    title, sentence = finding(app)
    assert ("One step later" in title) == (moment == "read")
    both = math.exp(sum(forced_by_hand(checkpoint, TARGET)[3:5]))
    assert (
        f"The model gave “mordu” (its 2 pieces together) a probability of {percent(both, 1)}".replace("\u00a0", " ")
        in sentence
    )


def test_another_sentence_opens_elsewhere_and_what_is_chosen_stays(checkpoint):
    app = at(text=EXAMPLES[1])
    assert finding(app)[0] == "To write “traversé”, the model looked at “cross”."
    app.selectbox(key="reading").set_value("all").run()
    assert "reading.all" in app.query_params["translation"]
    assert finding(app)[0].startswith("To write “traversé”"), "other heads are no other step"
    again = at(text=EXAMPLES[1], translation=app.query_params["translation"])
    assert again.selectbox(key="reading").value == "all"


def test_a_step_of_0_that_was_chosen_is_kept_in_the_address():
    app = at(text=TEXT)
    app.selectbox(key="walked").set_value(0).run()
    assert "step.0" in app.query_params["translation"]
    assert finding(at(text=TEXT, translation="step.0"))[0].startswith("To write “Le”")


def test_without_a_card_the_most_telling_heads_are_read(checkpoint, tmp_path, monkeypatch):
    shutil.copytree(CHECKPOINTS / "translate-en-fr", tmp_path / "bare", ignore=shutil.ignore_patterns("card.json"))
    monkeypatch.setattr("model.checkpoint.CHECKPOINTS", tmp_path)
    app = at(checkpoint="bare")
    title, _ = finding(app)
    assert title == "To write “rouge”, the model looked at “red”."
    assert not [text for text in app.caption if "Not in the picture" in text.value], "nobody measured the heads of it"


@pytest.mark.parametrize("hostile", ["<b>x</b>", "**b** $a$ :smile:", "שלום", "a\u200bb"])
def test_typed_words_stand_in_title_and_picture_as_text(hostile):
    app = at(text=f"The {hostile} is big.", target=f"Le {hostile} est grand.", translation="step.1")
    assert not app.exception
    assert len(linked(app)["targets"]) >= 3
    assert not re.search(r"(?<!\\)[*$<:]", app.title[0].value)


def test_the_picture_alone_has_the_finding_folded_and_no_control():
    app = at()
    app.session_state["_view"] = "picture"  # as app.py notes it
    app.run()
    assert linked(app)["alone"]
    assert not app.selectbox
    assert not app.button
    assert picture(app) is None
    assert finding(app)[0] == "To write “rouge”, the model looked at “red”."


def test_another_of_the_best_translations_is_traced_when_it_is_chosen(checkpoint):
    app = at(text=TEXT, translation="method.beam~width.3")
    second = checkpoint.generate(TEXT, 512, method="beam", width=3).alternatives[0]
    app.radio(key="choice").set_value(1).run()
    assert translation(app) == second.text
    assert list(table_with(app, "log-probability")["probability"]) == pytest.approx(
        [step.probability for step in second.steps], abs=1e-5
    )
    assert "choice.1" in app.query_params["translation"]


def test_every_typed_token_has_the_probability_of_an_independent_softmax(checkpoint):
    app = at(text=TEXT, target=TARGET)
    expected = forced_by_hand(checkpoint, TARGET)
    table = table_with(app, "log-probability")
    assert list(table["log-probability"]) == pytest.approx(expected, abs=1e-6)
    assert list(table["probability"]) == pytest.approx([math.exp(one) for one in expected], abs=1e-6)
    assert f"(natural logarithm) add up to {sum(expected):.4f}" in " ".join(text.value for text in app.markdown)
    best = checkpoint.trace(TEXT, target=TARGET).logits.argmax(dim=-1).tolist()
    pieces = checkpoint.tokenizer.pieces(best)
    assert [name.strip("“”").replace("␣", " ") for name in table["likeliest"]] == list(pieces)
    drawn = [row["probability"] for row in values(app, 2)]
    assert drawn == pytest.approx(list(table["probability"]))


def test_the_explorer_holds_the_trace_of_what_was_typed(checkpoint):
    weights = picture(at(text=TEXT, target=TARGET))["layers"]["cross", 1]
    expected = checkpoint.trace(TEXT, target=TARGET).decoder.cross_weights()[1].numpy()
    assert weights.shape == expected.shape
    assert np.abs(weights - expected).max() <= 0.004


def test_a_step_shows_the_weights_of_the_row_that_produces_it(checkpoint):
    app = at(text=TEXT, target=TARGET, translation="step.2~reading.1.4")
    trace = checkpoint.trace(TEXT, target=TARGET)
    row = trace.decoder.blocks[1].cross_attention.weights[4, 2]
    assert [one["share"] for one in values(app, 0)] == pytest.approx(row.tolist(), abs=1e-6)
    likeliest = trace.logits[2].double().softmax(dim=-1).topk(8).values.tolist()
    assert [one["share"] for one in values(app, 1)] == pytest.approx(likeliest, abs=1e-9)
    sentence = paragraph(app, "To write **3 · ")
    assert f"{100 * float(row.max()):.0f} % of the weight (layer 2, head 5)" in sentence


def test_title_picture_and_step_are_of_one_moment_and_the_other_is_said_at_the_choice(checkpoint):
    app = at(translation="moment.read~step.2")
    trace = checkpoint.trace(EXAMPLES[0], target="La maison rouge est grande.")
    cross = trace.decoder.cross_weights().double()
    row, earlier = cross[0, 0, 3], cross[2].mean(dim=0)[2]
    assert finding(app)[0] == "One step later, reading “rouge”, the model looked at “red”."
    assert linked(app)["caption"] == "Shown: what is looked at one step later, while a word is read (layer 1, head 1)"
    assert [one["share"] for one in values(app, 0)] == pytest.approx(row.tolist(), abs=1e-6)
    assert "the model looked most at **2 · ␣red**" in paragraph(app, "One step later, reading **3 · ")
    written = (
        f"While the model writes “rouge”, layer 3, mean of its heads, looks at “red” with {100 * earlier.max():.0f} %."
    )
    assert other_moment(app) == written
    last = at(translation="moment.read~step.6")
    assert "last and does not read it" in paragraph(last, "The model writes **7 · ")
    assert len(last.get("vega_lite_chart")) == len(app.get("vega_lite_chart")) - 1


def test_next_and_back_walk_through_the_tokens_and_keep_their_row_in_the_explorer():
    app = at(text=TEXT, translation="step.0")
    assert app.button(key="back").disabled
    app.button(key="next").click().run()
    app.button(key="next").click().run()
    assert "step.2" in app.query_params["translation"]
    assert app.query_params["query"] == "2"
    assert picture(app)["view"]["query"] == 2
    app.button(key="back").click().run()
    paragraph(app, "To write **2 · ")


def test_the_links_are_the_largest_weights_of_the_words(checkpoint):
    text, target = "The animal was tired.", "Le chien dort."  # every token is a word
    trace = checkpoint.trace(text, target=target)
    weights = trace.decoder.cross_weights().double().mean(dim=(0, 1))
    assert all(len(set(words)) == len(words) for words in (trace.encoder.words, trace.decoder.words))
    for moment, shift in (("produced", 0), ("read", 1)):
        table = table_with(at(text=text, target=target, translation=f"moment.{moment}~reading.all"), "source")
        best = weights[shift : shift + len(trace.decoder.ids) - 1, :-1].max(dim=1)
        assert [int(source.split(" ")[0]) - 1 for source in table["source"]] == best.indices.tolist()
        assert list(table["weight"]) == pytest.approx(best.values.tolist(), abs=1e-6)


def test_the_error_rates_on_the_page_are_those_of_the_card(checkpoint):
    table = table_with(at(text=TEXT), "result")
    rows = [row for row in checkpoint.card["evaluations"] if row["what"].startswith("alignment error rate, ")]
    assert len(rows) == 33
    assert list(table["result"]) == [f"{row['value']:.6g} %" for row in rows]


def test_typing_a_translation_and_going_back_to_the_models_own(checkpoint):
    app = at(text=TEXT)
    own = translation(app)
    app.text_area(key="target").set_value("Bonjour.")
    app.button(key="FormSubmitter:typed-Read this").click().run()
    assert translation(app) == "Bonjour."
    assert app.query_params["target"] == "Bonjour."
    app.button(key="own").click().run()
    assert translation(app) == own
    assert "target" not in app.query_params


def test_another_source_leaves_the_typed_translation_behind():
    app = typed(at(text=TEXT, target=TARGET), "Good morning.")
    assert "target" not in app.query_params
    assert translation(app) != TARGET


def test_a_checkpoint_that_does_not_translate_is_named_and_the_translator_a_click_away():
    app = at(checkpoint="sentiment")
    (info,) = app.info
    assert info.value.replace("\\", "").startswith("sentiment does not translate. This page needs")
    assert picture(app) is None
    app.button(key="offer").click().run()
    assert not app.info
    assert picture(app)["view"]["attention"] == "cross"


@pytest.mark.parametrize("text", ["", "  ", "\n"])
def test_an_empty_source_is_refused_in_one_sentence(text):
    app = typed(at(), text)
    assert one_refusal(app).replace("\\", "") == "There is nothing to translate: type a sentence above."


def test_a_source_or_a_target_that_is_too_long_is_refused_in_one_sentence():
    for name in ("text", "target"):
        assert "at most 2,000 are read" in one_refusal(at(**{"text": TEXT} | {name: "a" * (LONGEST_TEXT + 1)})).replace(
            "\\", ""
        )


@pytest.mark.parametrize("target", ["漢字かな", "🧪🧪", "\u200b", "<b>x</b> $a$ **b**", "a" * 300, "ǅ\u0301" * 50])
def test_odd_targets_are_read_and_every_token_has_a_probability(target):
    app = at(text=TEXT, target=target)
    assert not app.error
    assert all(0 <= one <= 1 for one in table_with(app, "log-probability")["probability"])


def test_more_than_512_tokens_are_cut_and_the_page_says_so():
    app = at(text=TEXT, target="漢" * 400)
    assert any("Kept 512 of" in text.value for text in app.markdown)
    assert len(table_with(app, "log-probability")) == 511


@pytest.mark.parametrize("setting", ["temperature.0", "top_p.0", "top_k.1", "temperature.0~top_p.0~top_k.1"])
def test_the_edges_of_sampling_take_the_likeliest_token(checkpoint, setting):
    app = at(text=TEXT, translation=f"method.sample~{setting}")
    assert translation(app) == checkpoint.generate(TEXT, 512).text
    assert "its probability was 100.0 %" in paragraph(app, "To write")


@pytest.mark.parametrize(
    "hostile",
    ["x", "method.best", "width.0", "width.9", "width.4~width.4", "seed.-1", "top_p.2", "temperature.nan", "step.1e3",
     "reading.a", "choice.99", "~~~method", "length_penalty.１", "a" * 3000, "opened.2", "moment.never"],
)  # fmt: skip
def test_hostile_settings_fall_back_with_one_notice(hostile):
    first = opened(translation=hostile)  # the page that the visitor comes to says so
    notice = "The address gives no usable value for translation; the default is shown."
    assert [info.value for info in first.info] == [notice]
    app = at(text=TEXT, translation=hostile)
    assert app.radio(key="translation_method").value == "greedy"
    assert translation(app) == translation(at(text=TEXT))


@pytest.mark.parametrize(
    ("setting", "name"),
    [("step.999", "step"), ("choice.3", "choice"), ("reading.7", "reading"), ("reading.1.99", "reading")],
)
def test_what_this_translation_does_not_have_falls_back_with_one_notice(setting, name):
    app = at(text=TEXT, translation=setting)
    assert [info.value for info in app.info] == [f"The address gives no usable value for {name}; the default is shown."]
    assert translation(app)


def test_every_option_goes_through_an_address_and_back():
    options = Options(
        method="sample", width=3, length_penalty=1.25, temperature=0.7, top_k=5, top_p=0.9, seed=7, choice=1, step=4,
        reading="2.7", moment="read",
    )  # fmt: skip
    chosen = {f"translation.{name}": value for name, value in vars(options).items()} | {"target": TARGET}
    selection = CODEC.resolve(chosen, "translate")
    again, unusable = CODEC.read(CODEC.write(CODEC.values(selection), "translate"))
    assert (CODEC.resolve(again, "translate"), unusable) == (selection, [])
    assert (selection.of(Options), selection.target) == (options, TARGET)


def test_the_attention_that_a_visitor_chose_is_in_the_address():
    again = at(text=TEXT, translation="opened.1", checkpoint="translate-en-fr")
    assert picture(again)["view"]["attention"] == "encoder"


def test_other_translators_work_too(app_folders):
    app = at(checkpoint="bart", text="the dog")
    assert not app.error
    assert len(table_with(app, "log-probability")) >= 1


def test_what_was_chosen_in_one_attention_is_not_taken_for_another_on_the_way():
    chosen = {"query": "4", "layer": "1", "off": "1.0-5", "muted": "0.2"}
    app = opened(checkpoint="translate-en-fr", text="The red house is big.", **chosen)
    app.query_params.clear()  # a link of the menu names the page alone
    app = app.switch_page("pages/translate.py").run()
    assert dict(app.query_params) == {}, "it opens on that text and model"
    assert (picture(app)["view"]["attention"], picture(app)["view"]["off"]) == ("cross", [])


def test_a_number_that_no_address_may_hold_is_not_taken():
    app = at(text=TEXT, translation="method.beam")
    app.number_input(key="translation_width").set_value(64).run()
    assert not app.exception
    assert "64" not in app.query_params["translation"]


def test_the_door_of_a_weight_one_step_later_leads_to_the_row_that_reads_the_word(checkpoint):
    label = "Inside: every step to the largest weight of this word"
    app = at(translation="reading.1.3~moment.read~step.2")
    trace = checkpoint.trace(EXAMPLES[0], target="La maison rouge est grande.")
    key = int(trace.decoder.cross_weights()[1, 3, 3].argmax())
    address = dict(parse_qsl(door_named(app, label).query_string))
    assert (address["query"], address["key"]) == ("3", str(key))
    looked = f"“{trace.encoder.tokens[key].strip()}”"
    assert finding(app)[0].endswith((f"the model looked at {looked}.", f"the model looked most at {looked}."))
    last = at(translation="reading.1.3~moment.read~step.6")
    assert not [page_link for page_link in last.get("page_link") if page_link.proto.label == label]


@pytest.mark.parametrize(
    ("options", "word", "heads"),
    [
        ({}, True, True),
        ({"translation": "step.4"}, False, True),
        ({"translation": "reading.1.3"}, True, False),
        ({"attention": "cross", "query": "4"}, False, True),
        ({"translation": "reading.1.3~step.4"}, False, False),
    ],
)
def test_how_word_and_heads_were_found_is_said_of_those_that_were_found(options, word, heads):
    explained = next(text.help for text in at(**options).markdown if "The model gave" in text.value)
    assert ("The page opens at the word" in explained, "closest to alignments" in explained) == (word, heads)


def test_the_page_says_what_the_model_cannot_do():
    captions = [plain(each.value) for each in opened("translate.py").caption]
    card = load_checkpoint("translate-en-fr", device="cpu").card
    assert f"Limits of translate-en-fr: {' '.join(card['limits'])}" in captions
