"""Which heads of an encoder look along the relations of a dependency tree.

Clark et al. 2019, "What Does BERT Look At?", section 4.2. The weights of tokens become those of words: summed over the
tokens of the word that is looked at, averaged over those of the word that looks (section 4.1). For every dependent an
attention head names one other word of the sentence, in one of two directions: the word to which the dependent gives
most, or the word that gives most to the dependent. It is right where that word is the dependent's head in the tree.
Beside it the fixed offset that is right most often. Null: each dependent's gold head is another dependent's of the same
sentence, so that an attention head which always looks at the main verb gains nothing.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from jaxtyping import Bool, Float, Int

from model.checkpoint import Checkpoint
from model.errors import InputError
from model.measures.alignment import word_weights, words_of
from model.measures.head_scores.gold_hits import Hits, HitsByName, added_hits
from model.measures.head_scores.treebank import ROOT, ParsedSentence
from model.trace import StackTrace

DIRECTIONS = ("from dependent to head", "from head to dependent")
FARTHEST = 10
OFFSETS = tuple(offset for offset in range(-FARTHEST, FARTHEST + 1) if offset)
RULES = tuple(f"offset {offset:+d}" for offset in OFFSETS)
NOT_ASKED = ("root", "punct")  # the one has no head, the other's is a convention


def encoder_of(checkpoint: Checkpoint, text: str) -> StackTrace:
    """The encoder's trace of a text; a decoder beside it reads no more than where it starts."""
    config = checkpoint.config
    target = (int(config.end_id or 0),) if config.is_encoder_decoder else None
    encoder = checkpoint.trace(text, target=target, logits=False).encoder
    assert encoder is not None
    return encoder


def of_words(
    stack: StackTrace, spans: Iterable[tuple[int, int]]
) -> tuple[Float[np.ndarray, "layer head query key"], Bool[np.ndarray, " word"]]:
    """The weights from word to word, and which words have a token of their own."""
    places = list(spans)
    words = words_of(stack, places)
    with_token = np.array([number in set(words) for number in range(len(places))], bool)
    return word_weights(stack.weights().numpy(), words, words, (len(places), len(places))), with_token


def named_words(
    weights: Float[np.ndarray, "layer head query key"], with_token: Bool[np.ndarray, " word"]
) -> Int[np.ndarray, "direction layer head word"]:
    """The other word that every head names for each word, in each direction; of equals the first."""
    others = with_token[:, None] & with_token & ~np.eye(len(with_token), dtype=bool)
    allowed = np.where(others, weights, -1.0)
    return np.stack([allowed.argmax(axis=-1), allowed.argmax(axis=-2)])


def asked_dependents(sentence: ParsedSentence, with_token: Bool[np.ndarray, " word"]) -> list[int]:
    """The words whose relation is asked for: they and their heads have tokens of their own."""
    return [
        word
        for word, (head, relation) in enumerate(zip(sentence.heads, sentence.relations, strict=True))
        if relation not in NOT_ASKED and head != ROOT and with_token[word] and with_token[head]
    ]


def arc_hits(
    named: Int[np.ndarray, "direction layer head word"], sentence: ParsedSentence, dependents: list[int], seed: int
) -> HitsByName:
    """By relation, which heads and which offsets are right about these dependents."""
    gold = np.array(sentence.heads)[dependents]
    permuted = gold[np.random.default_rng(seed).permutation(len(gold))]
    by_relation = defaultdict[str, list[int]](list)
    for number, word in enumerate(dependents):
        by_relation[sentence.relations[word]].append(number)
    hits = {}
    for relation, numbers in by_relation.items():
        words = np.array(dependents)[numbers]
        hits[relation] = Hits(
            questions=len(numbers),
            heads=(named[..., words] == gold[numbers]).sum(axis=-1),
            permuted=(named[..., words] == permuted[numbers]).sum(axis=-1),
            rules=np.array([(gold[numbers] - words == offset).sum() for offset in OFFSETS]),
        )
    return hits


def syntax_hits(
    checkpoint: Checkpoint,
    sentences: Iterable[tuple[int, ParsedSentence]],
    *,
    stopped: Callable[[], bool] = lambda: False,
) -> Iterator[HitsByName]:
    """The counts so far, after each of these numbered sentences; one that cannot be read adds nothing."""
    totals: HitsByName = {}
    for number, sentence in sentences:
        if stopped():
            return
        try:
            stack = encoder_of(checkpoint, sentence.text)
        except InputError:
            continue
        weights, with_token = of_words(stack, sentence.spans)
        dependents = asked_dependents(sentence, with_token)
        totals = added_hits(totals, arc_hits(named_words(weights, with_token), sentence, dependents, seed=number))
        yield totals
