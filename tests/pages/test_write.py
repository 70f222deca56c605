"""The page Write: every number beside an independent softmax and filters, every control, every hard case."""

import json
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import Edits, load_checkpoint
from model.loading import checkpoint_files
from pages.parts.write.settings import EXAMPLE
from tests import tiny
from tests.pages.test_every_page import bar, component, link, one_refusal, opened, picture, typed
from tests.pages.test_families import TEXT
from tests.running import ROOT
from viz.export.continuation_script import written_script
from viz.tokens import percent, visible

CHOICE = {"temperature": "0.5", "top_k": "9", "top_p": "0.6", "penalty": "1.5", "seed": "3"}


def at_gpt2(**address: str) -> AppTest:
    app = opened("write.py", **{"checkpoint": "gpt2", "text": TEXT} | address)
    assert not app.exception
    assert not app.error
    return app


def press(app: AppTest, key: str) -> AppTest:
    app = app.button(key=key).click().run()
    assert not app.exception
    return app


def bars(app: AppTest) -> list[dict]:
    """The records of the chart of the next token."""
    layers = json.loads(app.get("vega_lite_chart")[0].proto.spec)["layer"]
    return next(layer["data"]["values"] for layer in layers if layer["mark"]["type"] == "bar")


def written(app: AppTest) -> list[int]:
    parameter = app.query_params.get("written", [])
    text = parameter if isinstance(parameter, str) else "".join(parameter)
    return [int(one) for one in text.split(".")] if text else []


def tokens_shown(app: AppTest) -> Any:
    return json.loads(component(app, "headlight_written").json)


@pytest.fixture
def gpt2(app_folders):
    return load_checkpoint(app_folders / "gpt2", device="cpu")


def softmax(logits: np.ndarray) -> np.ndarray:
    risen = np.exp(logits - logits.max())
    return risen / risen.sum()


def filtered(logits: np.ndarray, ids: list[int]) -> list[np.ndarray]:
    """The five columns, written again in NumPy from the papers' sentences."""
    columns = [softmax(logits)]
    penalised = logits.copy()
    for token in set(ids):
        penalised[token] = logits[token] * 1.5 if logits[token] < 0 else logits[token] / 1.5
    columns += [softmax(penalised), softmax(penalised / 0.5)]
    order = np.argsort(-penalised)
    for count in (9, None):
        kept = columns[-1].copy()
        if count is None:
            count = int(np.searchsorted(np.cumsum(kept[order]), 0.6) + 1)
        kept[order[count:]] = 0
        columns.append(kept / kept.sum())
    return columns


def test_the_chart_holds_the_probabilities_before_and_after_every_setting(gpt2):
    app = at_gpt2(**CHOICE, written="11.20")
    ids = [*gpt2.tokenizer.encode(TEXT).ids, 11, 20]
    columns = filtered(gpt2.trace_ids(ids).logits[-1].double().numpy(), ids)
    rows = bars(app)
    stages = list(dict.fromkeys(row["stage"] for row in rows))
    assert stages == ["the model", "repetition penalty 1.5", "temperature 0.5", "top-k 9", "top-p 0.6"]
    assert len({row["id"] for row in rows}) >= 12
    for row in rows:
        assert row["probability"] == pytest.approx(columns[stages.index(row["stage"])][row["id"]], abs=1e-5)
    assert {row["shown"] for row in rows if row["probability"] == 0} == {"out"}


def finding(app: AppTest) -> tuple[str, str]:
    (title,), sentence = app.title, app.markdown[0].value
    return plain(title.value), plain(sentence)


def plain(text: str) -> str:
    return text.replace("\\", "").replace("**", "").replace("\u00a0", " ")


def test_the_title_is_the_likeliest_token_and_the_sentence_what_was_taken_and_looked_at(gpt2):
    app = at_gpt2(**CHOICE, written="11.20.33", at="2")
    ids = [*gpt2.tokenizer.encode(TEXT).ids, 11, 20]
    trace: Any = gpt2.trace_ids(ids)
    columns = filtered(trace.logits[-1].double().numpy(), ids)
    title, sentence = finding(app)
    best, piece = int(columns[0].argmax()), visible(gpt2.tokenizer.pieces([33])[0])
    name = visible(gpt2.tokenizer.pieces([best])[0].strip())
    assert title.endswith(f"the likeliest token is “{name}”: {plain(percent(columns[0].max()))}.")
    own, after = (plain(percent(column[33], 1)) for column in (columns[0], columns[-1]))
    taken = f"“{piece}” was taken here ({own} from the model, {after} after the settings)."
    assert sentence.startswith(f"After {len(ids)} tokens, {taken}")
    weights = trace.decoder.weights().double().numpy()
    last, excesses = len(ids) - 1, {}
    for layer, head, key in np.ndindex(*weights.shape[:2], last):
        before = weights[layer, head, max(key, 1) : last, key].mean()
        excesses[layer, head, key] = weights[layer, head, last, key] - before
    layer, head, key = max(excesses, key=excesses.__getitem__)
    weight, before = weights[layer, head, last, key], weights[layer, head, max(key, 1) : last, key].mean()
    assert f"layer {layer + 1}, head {head + 1} attends to" in sentence
    assert f"with {plain(percent(weight))}; the tokens before" in sentence
    assert sentence.endswith(f" {plain(percent(before))} on average.")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "Step draws the next token at random, by the probabilities after the settings"),
        ({"temperature": "0"}, "the settings leave one token, and Step writes it"),
        ({"method": "greedy"}, "Step writes the token that is likeliest after the settings"),
    ],
)
def test_the_sentence_says_how_the_settings_choose_the_next_token(settings, words):
    app = opened("write.py", **settings)
    marked = next(row["token"] for row in bars(app) if row["taken"]).partition(" · ")[2]
    assert re.search(rf"{words}.*“{re.escape(marked.removeprefix('␣'))}”", finding(app)[1])


def test_a_text_of_two_tokens_has_no_habit_to_exceed():
    assert "attends to" not in finding(opened("write.py", checkpoint="stories", text="a b"))[1]


def test_a_text_of_one_token_has_looked_at_nothing_before():
    app = opened("write.py", checkpoint="stories", text="Once")
    title, sentence = finding(app)
    assert title.startswith("After “Once”, the likeliest token is “,”: ")
    assert sentence.startswith("After one token, ")
    assert "attends to" not in sentence


def test_the_picture_alone_is_text_and_chart():
    app = opened("write.py")
    app.session_state["_view"] = "picture"  # as app.py notes it
    app.run()
    assert len(app.get("vega_lite_chart")) == 1
    assert not app.button
    assert not app.slider
    assert picture(app) is None


def test_step_writes_the_marked_token_and_back_keeps_it(gpt2):
    app = at_gpt2(**CHOICE)
    (marked,) = {row["id"] for row in bars(app) if row["taken"]}
    press(app, "on")
    assert written(app) == [marked]
    press(app, "on")
    both = written(app)
    press(app, "back")
    assert written(app) == both
    assert app.query_params["at"] in ("1", ["1"])
    assert {row["id"] for row in bars(app) if row["taken"]} == {both[1]}
    press(press(app, "on"), "reset")
    assert written(app) == []


def test_a_run_writes_what_generate_does_and_steps_write_the_same(gpt2):
    app = press(at_gpt2(**CHOICE, tokens="6"), "run")
    options = {"temperature": 0.5, "top_k": 9, "top_p": 0.6, "repetition_penalty": 1.5, "seed": 3}
    expected = gpt2.generate(TEXT, 6, "sample", **options).token_ids
    assert tuple(written(app)) == expected
    stepped = at_gpt2(**CHOICE)
    for _ in range(4):
        press(stepped, "on")
    assert tuple(written(stepped)) == expected[:4]


def test_every_written_token_has_the_probability_that_the_model_gave_it(gpt2):
    app = at_gpt2(written="11.20.33", at="1")
    ids = list(gpt2.tokenizer.encode(TEXT).ids)
    strip = tokens_shown(app)
    assert (strip["at"], len(strip["tokens"])) == (1, 3)
    for place, token in enumerate((11, 20, 33)):
        logits = gpt2.trace_ids([*ids, *(11, 20, 33)[:place]]).logits[-1].double().numpy()
        piece = visible(gpt2.tokenizer.pieces([token])[0])
        label = f"Token {place + 1}, {piece}, {percent(softmax(logits)[token], 1)}"
        assert strip["tokens"][place]["said"].startswith(label)


def test_another_token_is_taken_from_the_list_and_the_rest_goes(gpt2):
    app = at_gpt2(written="11.20.33", at="1")
    other = next(row["id"] for row in bars(app) if row["id"] != 20)
    app.selectbox(key="other").set_value(other)
    press(app, "take")
    assert written(app) == [11, other]


def test_the_explorer_and_the_lens_follow_the_step(gpt2):
    app = at_gpt2(written="11.20.33", at="2")
    trace: Any = gpt2.trace_ids([*gpt2.tokenizer.encode(TEXT).ids, 11, 20])
    explorer = picture(app)
    assert explorer["view"]["query"] == len(trace.decoder.ids) - 1
    for (_, layer), weights in explorer["layers"].items():
        assert np.abs(weights - trace.decoder.blocks[layer].self_attention.weights.numpy()).max() <= 0.004
    table = app.dataframe[0].value
    logits = trace.logits[-1].double().numpy()
    assert table["probability of the token"].iloc[-1] == pytest.approx(softmax(logits)[33], rel=1e-4)
    assert table["its rank"].iloc[-1] == int((logits > logits[33]).sum()) + 1


@pytest.mark.parametrize("setting", [{"temperature": "0"}, {"top_p": "0"}, {"method": "greedy", "top_k": "0"}])
def test_nothing_left_to_chance_means_the_likeliest(setting, gpt2):
    app = press(at_gpt2(**setting), "on")
    assert written(app) == [int(gpt2.trace(TEXT).logits[-1].argmax())]


def test_a_full_context_says_so_and_stops(app_folders, gpt2):
    most = gpt2.longest
    app = press(at_gpt2(tokens="200", temperature="2", top_k="0", top_p="1"), "run")
    assert f"The model reads at most {most} tokens" in app.markdown[0].value
    assert len(written(app)) == most - len(gpt2.tokenizer.encode(TEXT).ids)
    assert app.button(key="on").disabled
    assert app.button(key="run").disabled


@pytest.mark.parametrize("text", ["the dog " * 200, "🔦 Привет 你好 " * 9])
def test_long_and_unknown_texts_open(text, app_folders):
    app = at_gpt2(text=text)
    assert len(app.get("vega_lite_chart")) == 2


def test_an_empty_text_is_refused_in_a_sentence(app_folders):
    assert "type a word" in one_refusal(opened("write.py", checkpoint="gpt2", text=" ", written="1.2"))


@pytest.mark.parametrize(
    "address",
    [
        {"written": "1.2.999999"}, {"written": "1..2"}, {"written": "-1"}, {"written": ".".join(["1"] * 9000)},
        {"at": "7"}, {"at": "x"}, {"temperature": "nan"}, {"temperature": "9"}, {"top_k": "1e9"}, {"top_p": "1.1"},
        {"penalty": "0"}, {"method": "beam"}, {"seed": "-1"}, {"tokens": "0"},
    ],
)  # fmt: skip
def test_a_hostile_address_falls_back_to_the_default(address, app_folders):
    app = at_gpt2(**address)
    assert set(address) & set(app.query_params) == set()
    assert [info.value for info in app.info] == [
        f"The address gives no usable value for {next(iter(address))}; the default is shown."
    ]


def test_another_text_starts_afresh(app_folders):
    app = at_gpt2(written="11.20")
    typed(app, "a cat saw")
    assert written(app) == []


def test_an_encoder_is_told_apart_with_one_click_to_a_decoder(app_folders):
    app = opened("write.py", checkpoint="bert", text=TEXT)
    assert "bert does not continue texts" in app.info[0].value
    app.button(key="offer").click().run()
    assert not app.info
    assert picture(app) is not None


def test_without_any_decoder_the_page_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("model.checkpoint.CHECKPOINTS", tmp_path)
    checkpoint_files.save_checkpoint(
        tmp_path / "sentiment", tiny.transformer(labels=("no", "yes")), tiny.tokenizer(), {}
    )
    app = opened("write.py")
    assert not app.exception
    assert app.info[0].value.endswith("This page needs a decoder\\-only model\\, and none is here\\.")
    assert link(app, "Models: get one").page == "checkpoints"


def test_the_first_visit_opens_on_an_example_and_a_decoder(tmp_path, monkeypatch):
    monkeypatch.setattr("model.checkpoint.CHECKPOINTS", tmp_path)
    for name, model in (("sentiment", tiny.transformer(labels=("no", "yes"))), ("tales", tiny.transformer("decoder"))):
        checkpoint_files.save_checkpoint(tmp_path / name, model, tiny.tokenizer(), {})
    app = opened("write.py")
    assert not app.exception
    assert bar(app)["text"] == EXAMPLE
    assert [name for name, _ in bar(app)["models"]] == ["tales"]
    assert picture(app) is not None


def test_the_script_writes_the_same_text_again(gpt2, app_folders):
    options = {"method": "sample", "seed": 3, "temperature": 1.5, "top_k": 0}
    first = gpt2.generate(TEXT, 3, **options).token_ids
    ids = (*first, 40, *gpt2.generate(TEXT, 4, written=(*first, 40), **options).token_ids)
    script = written_script(str(app_folders / "gpt2"), TEXT, ids, {3: 40}, options, Edits())
    ran = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == str(list(ids))


def test_what_has_been_written_counts_among_the_tokens_that_the_model_reads():
    address = {"checkpoint": "stories", "text": "Once" + " the" * 99, "written": ".".join(["11"] * 120)}
    stories = load_checkpoint("stories")
    read = len(stories.tokenizer.encode(address["text"]).ids) + 120
    assert 0.8 * stories.longest <= read < stories.longest
    told = f"The text takes {read} of the {stories.longest} tokens that the model reads."
    assert told in [plain(caption.value) for caption in opened("write.py", **address).caption]


def test_the_page_says_what_the_model_cannot_do():
    captions = [plain(each.value) for each in opened("write.py").caption]
    card = load_checkpoint("stories", device="cpu").card
    assert f"Limits of stories: {' '.join(card['limits'])}" in captions
