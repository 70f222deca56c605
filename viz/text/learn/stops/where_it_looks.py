"""The words of the question where a head looks."""

from collections.abc import Sequence

from model.measures.learn.heads.clear_row import ClearRow
from viz.explorer.attention_kinds import Kind
from viz.tokens import counted, markdown_text, percent, visible

QUESTION = "The model reads {query}. Which word does this head look at most?"
SETTING = (
    "Head {head} of layer {layer} compares {query} with every token{before}. From that it gives each token a share of "
    "its attention."
)
BEFORE = " up to it"
AMONG_EQUALS = " (token {place})"
ANSWER = "{query} looks at {key}: {share} of its attention."
SENTENCE = "Next comes {second_key} with {second}. The {count} shares, called **weights**, add up to {total}."
UNCLEAR = "In this text no word gives half of its attention to one other word, in any head."
ALONE = "This question needs two whole words, one that looks and one that is looked at."
CHOOSE = "Choose another word: its weights add up to 1 too"
CHOSEN = "{query} gives most to {key}: {share}. Its {count} weights add up to {total}."
DOOR = "Inside this weight"
DOOR_EXPLAINED = "Shows every step from the two words to this weight."
EXPLORE_EXPLAINED = "Shows where every head of every layer looks."
ALT = "The words of the text; above each a bar, the weight that the query gives it."


def name(kind: Kind, place: int) -> str:
    """ "“loved”", escaped; of a word that stands in the text twice, "“sat” (token 10)"."""
    names = [visible(token.strip() or token) for token in kind.keys.tokens]
    where = AMONG_EQUALS.format(place=counted(place)) if names.count(names[place]) > 1 else ""
    return f"“{markdown_text(names[place])}”{where}"


def option_names(row: ClearRow, kind: Kind, places: Sequence[int]) -> list[str]:
    """What can be guessed: the query by "itself", and equal words by their positions."""
    return [name(kind, place) + (" itself" if place == row.query else "") for place in places]


def words(row: ClearRow, kind: Kind) -> dict[str, str]:
    """Everything that the sentences name."""
    weights = [float(weight) for weight in row.weights]
    second = max((place for place in range(len(weights)) if place != row.key), key=weights.__getitem__)
    return {
        "query": name(kind, row.query),
        "key": name(kind, row.key),
        "second_key": name(kind, second),
        "layer": counted(row.layer),
        "head": counted(row.head),
        "share": percent(weights[row.key]),
        "second": percent(weights[second]),
        "count": str(row.query + 1 if kind.causal else len(weights)),
        "total": f"{sum(weights):.3f}",
        "before": BEFORE if kind.causal else "",
    }
