"""Text to tokens, and every text or list of ids that is refused."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from model import InputError, load_checkpoint
from model.tokenizer import PAD, UNKNOWN, Tokenizer
from tests import tiny
from tests.tiny import TEXT

ZERO_WIDTH = "\u200b\u200d\ufeff"


def refusal(call) -> str:
    """The one plain sentence with which a call is refused."""
    with pytest.raises(InputError) as caught:
        call()
    message = str(caught.value)
    assert message.isprintable()
    assert message.endswith((".", "delete it."))
    assert 0 < len(message) <= 300
    return message


def test_every_field_of_an_encoding_has_one_entry_a_token():
    encoding = tiny.tokenizer().encode(TEXT)
    assert {len(field) for field in vars(encoding).values()} == {len(encoding.ids)}
    assert encoding.segments == (0,) * len(encoding.ids)
    assert not any(encoding.special)


@given(text=st.text(st.sampled_from("The dog bit a cät 狗 😀.\u200b\t"), min_size=1, max_size=40))
def test_spans_slice_the_typed_text_in_order(text):
    assume(text.strip("\u200b\t "))
    encoding = tiny.tokenizer().encode(text)
    ends = [0]
    for token, span in zip(encoding.tokens, encoding.spans, strict=True):
        assert span is not None
        typed = text[slice(*span)]
        assert typed
        assert span[0] >= ends[-1]
        assert token == f"{UNKNOWN} {typed}" or token.removeprefix("##") == plain(typed)
        ends.append(span[1])


def plain(typed: str) -> str:
    """What the normalizer makes of the letters above."""
    return typed.lower().replace("ä", "a").replace("\u200b", "")


def test_pieces_of_one_word_share_its_number():
    encoding = tiny.tokenizer().encode("dog dogs")
    assert encoding.words[0] == 0
    assert set(encoding.words[1:]) == {1}


def test_an_unknown_word_shows_what_was_typed():
    assert tiny.tokenizer().encode("dog 狗 dog").tokens[1] == f"{UNKNOWN} 狗"


def test_decoding_gives_the_words_back_without_special_tokens():
    encoding = tiny.tokenizer().encode("the old dog")
    assert tiny.tokenizer().decode([0, *encoding.ids, 0]) == "the old dog"
    assert tiny.tokenizer().pieces([0, 1, 9999]) == (PAD, UNKNOWN, "#9999")


def test_unknown_tokens_stand_in_the_text_where_they_are_asked_for():
    tokenizer = tiny.tokenizer()
    for text, kept in (
        ("the old dog", "the old dog"),
        ("dog 狗 dog 狗", f"dog {UNKNOWN} dog {UNKNOWN}"),
        ("狗", UNKNOWN),
    ):
        assert tokenizer.decode_with_unknown([0, *tokenizer.encode(text).ids, 0]) == kept
    assert tokenizer.decode_with_unknown([]) == ""


def test_many_texts_at_once_are_the_same_ids():
    texts = [TEXT, "", "a cat"]
    assert tiny.tokenizer().encode_many(texts) == [list(tiny.tokenizer().encode(TEXT).ids), [], [*ids_of("a cat")]]


def ids_of(text: str) -> tuple[int, ...]:
    return tiny.tokenizer().encode(text).ids


@pytest.mark.parametrize("limit", [1, 3, 6, 100])
def test_a_cut_keeps_the_beginning(limit):
    encoding = tiny.tokenizer().encode(TEXT)
    cut = encoding.cut(limit)
    for name, values in vars(encoding).items():
        assert getattr(cut, name) == values[:limit]


def test_a_cut_keeps_the_tokens_that_were_added():
    encoding = tiny.tokenizer().encode(TEXT)
    marked = {"special": (True, False, False, False, False, True)}
    cut = type(encoding)(**{name: values[:6] for name, values in vars(encoding).items()} | marked).cut(3)
    assert cut.ids == (encoding.ids[0], encoding.ids[1], encoding.ids[5])


def test_ten_thousand_words_are_cut_and_the_trace_says_by_how_many_tokens():
    stack = tiny.checkpoint().trace("dog " * 10_000).encoder
    assert (len(stack.tokens), stack.dropped) == (32, 10_000 - 32)
    assert tiny.checkpoint().trace(TEXT).encoder.dropped == 0


def test_a_trace_describes_its_text():
    stack, encoding = tiny.checkpoint().trace(TEXT).encoder, tiny.tokenizer().encode(TEXT)
    assert stack.ids.tolist() == list(encoding.ids)
    for name in ("tokens", "spans", "words", "special", "segments"):
        assert getattr(stack, name) == getattr(encoding, name)


def test_ids_are_taken_verbatim_and_shown_as_pieces():
    stack = tiny.checkpoint().trace_ids([0, 5, 5]).encoder
    assert stack.ids.tolist() == [0, 5, 5]
    assert stack.tokens == tiny.tokenizer().pieces([0, 5, 5])
    assert stack.spans is None


# Refusals


@pytest.mark.parametrize("text", ["", "   ", "\t\n\r", ZERO_WIDTH, "\x00\x01\x7f"])
@pytest.mark.parametrize("architecture", tiny.ARCHITECTURES)
def test_a_text_without_anything_to_read_is_refused(text, architecture):
    assert refusal(lambda: tiny.checkpoint(architecture).trace(text)).startswith("There is nothing to compute")


@pytest.mark.parametrize(("text", "place"), [("\ud800", 1), ("dog \udfff cat", 5), ("😀\ud83d", 2)])
def test_half_a_surrogate_pair_is_refused_by_its_position(text, place):
    assert refusal(lambda: tiny.checkpoint().trace(text)).startswith(f"Character {place} of the text is half")


@pytest.mark.parametrize("text", ["a\x00b", "dog\u202ecat", "<b>dog</b>", "$x$ **dog**", "שלום", "😀😀", "x" * 6000])
def test_odd_texts_give_one_row_and_one_column_a_token(text):
    stack = tiny.checkpoint().trace(text).encoder
    assert stack.weights().shape == (2, 4, len(stack.tokens), len(stack.tokens))
    assert stack.final.isfinite().all()


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([], "ids: found none, expected one or more."),
        ([0] * 33, "ids: found 33, expected at most 32."),
        ([1, True], "ids[1]: found True, expected 0 to 79."),
        ([-1], "ids[0]: found -1, expected 0 to 79."),
        ([3, 4, 80], "ids[2]: found 80, expected 0 to 79."),
        ([10**40], "ids[0]: found 10000000000000000000, expected 0 to 79."),
    ],
)
def test_ids_that_the_model_cannot_read_are_refused(ids, message):
    assert refusal(lambda: tiny.checkpoint().trace_ids(ids)) == message


def test_targets_and_pairs_are_refused_where_there_is_no_place_for_them():
    encoder, both = tiny.checkpoint(), tiny.checkpoint("encoder-decoder")
    assert "leave the target out" in refusal(lambda: encoder.trace(TEXT, target="a cat"))
    assert "leave the second text out" in refusal(lambda: encoder.trace(TEXT, pair="a cat"))
    assert "target_ids" in refusal(lambda: encoder.trace_ids([1], target_ids=[1]))
    assert "target_ids" in refusal(lambda: both.trace_ids([1]))
    assert "target_ids[0]" in refusal(lambda: both.trace_ids([1], target_ids=[80]))
    assert "leave type_ids out" in refusal(lambda: encoder.trace_ids([1], type_ids=[0]))


def test_a_model_without_labels_classifies_nothing():
    assert "has no classifier" in refusal(lambda: tiny.checkpoint().classify(TEXT))
    assert "has no classifier" in refusal(lambda: tiny.checkpoint("decoder").classify(TEXT))


@pytest.mark.parametrize("device", ["", "gpu", "CPU", "cpu:banana", "cuda:99", "tpu\n", "x" * 500])
def test_a_device_that_this_machine_does_not_have_is_refused(device):
    assert "expected auto or one of" in refusal(lambda: load_checkpoint("sentiment", device=device))


class PanicException(BaseException):
    """What the Rust side raises, and `except Exception` does not catch."""


class Backend:
    """A library object whose every call fails in one way."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def encode(self, text, pair):
        raise self.error

    def decode(self, ids, skip_special_tokens):
        raise self.error


def failing(error: BaseException) -> Tokenizer:
    tokenizer = object.__new__(Tokenizer)
    tokenizer.backend = Backend(error)
    return tokenizer


@pytest.mark.parametrize("error", [PanicException("index 3\nout of range"), Exception("WordPiece error"), Exception()])
def test_a_failure_inside_the_tokenizer_is_one_plain_sentence(error):
    assert refusal(lambda: failing(error).encode(TEXT)).startswith("The tokenizer of this checkpoint failed on this")
    assert refusal(lambda: failing(error).decode([1])).startswith("The tokenizer of this checkpoint failed on this")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit()])
def test_whoever_stops_the_program_is_not_caught(error):
    with pytest.raises(type(error)):
        failing(error).encode(TEXT)
