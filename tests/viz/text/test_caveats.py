"""What keeps a model from judging a text, said beside its answer."""

from dataclasses import replace

import pytest
import torch

from model import load_checkpoint
from model.tokenizer import Tokenizer
from model.training.watched.recordings import RECORDINGS
from pages.parts.models.watched_moments import recorded_history
from tests.pages.test_every_page import opened
from viz.text.card_tables import is_untrained
from viz.text.caveats import (
    UNTRAINED,
    caveats,
    characters_in_bytes,
    length,
    pieces_by_word,
    undecided_caveat,
    unknown_tokens,
    unusual_length,
)


@pytest.fixture(scope="module")
def sentiment():
    return load_checkpoint("sentiment")


@pytest.fixture(scope="module")
def stories():
    return load_checkpoint("stories")


@pytest.fixture(scope="module")
def translator():
    return load_checkpoint("translate-en-fr")


def of_text(checkpoint, text: str) -> str:
    trace = checkpoint.trace(text)
    stack = trace.encoder or trace.decoder
    probabilities = checkpoint.probabilities(trace) if checkpoint.config.labels else None
    return caveats(stack, checkpoint.tokenizer.unknown_id, probabilities, checkpoint.card)


def test_an_ordinary_sentence_has_none(sentiment, stories):
    assert of_text(sentiment, "The film was slow, but I loved it.") == ""
    assert of_text(stories, "Once upon a time there was a king.") == ""


def test_unknown_tokens_are_counted_and_named(sentiment):
    caveat = of_text(sentiment, "A great film 🙂 🙂 日")
    assert caveat.startswith("3 of 6 tokens are unknown to the model: “🙂”, “日”.")
    assert caveat.endswith("It was trained for classification of English texts as negative or positive.")
    assert of_text(sentiment, "A great film 日").startswith("1 of 4 tokens is unknown to the model: “日”.")


def test_added_tokens_are_no_unknown_ones(sentiment):
    read = sentiment.trace("a b c d").encoder
    tokens, special = ("[S]", "[UNK] a", "b", "[E]"), (True, False, False, True)
    stack = replace(read, ids=torch.tensor([9, 1, 5, 9]), tokens=tokens, special=special)
    assert unknown_tokens(stack, 1) == "1 of 2 tokens is unknown to the model: “a”."
    assert unknown_tokens(stack, 9) == ""
    assert unknown_tokens(stack, None) == ""
    nameless = replace(stack, tokens=("[S]", "[UNK]", "b", "[E]"))
    assert unknown_tokens(nameless, 1) == "1 of 2 tokens is unknown to the model."


def test_a_blank_among_unknown_tokens_and_a_comma_are_told_apart():
    checkpoint = recorded_history("induction-two-layers").checkpoint(1000)
    caveat = of_text(checkpoint, "T h,o")
    assert caveat.startswith("3 of 5 tokens are unknown to the model: “T”, a blank, “,”. It was trained for saying")


def test_of_random_weights_it_is_said_that_they_are():
    history = recorded_history("induction-two-layers")
    assert of_text(history.checkpoint(0), "abcdef").startswith(f"{UNTRAINED} It is to be trained for saying which")
    assert of_text(history.checkpoint(history.last.step), "abcdef") == ""
    assert UNTRAINED in of_text(load_checkpoint(RECORDINGS / "stories-small" / "0"), "Once there was")
    assert not any(is_untrained(card) for card in ({}, {"training": {"steps": False}}, {"training": {"steps": 4}}))


def test_characters_that_are_read_byte_by_byte_are_said(stories):
    caveat = (
        "Not in the model's vocabulary: {}. It reads them byte by byte (“\ufffd{}” is one byte, in hexadecimal), and "
        "has seldom or never seen them."
    )
    assert caveat.format("“🙂”", "F0") in of_text(stories, "Once upon a 🙂")
    assert caveat.format("“日”, “本”, “語” and 2 more", "E6") in of_text(stories, "日本 日本語です")
    assert characters_in_bytes(("a", "\ufffdF0", "\ufffd9F")) == caveat.format("some characters of the text", "F0")


def test_a_character_read_byte_by_byte_is_no_word_in_pieces(stories):
    assert "in pieces" not in of_text(stories, "🙂")


def test_a_text_that_is_mostly_in_pieces_is_said(sentiment):
    caveat = of_text(sentiment, "asdf qwer zxcv")
    assert caveat.startswith(
        "3 of 3 words, as they stand here, are not in the model's vocabulary: the model reads them in pieces."
    )
    assert "vocabulary" not in of_text(sentiment, "The zorgleflub was good.")


def test_the_pieces_of_every_word_are_counted_and_signs_are_no_words():
    assert pieces_by_word(("as", "##d", ",", "the", "7"), (0, 0, 1, 2, 3)) == [2, 1]
    assert pieces_by_word(("a",), ()) == []
    assert pieces_by_word(("[S]", "a"), (None, 0)) == [1]
    assert pieces_by_word(("a", "b", "c", "##d"), (0, 1, 0, 0), (0, 0, 1, 1)) == [1, 1, 2]
    assert pieces_by_word(("\ufffdF0", "\ufffd9F", "a"), (0, 0, 1)) == [1]


@pytest.mark.parametrize(
    ("positive", "caveat"),
    [
        (0.54, "The model is not sure: positive 54 %, negative 46 %."),
        (0.59, "The model is not sure: positive 59 %, negative 41 %."),
        (0.61, ""),
        (0.2, ""),
    ],
)
def test_nearly_even_odds_are_said(positive, caveat):
    assert undecided_caveat({"negative": 1 - positive, "positive": positive}).replace("\u00a0", " ") == caveat


def test_tokens_are_counted_once_they_are_nearly_all_that_the_model_reads(stories):
    limit = stories.longest
    of = {words: length(stories.trace(" the" * words).decoder, limit) for words in (20, limit - 10, limit, limit + 9)}
    assert of[20] == ""
    assert of[limit - 10] == f"The text takes {limit - 10} of the {limit} tokens that the model reads."
    assert of[limit] == f"The text takes {limit} of the {limit} tokens that the model reads."
    assert of[limit + 9] == f"Kept {limit} of {limit + 9} tokens: the text is longer than the model can read."


@pytest.mark.parametrize("odd", [None, True, "16", 5.5, -1])
def test_a_text_longer_than_nearly_all_that_were_learned_from_is_said(translator, odd):
    read = translator.trace("The red house is big.").encoder
    tokens = len(read.ids)
    assert unusual_length(read, {"usual_length": tokens}) == ""
    caveat = f"The text has {tokens} tokens; 19 of 20 texts that the model was trained on have at most {tokens - 1}."
    assert unusual_length(read, {"usual_length": tokens - 1}) == caveat
    assert caveat in caveats(read, None, card={"usual_length": tokens - 1})
    assert unusual_length(read, {"usual_length": odd}) == unusual_length(read, {}) == ""


def test_of_three_labels_the_odds_of_the_first_two_count():
    assert undecided_caveat({"a": 0.4, "b": 0.35, "c": 0.25})
    assert not undecided_caveat({"a": 0.5, "b": 0.3, "c": 0.2})
    assert undecided_caveat({"a": 1.0}) == undecided_caveat(None) == ""


def test_the_unknown_token_is_found_by_the_tokenizers_own_word_for_it(sentiment, stories):
    assert sentiment.tokenizer.encode("日").ids == (sentiment.tokenizer.unknown_id,)
    assert stories.tokenizer.unknown_id is None
    trained = Tokenizer.train_word_pieces(iter(["a film"]), 20)
    assert trained.unknown_id == 1


@pytest.mark.parametrize("page", ["explore.py", "inside.py", "positions.py", "break.py", "evidence.py"])
def test_every_page_that_reads_the_text_says_it(page):
    captions = " ".join(caption.value for caption in opened(page, text="日" + " a" * 520).main.caption)
    assert "1 of 512 tokens is unknown to the model" in captions
    assert "Kept 512 of 521 tokens" in captions


@pytest.mark.parametrize("page", ["write.py", "translate.py"])
def test_so_do_the_pages_whose_models_read_bytes(page):
    captions = " ".join(caption.value for caption in opened(page, text="A film 🙂").main.caption)
    assert "reads them byte by byte" in captions
