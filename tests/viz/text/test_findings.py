"""The words of a finding: every form of every title and sentence, and that "every" is said only where it is so."""

from typing import Any

import numpy as np
import pytest

from model import load_checkpoint
from model.measures.head_kinds import KINDS, Finding, cards, finding, measure, sides_of
from model.measures.positions.shuffled_order import shuffled_weights
from tests.first_example import FOUND, FOUND_NAME, LOVED
from viz.explorer.attention_kinds import Kind, Text, kinds_of
from viz.text import head_findings

OWN = head_findings.NOT_TO_ITSELF
WORDS = ("the", "film", "was", "slow", "and", "the", "end", ".")


def text(tokens=WORDS, *, stack="encoder", **options) -> Text:
    facts: dict[str, Any] = {"special": (False,) * len(tokens), "words": tuple(range(len(tokens)))}
    return Text(stack=stack, tokens=tuple(tokens), **facts | options)


def kind(tokens=WORDS, *, causal=False, **options) -> Kind:
    side = text(tokens, **options)
    weights = np.zeros((2, len(tokens), len(tokens)), np.float32)
    weights[:, 0, -1] = 1
    name = "decoder" if causal else "encoder"
    return Kind(name=name, queries=side, keys=side, weights=(weights,) * 4, causal=causal)


def cross() -> Kind:
    queries, keys = text(("[START]", "le", "film"), stack="decoder", special=(True, False, False)), text()
    weights = (np.zeros((1, 3, len(WORDS)), np.float32),)
    return Kind(name="cross", queries=queries, keys=keys, weights=weights, causal=False)


def finding_of(name="points_at", leads=1.0, key=None, **changes) -> Finding:
    key = {"points_at": 3, "first_token": 0}.get(name) if key is None else key
    facts: dict[str, Any] = {"layer": 3, "head": 1, "query": None, "score": 0.71, "null": 0.1}
    return Finding(kind=name, leads=leads, key=key, **facts | changes)


def plain(sentence: str) -> str:
    return sentence.replace("\u00a0", " ")


ALL, MOST, HEAD = 1.0, 0.6, 0.5
TITLES = [
    ("points_at", ALL, "Every word looks at “slow”."),
    ("points_at", MOST, "Most words look at “slow”."),
    ("points_at", HEAD, "Layer 4, head 2 looks at “slow”."),
    ("previous_token", ALL, "Every word but the first looks at the word before it."),
    ("previous_token", MOST, "Most words look at the word before them."),
    ("previous_token", HEAD, "Layer 4, head 2 looks at the previous word."),
    ("next_token", ALL, "Every word but the last looks at the word after it."),
    ("next_token", MOST, "Most words look at the word after them."),
    ("next_token", HEAD, "Layer 4, head 2 looks at the next word."),
    ("same_word", ALL, "Every repeated word looks at its other occurrences."),
    ("same_word", MOST, "Most repeated words look at their other occurrences."),
    ("same_word", HEAD, "Layer 4, head 2 looks at other occurrences of the same word."),
    ("induction", ALL, "Every repeated word looks at what followed it before."),
    ("induction", MOST, "Most repeated words look at what followed them before."),
    ("induction", HEAD, "Layer 4, head 2 looks at what followed the same word before."),
    ("punctuation", ALL, "Every word looks at punctuation."),
    ("punctuation", MOST, "Most words look at punctuation."),
    ("punctuation", HEAD, "Layer 4, head 2 looks at punctuation."),
    ("first_token", ALL, "Every word but the first looks at the first word, “the” (word 1)."),
    ("first_token", MOST, "Most words look at the first word, “the” (word 1)."),
    ("first_token", HEAD, "Layer 4, head 2 looks at the first word, “the” (word 1)."),
    ("spreads", 0.0, "Layer 4, head 2 is broad: it spreads its attention widely."),
]


@pytest.mark.parametrize(("name", "leads", "title"), TITLES)
def test_a_title_says_how_many_words_and_at_what(name, leads, title):
    assert head_findings.title(finding_of(name, leads), kind()) == title


def test_the_first_word_is_no_exception_where_it_too_gives_most_to_itself():
    itself = kind()
    itself.weights[3][1, 0, 0] = 2
    assert head_findings.title(finding_of("first_token", ALL), itself).startswith("Every word looks at the first word")


def test_tokens_of_one_character_are_characters():
    assert head_findings.title(finding_of(key=2), kind(tuple("abcd"))) == "Every character looks at “c”."


def test_every_is_said_only_of_every_query():
    assert head_findings.title(finding_of(leads=1 - 1e-3), kind()).startswith("Most")
    assert head_findings.title(finding_of(leads=0.5), kind()).startswith("Layer")


@pytest.mark.parametrize(
    ("name", "leads", "title"),
    [
        ("points_at", ALL, "Every word from “slow” on looks at it."),
        ("points_at", MOST, "Most words from “slow” on look at it."),
        ("same_word", ALL, "Every repeated word looks at its earlier occurrences."),
        ("punctuation", ALL, "Every word after a punctuation mark looks at punctuation."),
        ("punctuation", MOST, "Most words after a punctuation mark look at punctuation."),
        ("previous_token", ALL, "Every word but the first looks at the word before it."),
    ],
)
def test_in_a_causal_model_words_look_back(name, leads, title):
    assert head_findings.title(finding_of(name, leads), kind(causal=True)) == title


@pytest.mark.parametrize(
    ("name", "leads", "title"),
    [
        ("points_at", ALL, "Every target word looks at the source word “slow”."),
        ("points_at", HEAD, "Layer 4, head 2 looks at the source word “slow”."),
        ("first_token", ALL, "Every target word looks at the first source word, “the” (word 1)."),
        ("punctuation", MOST, "Most target words look at source punctuation."),
    ],
)
def test_cross_attention_names_both_texts(name, leads, title):
    assert head_findings.title(finding_of(name, leads), cross()) == title


def test_a_single_query_is_the_subject():
    two = kind(("The", " cat"), causal=True)
    one = finding_of(key=0, query=1, score=0.97)
    assert head_findings.title(one, two) == "The word “cat” looks at “The”."
    assert plain(head_findings.sentence(one, two)) == "Layer 4, head 2 gives it 97 % of its attention."


@pytest.mark.parametrize(
    ("name", "leads", "causal", "sentence"),
    [
        ("points_at", ALL, False, "Layer 4, head 2 gives it 71 % of its attention."),
        ("points_at", HEAD, False, "It gives this word 71 % of its attention."),
        ("points_at", MOST, True, "Layer 4, head 2 gives it 71 % of its attention."),
        ("points_at", HEAD, True, "From there on, it gives this word 71 % of its attention."),
        ("previous_token", MOST, False, "Layer 4, head 2 gives that word 71 % of its attention."),
        ("next_token", HEAD, False, "It gives that word 71 % of its attention."),
        ("same_word", HEAD, False, "It gives them 71 % of a repeated word's attention."),
        (
            "induction",
            ALL,
            True,
            "Layer 4, head 2 gives the word after the earlier occurrence 71 % of a repeated word's attention.",
        ),
        ("punctuation", HEAD, False, f"It gives punctuation 71 % of its attention. {OWN}"),
        (
            "punctuation",
            MOST,
            True,
            f"After the first punctuation mark, layer 4, head 2 gives it 71 % of its attention. {OWN}",
        ),
        ("first_token", HEAD, True, f"It gives this word 71 % of its attention. {OWN}"),
        (
            "spreads",
            0.0,
            False,
            "Its entropy is 71 % of its maximum, at which every word that it sees gets the same share.",
        ),
    ],
)
def test_a_sentence_gives_the_number(name, leads, causal, sentence):
    assert plain(head_findings.sentence(finding_of(name, leads), kind(causal=causal))) == sentence


@pytest.mark.parametrize(("score", "share"), [(1.0, "100 %"), (0.9996, "more than 99 %"), (0.0004, "less than 0.1 %")])
def test_no_sign_stands_in_a_sentence(score, share):
    assert (
        plain(head_findings.sentence(finding_of(score=score), kind()))
        == f"Layer 4, head 2 gives it {share} of its attention."
    )


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_has_a_card_and_words_for_its_null(name):
    card = {part: plain(sentence) for part, sentence in head_findings.card(finding_of(name), kind()).items()}
    title = "Points at “slow”" if name == "points_at" else head_findings.NAMES[name]
    assert (card["id"], card["title"], card["where"]) == (name, title, "Layer 4, head 2")
    nulls = {"spreads": "at random", "previous_token": "without positions", "next_token": "without positions"}
    null = (nulls | {"first_token": "without positions"}).get(name, "at the same place, words shuffled")
    assert (card["number"], card["chance"]) == ("71 %", f"{null}: 10 %")
    of_repeated = "of a repeated word's attention"
    wholes = {"spreads": "of the maximum entropy", "same_word": of_repeated, "induction": of_repeated}
    assert card["whole"] == wholes.get(name, "of its attention")
    own = f" {OWN}" if name in ("same_word", "punctuation", "first_token") else ""
    assert plain(head_findings.against(finding_of(name, null=0.123))).endswith(f"12 %.{own}")
    assert list(head_findings.NAMES) == list(KINDS)


def test_pieces_of_words_are_tokens():
    pieces = kind(("L", "ily", " ran"), words=(0, 0, 1))
    assert head_findings.title(finding_of(key=1), pieces) == "Every token looks at “ily”."
    assert (
        head_findings.title(finding_of("previous_token"), kind(words=None))
        == "Every token but the first looks at the token before it."
    )


def test_added_tokens_are_no_words_and_may_come_first():
    added = kind(("[CLS]", "good", "film"), special=(True, False, False), words=(None, 0, 1))
    assert head_findings.title(finding_of("first_token"), added) == "Every word looks at the first token, “[CLS]”."
    assert (
        plain(head_findings.sentence(finding_of("first_token", HEAD), added))
        == f"It gives this token 71 % of its attention. {OWN}"
    )


@pytest.mark.parametrize(
    ("token", "name"),
    [
        (" dragon", "“dragon”"),
        ("▁house", "“house”"),
        ("\n", "“↵”"),
        (" ", "“␣”"),
        ("\u200b", "“U+200B”"),
        ("<b>*x*</b>", "“<b>*x*</b>”"),
        ("a" * 90, f"“{'a' * 23}…”"),
    ],
)
def test_tokens_are_cut_and_what_is_invisible_is_shown(token, name):
    assert head_findings.title(finding_of(key=0), kind((token, "b"))) == f"Every word looks at {name}."


@pytest.mark.parametrize(("score", "verb"), [(0.5, "looks"), (0.49, "looks most")])
def test_a_look_with_less_than_half_of_the_weight_is_called_the_most(score, verb):
    assert head_findings.title(finding_of(score=score), kind()) == f"Every word {verb} at “slow”."


def test_where_nothing_is_found_the_sentence_says_why():
    assert head_findings.no_finding_sentence(kind(("one",))) == head_findings.ALONE
    assert head_findings.no_finding_sentence(kind()) == head_findings.NOTHING


def test_the_default_sentence_of_the_sentiment_model():
    bundled = load_checkpoint("sentiment", device="cpu")
    trace = bundled.trace("The film was slow, but I loved it.")
    kind = kinds_of(trace)["encoder"]
    measured = measure(np.stack(kind.weights), sides_of(trace, "encoder"), shuffled_weights(bundled, trace, "encoder"))
    opening = finding(measured)
    assert opening is not None
    assert head_findings.title(opening, kind) == "Every word looks at “loved”."
    share = float(np.stack(kind.weights)[*FOUND, :, LOVED].mean())
    much = "more than 99" if 0.995 < share < 1 else f"{100 * share:.0f}"
    assert plain(head_findings.sentence(opening, kind)) == f"{FOUND_NAME} gives it {much} % of its attention."
    assert all(
        head_findings.title(card, kind) and head_findings.sentence(card, kind) for card in cards(measured, opening)
    )
