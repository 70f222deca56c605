"""What a checkpoint's heads do over many texts, in words and tables: each score beside its null."""

from collections.abc import Mapping, Sequence

from model.measures.head_scores.gold_hits import GoldScore
from model.measures.head_scores.score_file import HeadScores, KindTable
from viz.explorer.attention_kinds import TITLES
from viz.tokens import counted, list_of_names, visible

TREEBANK = "en_ewt-ud-"  # begins its files' names
KINDS_OF = ", kinds"  # ends the name under which a file counts the texts of the kinds

# Every kind: what it is called, and what its score is.
NAMES = {
    "previous_token": ("previous token", "the weight on the token before the query"),
    "next_token": ("next token", "the weight on the token after the query"),
    "first_token": ("first token", "the weight on the first token, where attention rests that has nothing to do"),
    "same_token": ("same token", "the weight of a token on itself"),
    "duplicate": ("duplicate", "the weight of a repeated word on its other occurrences"),
    "induction": (
        "induction",
        "in random tokens that come twice, the weight on the token after the earlier occurrence of the query's token "
        "(Olsson et al. 2022)",
    ),
    "induction_in_texts": ("induction in texts", "the same where a token of the text comes again"),
    "punctuation": ("punctuation", "the weight on punctuation"),
    "delimiter": ("delimiter", "the weight on special tokens after the first, such as [SEP] or [END]"),
    "broad": ("broad", "how evenly a query's weights spread; 1 is the same weight for every key"),
    "positional": (
        "positional",
        "how much of the differences between weights the distance from query to key explains (η²); 1 is a pattern of "
        "the distance alone",
    ),
}
RANDOM = "random tokens that come twice"
NULLS = (
    "The null is the score that the same head would have by accident. For kinds about words it is measured in the same "
    "texts with their words in another order; for kinds about positions, and for positional, each query's weights "
    "change places among the keys that it sees; for broad, weights are drawn at random; for induction, the tokens do "
    "not come twice. A head counts as above its null by 0.05 and three standard errors over the texts."
)
MOST_NAMED = 4


def head_called(layer: int, head: int) -> str:
    """ "layer 6, head 1", counted from 1."""
    return f"layer {counted(layer)}, head {counted(head)}"


def measured_on(scores: HeadScores) -> str:
    """ "500 sentences of reviews in the treebank …"; with how it ended where it was stopped."""
    files = {name.removesuffix(KINDS_OF): count for name, count in scores.counts.items() if name.endswith(KINDS_OF)}
    texts = list_of_names([texts_of(name, count) for name, count in files.items()]) or "no text"
    return f"{texts}{', before it was stopped' if scores.stopped else ''}"


def texts_of(file: str, count: int) -> str:
    """ "500 sentences of reviews in the treebank UD English EWT", "20 texts of letters.txt"."""
    if file.startswith(TREEBANK):
        genre = file.partition(", ")[2]
        return f"{count:,} sentences of {f'{genre} in ' if genre else ''}the treebank UD English EWT"
    return f"{count:,} texts of {file}"


def summary(attention: str, tables: Mapping[str, KindTable]) -> str:
    """How many heads of an attention lie above the null of which kinds, and the strongest head of the rarest kind."""
    kinds = {kind: int(table.exceeding.sum()) for kind, table in tables.items() if table.exceeding.any()}
    title = TITLES[attention]
    if not kinds:
        return f"{title.capitalize()}: no head lies above the null of any kind."
    heads = next(iter(tables.values())).scores.size
    named = sorted(kinds, key=lambda kind: -kinds[kind])[:MOST_NAMED]
    counts = list_of_names([f"{kinds[kind]} for {NAMES[kind][0]}" for kind in named])
    more = f" ({len(kinds) - MOST_NAMED} more kinds in the table)" if len(kinds) > MOST_NAMED else ""
    rarest = min(kinds, key=lambda kind: kinds[kind])
    return (
        f"{title.capitalize()}: of {heads} heads, above the null lie {counts}{more}. {strongest_said(tables, rarest)}"
    )


def strongest_said(tables: Mapping[str, KindTable], kind: str) -> str:
    """ "The strongest for induction is layer 6, head 1: 0.18 beside a null of 0.02."."""
    layer, head, table = *tables[kind].strongest, tables[kind]
    numbers = f"{table.scores[layer, head]:.2f} beside a null of {table.nulls[layer, head]:.2f}"
    return f"The strongest for {NAMES[kind][0]} is {head_called(layer, head)}: {numbers}."


def kind_rows(tables: Mapping[str, KindTable], texts: Mapping[int, str]) -> list[dict[str, object]]:
    """One row for every kind: how many heads lie above the null, the strongest, its numbers and an example."""
    rows = []
    for kind in (kind for kind in NAMES if kind in tables):
        table = tables[kind]
        layer, head = table.strongest
        error = None if table.errors is None else float(table.errors[layer, head])
        rows.append(
            {
                "kind": NAMES[kind][0],
                "heads above null": f"{int(table.exceeding.sum())} of {table.scores.size}",
                "strongest head": head_called(layer, head),
                "score": float(table.scores[layer, head]),
                "null": float(table.nulls[layer, head]),
                "standard error": error,
                "queries": table.queries,
                "an example": example_said(table, (layer, head), texts),
            }
        )
    return rows


def example_said(table: KindTable, site: tuple[int, int], texts: Mapping[int, str]) -> str:
    """ "“the” looks at “film” with 0.97 in “I loved the film.”", of this head; "" where it is not of the kind."""
    example = table.example_of(*site)
    if example is None or not table.exceeding[site]:
        return ""
    words = f"“{visible(example.query_token)}” looks at “{visible(example.key_token)}” with {example.weight:.2f}"
    text = texts.get(example.text, "")
    return f"{words} in “{text}”" if text else words


def kinds_explained(tables: Mapping[str, KindTable]) -> list[str]:
    """ "previous token: the weight on …", of every kind that is there."""
    return [f"{name}: {what}" for kind, (name, what) in NAMES.items() if kind in tables]


# Syntax and coreference


def gold_summary(scores: Sequence[GoldScore], what: str) -> str:
    """How often the best head beats the best fixed rule by more than chance, of so many questions."""
    better = [score for score in scores if score.beats_rule]
    names = list_of_names([f"{score.name} ({percents(score)})" for score in better[:MOST_NAMED]])
    more = f": {names}{', …' if len(better) > MOST_NAMED else ''}" if better else ""
    noun = "comparison" if len(scores) == 1 else "comparisons"
    return f"{what}: the best head beats the best fixed rule in {len(better)} of {len(scores)} {noun}{more}."


def percents(score: GoldScore) -> str:
    """ "38.9 % against 26.9 %"."""
    return f"{score.accuracy:.1%} against {score.baseline:.1%}".replace("%", " %")


def gold_rows(scores: Sequence[GoldScore]) -> list[dict[str, object]]:
    """One row for each, those first whose head is furthest above the rule."""
    return [
        {
            "asked": score.name,
            "direction": score.direction,
            "questions": score.questions,
            "best head": head_called(score.layer, score.head),
            "right": 100 * score.accuracy,
            "null": 100 * score.null,
            "best fixed rule": score.rule,
            "rule is right": 100 * score.baseline,
            "head beats rule": "yes" if score.beats_rule else "no",
        }
        for score in sorted(scores, key=lambda score: score.baseline - score.accuracy)
    ]


def above_null_said(scores: HeadScores, attention: str, layer: int, head: int) -> str:
    """What a head is over many texts: "Over 20 texts of …: previous token (0.61 beside a null of 0.12)."; plain text.

    "" where the scores are not of this attention or not of so many heads.
    """
    tables = scores.kinds.get(attention, {})
    if not tables or any(layer >= table.scores.shape[0] or head >= table.scores.shape[1] for table in tables.values()):
        return ""
    kinds = scores.above_null(attention, layer, head)[:MOST_NAMED]
    if not kinds:
        none = "this head is of none of the known kinds more than by chance"
        return f"Over {measured_on(scores)}, {none}: what it does in one text may be of that text."
    numbers = {kind: (tables[kind].scores[layer, head], tables[kind].nulls[layer, head]) for kind in kinds}
    said = [f"{NAMES[kind][0]} ({score:.2f} beside a null of {null:.2f})" for kind, (score, null) in numbers.items()]
    return f"Over {measured_on(scores)}, this head lies above the null for {list_of_names(said)}."
