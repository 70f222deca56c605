"""Kinds of heads: what a head does with one text, how strongly, and how strongly it would look so by accident.

A score is between 0 and 1, one for each layer and head, and stands beside its null: the score of a head that does not
do what the score is for. There are two nulls, for two sorts of kinds.

Kinds about words (points_at, same_word, induction, punctuation, spreads): the same cells (query, key) of the same
weights in a text of the same tokens in another order. A head that looks for a word follows it to its new place and
leaves those cells; one that looks at a place stays in them, and so has no excess. (The largest weight of the shuffled
text wherever it stands would be no null: a head that looks for "loved" finds it in any order.)

Kinds about positions (previous_token, next_token, first_token): a shuffled text keeps them, for a head that attends to
the previous token does so whatever the token is. Their null is the expected score when every query's weights are
permuted among the keys that it sees: that of a head as sharp as this one which knows nothing of positions. What only
this order of words brings about is no matter of positions: in the shuffled texts too the score must lie above it.

Special tokens ([CLS], [SEP], [START], padding) are neither queries nor keys; only the first token may be one, for a
beginning is where attention sinks are. Queries that see a single key are left out: they have no choice.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float, Int

from model.checkpoint import Checkpoint
from model.edits import NO_EDITS, Edits
from model.measures.head_statistics import is_punctuation
from model.measures.positions.shuffled_order import shuffled_weights
from model.trace import StackTrace, Trace

Weights = Float[np.ndarray, "layer head query key"]
Scores = Float[np.ndarray, "layer head"]
Cells = Bool[np.ndarray, "query key"]

KINDS = ("points_at", "previous_token", "next_token", "same_word", "induction", "punctuation", "first_token", "spreads")
CARDS = len(KINDS) - 1  # one for each kind but that of the finding
LEAST_EXCESS = 0.05  # less is nothing that anybody sees in a picture
ERRORS = 3.0  # how many standard errors of its null a score must lie above it
NOTABLE = 0.25  # a word that gets so much beyond the null goes before all other kinds


@dataclass(frozen=True, kw_only=True, eq=False)
class Sides:
    """What is known of the queries and keys of one attention beside its weights."""

    query_special: Bool[np.ndarray, " query"]
    key_special: Bool[np.ndarray, " key"]
    key_tokens: tuple[str, ...]
    visible: Bool[np.ndarray, "#layer query key"]  # which keys a query may see; one for all layers where they agree
    one_text: bool  # queries and keys are positions of one text, and not of two as in cross-attention

    @cached_property
    def queries(self) -> Bool[np.ndarray, " query"]:
        """The queries that count: not special, and with a choice in every layer."""
        return ~self.query_special & (self.visible.sum(axis=-1).min(axis=0) > 1)

    @cached_property
    def looks_back(self) -> bool:
        """Whether no query sees a key that follows it."""
        return not np.triu(self.visible.any(axis=0), 1).any()

    @cached_property
    def counted(self) -> Cells:
        """The cells of queries and keys that count, where the one may see the other in some layer."""
        return self.visible.any(axis=0) & self.queries[:, None] & ~self.key_special

    @cached_property
    def punctuation(self) -> Bool[np.ndarray, " key"]:
        """Which keys are punctuation, or blank: a line's end separates as a comma does."""
        return np.array([is_punctuation(token) or not word_of(token) for token in self.key_tokens], bool)

    @cached_property
    def cells(self) -> dict[str, Cells]:
        """Which cells every kind is about, for the kinds that are about some."""
        return {kind: cells(self) for kind, cells in CELLS.items()}


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What one head does with a text. All indices count from 0.

    kind: one of ``KINDS``.
    key: the one key that it is about, for "points_at" and "first_token".
    query: where the score is of one query alone, that query; else it is a mean over several.
    leads: the share of these queries that give their largest weight to a key of this kind; 0 for "spreads".
    """

    kind: str
    layer: int
    head: int
    key: int | None
    query: int | None
    score: float
    null: float
    leads: float

    @property
    def excess(self) -> float:
        """By how much the score exceeds its null."""
        return self.score - self.null


@dataclass(frozen=True, kw_only=True, eq=False)
class KindScores:
    """The scores of one text by kind, their nulls, and the standard errors of these.

    shuffled: the mean over the shuffled texts, in the cells of the text itself.
    keys: what points_at points at.
    """

    sides: Sides
    scores: dict[str, Scores]
    nulls: dict[str, Scores]
    errors: dict[str, Scores]
    shuffled: dict[str, Scores]
    leads: dict[str, Scores]
    keys: Int[np.ndarray, "layer head"]


# What is known of a text


def sides_of(trace: Trace, attention: str) -> Sides:
    """The queries and keys of the "encoder", the "decoder" or "cross"-attention of a trace."""
    stack = trace.encoder if attention == "encoder" else trace.decoder
    keys = trace.encoder if attention == "cross" else stack
    assert stack is not None
    assert keys is not None
    return Sides(
        query_special=special_of(stack),
        key_special=special_of(keys),
        key_tokens=keys.names(),
        visible=visible_of(stack, cross=attention == "cross"),
        one_text=attention != "cross",
    )


def word_of(token: str) -> str:
    """The token without the marks of a space, in lower case; "" for a blank."""
    return token.strip().strip("▁Ġ").casefold()


def special_of(stack: StackTrace) -> Bool[np.ndarray, " position"]:
    """Which tokens the tokenizer added; none where that is not known."""
    return np.array(stack.special if stack.special is not None else [False] * len(stack.ids), bool)


def visible_of(stack: StackTrace, *, cross: bool = False) -> Bool[np.ndarray, "_ query key"]:
    """Which keys a query may see, layer by layer, or once where all layers agree."""
    attentions = (block.cross_attention if cross else block.self_attention for block in stack.blocks)
    masks = [np.asarray(attention.mask) for attention in attentions if attention is not None]
    layers = np.stack([mask.reshape(-1, *mask.shape[-2:]).any(axis=0) for mask in masks])
    return layers[:1] if (layers == layers[:1]).all() else layers


# The kinds


def points_at(weights: Weights, sides: Sides) -> tuple[Scores, Int[np.ndarray, "layer head"]]:
    """max over keys of the mean over queries of w(query, key), 0 to 1; and that key, the first of equals.

    The mean is over the queries that may see the key; a key that fewer than half of the queries may see, as late
    ones in a causal model, is no candidate. These are the vertical stripes of Vig and Belinkov 2019 ("Analyzing the
    Structure of Attention in a Transformer Language Model") and the rare-word heads of Voita et al. 2019 ("Analyzing
    Multi-Head Self-Attention").
    """
    received = attention_received(weights, sides)
    keys = received.argmax(axis=-1)
    return at_keys(received, keys), keys


def previous_token(weights: Weights, sides: Sides) -> Scores:
    """The mean of w(query, query − 1), 0 to 1 (Clark et al. 2019, section 3.1; Voita et al. 2019: positional heads)."""
    return share(weights, sides.cells["previous_token"])


def next_token(weights: Weights, sides: Sides) -> Scores:
    """The mean of w(query, query + 1), 0 to 1; 0 in causal models (Clark et al. 2019, section 3.1)."""
    return share(weights, sides.cells["next_token"])


def same_word(weights: Weights, sides: Sides) -> Scores:
    """Σ w on the other occurrences of the query's word, the mean over the queries whose word may be seen again.

    0 to 1. Case and the space before a word do not count; punctuation is no word. Cf. the duplicate token heads of
    Wang et al. 2022 ("Interpretability in the Wild").
    """
    return share(weights, sides.cells["same_word"])


def induction(weights: Weights, sides: Sides) -> Scores:
    """Σ w on the tokens that followed the query's token before, the mean over the queries whose token came before.

    0 to 1. Olsson et al. 2022, "In-context Learning and Induction Heads": prefix matching.
    """
    return share(weights, sides.cells["induction"])


def punctuation(weights: Weights, sides: Sides) -> Scores:
    """Σ w on punctuation, the mean over the queries that may see some, 0 to 1 (Clark et al. 2019, section 3.2)."""
    return share(weights, sides.cells["punctuation"])


def first_token(weights: Weights, sides: Sides) -> Scores:
    """The mean of w(query, 0), 0 to 1, special or not: attention sinks, Xiao et al. 2023 ("Efficient Streaming …")."""
    return share(weights, sides.cells["first_token"])


def spreads(weights: Weights, sides: Sides) -> Scores:
    """−Σ w·ln w of a row / ln (the keys that the query may see), the mean over queries: 0 one key alone, 1 all alike.

    Special keys are among those that a query may see. The broad heads of Clark et al. 2019, section 3.1.
    """
    if not sides.queries.any():
        return np.zeros(weights.shape[:2])
    entropies = np.stack([entropy(layer[:, sides.queries]) for layer in weights])
    most = np.log(sides.visible.sum(axis=-1)[:, sides.queries])
    return np.minimum((entropies / most[:, None]).mean(axis=-1), 1.0)


def previous_cells(sides: Sides) -> Cells:
    """Where the key stands before the query; nowhere between two texts."""
    return sides.counted & at_offset(sides, -1)


def next_cells(sides: Sides) -> Cells:
    """Where the key stands after the query; nowhere between two texts."""
    return sides.counted & at_offset(sides, 1)


def same_word_cells(sides: Sides) -> Cells:
    """Where the key is another occurrence of the query's word; nowhere between two texts."""
    if not sides.one_text:
        return np.zeros_like(sides.counted)
    words = np.array([word_of(token) for token in sides.key_tokens], dtype=object)
    return elsewhere(sides, sides.counted) & (words[:, None] == words) & ~sides.punctuation


def induction_cells(sides: Sides) -> Cells:
    """Where the token before the key is the query's, and stands before the query; nowhere between two texts."""
    if not sides.one_text:
        return np.zeros_like(sides.counted)
    tokens = np.array(sides.key_tokens, dtype=object)
    queries, keys = np.indices(sides.counted.shape)
    before = np.concatenate([[""], tokens[:-1]]).astype(object)
    return sides.counted & (before == tokens[:, None]) & (keys > 0) & (keys < queries)


def punctuation_cells(sides: Sides) -> Cells:
    """Where the key is punctuation, and not the query itself."""
    return elsewhere(sides, sides.counted) & sides.punctuation


def first_cells(sides: Sides) -> Cells:
    """Where the key is the first, special or not, and not the query itself."""
    cells = sides.visible.any(axis=0) & sides.queries[:, None]
    return elsewhere(sides, cells) & (np.arange(cells.shape[1]) == 0)


def elsewhere(sides: Sides, cells: Cells) -> Cells:
    """These cells without those of a query and itself, where both are positions of one text."""
    return cells & ~at_offset(sides, 0)


def at_offset(sides: Sides, offset: int) -> Cells:
    """Where key − query is ``offset``; nowhere between two texts."""
    queries, keys = np.indices(sides.counted.shape)
    return (keys - queries == offset) & sides.one_text


CELLS: dict[str, Callable[[Sides], Cells]] = {
    "previous_token": previous_cells,
    "next_token": next_cells,
    "same_word": same_word_cells,
    "induction": induction_cells,
    "punctuation": punctuation_cells,
    "first_token": first_cells,
}
OF_POSITIONS = ("previous_token", "next_token", "first_token")


def share(weights: Weights, cells: Cells) -> Scores:
    """Σ w of a query's cells, the mean over the queries that have any; 0 where none has."""
    rows, columns = np.nonzero(cells)
    return weights[:, :, rows, columns].sum(axis=-1, dtype=np.float64) / max(1, len(set(rows.tolist())))


def attention_received(weights: Weights, sides: Sides) -> Float[np.ndarray, "layer head key"]:
    """The mean of a key's weights over the queries that may see it; 0 for what points_at may not point at."""
    seeing = sides.counted.sum(axis=0)
    candidates = (seeing > 0) & (2 * seeing >= sides.queries.sum())
    # One layer at a time: in float64, 12 × 12 heads of 512 tokens would take 300 MB.
    sums = np.stack([sides.queries.astype(np.float64) @ layer for layer in weights])
    return np.where(candidates, sums / np.maximum(seeing, 1), 0.0)


def at_keys(received: Float[np.ndarray, "layer head key"], keys: Int[np.ndarray, "layer head"]) -> Scores:
    """One key's number for every head."""
    return np.take_along_axis(received, keys[..., None], axis=-1)[..., 0]


def entropy(weights: Float[np.ndarray, "head query key"]) -> Float[np.ndarray, "head query"]:
    """In nats; in float64 the logarithms of a long text would take twice as long."""
    return torch.special.entr(torch.from_numpy(weights)).sum(dim=-1, dtype=torch.float64).numpy()


# Their nulls


def kinds_in_text(checkpoint: Checkpoint, trace: Trace, attention: str, edits: Edits = NO_EDITS) -> KindScores:
    """Every kind's score and null, of the "encoder", the "decoder" or "cross"-attention of one pass.

    trace: of this checkpoint, with ``edits``. ``scores`` and ``nulls``: an array (layer, head) for each of ``KINDS``.
    ValueError for an attention that the pass does not have.
    """
    stack = trace.encoder if attention == "encoder" else trace.decoder
    if stack is None or (attention == "cross" and trace.encoder is None):
        raise ValueError(f"attention: found {attention!r}, which this pass does not have")
    weights = (stack.cross_weights() if attention == "cross" else stack.weights()).numpy()
    return measure(weights, sides_of(trace, attention), shuffled_weights(checkpoint, trace, attention, edits))


def measure(weights: Weights, sides: Sides, shuffles: Iterable[Weights]) -> KindScores:
    """Every kind's score and null. ``shuffles``: the weights of the same tokens in other orders, one after another.

    Without any, no kind about words exceeds its null. ValueError for weights of other shapes.
    """
    pointing, keys = points_at(checked_weights(weights, sides), sides)
    scores = scores_at(weights, sides, keys) | {"points_at": pointing}
    again = (checked_weights(each, sides, weights.shape[:2]) for each in shuffles)
    shuffled, errors = mean_and_error([scores_at(each, sides, keys) for each in again] or [scores])
    of_positions = {kind: permutation_null(weights, sides, kind) for kind in OF_POSITIONS}
    even = np.broadcast_to(random_spread(sides), scores["spreads"].shape)
    return KindScores(
        sides=sides,
        scores=scores,
        nulls=shuffled
        | {kind: null for kind, (null, _) in of_positions.items()}
        | {"spreads": np.maximum(shuffled["spreads"], even)},
        errors=errors | {kind: error for kind, (_, error) in of_positions.items()},
        shuffled=shuffled,
        leads=leads_of(weights, sides, keys),
        keys=keys,
    )


def checked_weights(weights: Weights, sides: Sides, heads: tuple[int, ...] | None = None) -> Weights:
    """The weights. ValueError where they are not of these queries and keys, or not of (layer, head) as the text's."""
    expected = (*(heads or weights.shape[:2]), *sides.counted.shape)
    if weights.shape != expected or 0 in expected:
        raise ValueError(f"weights of shape {weights.shape}, wanted {expected}, none of them 0")
    return weights


def scores_at(weights: Weights, sides: Sides, keys: Int[np.ndarray, "layer head"]) -> dict[str, Scores]:
    """Every kind's score in the cells of the text, with these keys for points_at."""
    pointing = at_keys(attention_received(weights, sides), keys)
    shares = {kind: share(weights, cells) for kind, cells in sides.cells.items()}
    return {"points_at": pointing, **shares, "spreads": spreads(weights, sides)}


def mean_and_error(shuffles: Sequence[dict[str, Scores]]) -> tuple[dict[str, Scores], dict[str, Scores]]:
    """The mean over shuffles and its standard error, which is 0 for a single one."""
    stacked = {kind: np.stack([shuffle[kind] for shuffle in shuffles]) for kind in KINDS}
    means = {kind: values.mean(axis=0) for kind, values in stacked.items()}
    rest = max(1, len(shuffles) - 1)
    return means, {kind: values.std(axis=0) / np.sqrt(rest) for kind, values in stacked.items()}


def permutation_null(weights: Weights, sides: Sides, kind: str) -> tuple[Scores, Scores]:
    """Mean and standard deviation of a score when the weights of every query change places among the keys it sees.

    Exact, without permuting anything: those of one cell are those of its row. They are taken over the keys that count;
    for the first token, which may be special, over all.
    """
    rows = sides.cells[kind].any(axis=1)
    seen = sides.visible & (True if kind == "first_token" else ~sides.key_special)
    seen = np.broadcast_to(seen, (len(weights), *seen.shape[1:]))
    moments = [row_moments(layer, among) for layer, among in zip(weights, seen, strict=True)]
    means, variances = (np.stack(each)[:, :, rows].sum(axis=-1) for each in zip(*moments, strict=True))
    queries = max(1, int(rows.sum()))
    return means / queries, np.sqrt(variances) / queries


def row_moments(
    weights: Float[np.ndarray, "head query key"], among: Cells
) -> tuple[Float[np.ndarray, "head query"], Float[np.ndarray, "head query"]]:
    """Mean and variance of every row's weights on the keys it sees."""
    seen = np.maximum(among.sum(axis=-1), 1)
    there = among.astype(np.float64)
    means = np.einsum("hqk,qk->hq", weights, there) / seen
    squares = np.einsum("hqk,hqk,qk->hq", weights, weights, there) / seen
    return means, np.maximum(squares - means**2, 0)


def random_spread(sides: Sides) -> Float[np.ndarray, "_ 1"]:
    """What ``spreads`` expects of weights drawn at random, all rows that sum to 1 being as probable: (layer or 1, 1).

    Their entropy is 1/2 + 1/3 + … + 1/n over n keys on average (Nemenman, Shafee and Bialek 2002, for β = 1). A head
    below it does not spread widely, however it looks at a shuffled text.
    """
    seen = sides.visible.sum(axis=-1)[:, sides.queries]
    if not seen.size:
        return np.zeros((len(seen), 1))
    expected = np.cumsum(1 / np.arange(1, seen.max() + 1)) - 1
    return (expected[seen - 1] / np.log(seen)).mean(axis=-1, keepdims=True)


def leads_of(weights: Weights, sides: Sides, keys: Int[np.ndarray, "layer head"]) -> dict[str, Scores]:
    """The share of a kind's queries whose largest weight lies in a cell of the kind."""
    largest = weights.argmax(axis=-1)  # (layer, head, query)
    seeing = np.moveaxis(sides.counted, 1, 0)[keys]  # (layer, head, query): which may see the key that is pointed at
    pointing = ((largest == keys[..., None]) & seeing).sum(axis=-1) / np.maximum(seeing.sum(axis=-1), 1)
    rows = np.arange(len(sides.queries))
    leading = {
        kind: cells[rows, largest].sum(axis=-1) / max(1, cells.any(axis=1).sum()) for kind, cells in sides.cells.items()
    }
    return {"points_at": pointing, **leading, "spreads": np.zeros(weights.shape[:2])}


# What is worth a look


def finding(measured: KindScores) -> Finding | None:
    """The head to open on; None where no score exceeds its null.

    The largest excess among the heads that look at a word; where it is below 0.25, among all kinds but punctuation and
    the first token; then punctuation; an attention sink last, for it says nothing of the text. Of equals the first
    kind, layer and head.
    """
    candidates = findings_above_null(measured)
    if not candidates:
        return None
    return max(candidates, key=lambda each: (rank(each, measured), each.excess))  # of equals the first


def cards(measured: KindScores, opening: Finding | None, most: int = CARDS) -> tuple[Finding, ...]:
    """Other heads worth a look: at most one of each kind, the largest excess first, without the finding's kind.

    A head is offered once, for what it exceeds its null at most, and the finding's head not again; a word that is
    pointed at is no punctuation.
    """
    chosen: list[Finding] = []
    taken = [] if opening is None else [opening]
    for each in sorted(findings_above_null(measured), key=lambda each: -each.excess):  # stable: of equals the first
        new = all(each.kind != one.kind and (each.layer, each.head) != (one.layer, one.head) for one in taken)
        if new and (each.kind != "points_at" or rank(each, measured) > 1):
            chosen.append(each)
            taken.append(each)
    return tuple(chosen[:most])


def best_of_heads(measured: KindScores) -> dict[tuple[int, int], Finding]:
    """What every head does most notably, by (layer, head), in the order of ``finding``; the others do nothing such."""
    best: dict[tuple[int, int], Finding] = {}
    for each in sorted(findings_above_null(measured), key=lambda each: (rank(each, measured), each.excess)):
        best[each.layer, each.head] = each
    return best


def cells_of(sides: Sides, candidate: Finding) -> Cells:
    """The weights that a finding is about; none for "spreads", which is about all."""
    if candidate.kind == "spreads":
        return np.zeros_like(sides.counted)
    if candidate.kind == "points_at":
        return sides.counted & (np.arange(sides.counted.shape[1]) == candidate.key)
    return sides.cells[candidate.kind]


def rank(candidate: Finding, measured: KindScores) -> int:
    """What comes before what, whatever the excess: a word to which much attention goes has the highest rank."""
    if is_sink(candidate, measured):
        return 0
    if is_about_punctuation(candidate, measured):
        return 1
    return 3 if candidate.kind == "points_at" and candidate.excess >= NOTABLE else 2


def findings_above_null(measured: KindScores) -> list[Finding]:
    """Every kind and head whose score exceeds its null: by 0.05, and by three of the null's standard errors.

    Induction is looked for where no query sees what follows it, as in the models that it was found in: elsewhere what
    followed the same token before is one of many tokens beside another.
    """
    findings = []
    for kind in KINDS:
        if kind == "induction" and not measured.sides.looks_back:
            continue
        null = measured.nulls[kind]
        least = np.maximum(LEAST_EXCESS, ERRORS * measured.errors[kind])
        exceeds = measured.scores[kind] - null > least
        if kind in OF_POSITIONS:
            exceeds &= measured.shuffled[kind] - null > LEAST_EXCESS
        findings += [finding_of(measured, kind, int(layer), int(head)) for layer, head in np.argwhere(exceeds)]
    return findings


def finding_of(measured: KindScores, kind: str, layer: int, head: int) -> Finding:
    """One head as one kind."""
    place = (layer, head)
    key = {"points_at": int(measured.keys[place]), "first_token": 0}.get(kind)
    queries = np.flatnonzero(queries_of(measured.sides, kind, key))
    return Finding(
        kind=kind,
        layer=layer,
        head=head,
        key=key,
        query=int(queries[0]) if len(queries) == 1 else None,
        score=float(measured.scores[kind][place]),
        null=float(measured.nulls[kind][place]),
        leads=float(measured.leads[kind][place]),
    )


def queries_of(sides: Sides, kind: str, key: int | None) -> Bool[np.ndarray, " query"]:
    """The queries that a score is the mean of."""
    if kind == "spreads":
        return sides.queries
    if key is not None and kind == "points_at":
        return sides.counted[:, key]
    return np.asarray(sides.cells[kind].any(axis=1))


def is_sink(candidate: Finding, measured: KindScores) -> bool:
    """Whether a head looks at the first token for its place: any other token gets its attention there as well."""
    place = (candidate.layer, candidate.head)
    kept = measured.shuffled["first_token"][place] - measured.nulls["first_token"][place] > LEAST_EXCESS
    return candidate.kind == "first_token" or (candidate.kind == "points_at" and candidate.key == 0 and bool(kept))


def is_about_punctuation(candidate: Finding, measured: KindScores) -> bool:
    """Whether a head looks at punctuation."""
    if candidate.kind == "points_at" and candidate.key is not None:
        return bool(measured.sides.punctuation[candidate.key])
    return candidate.kind == "punctuation"
