"""The words of the question where a head looks."""

from collections.abc import Sequence

from model.measures.learn.heads.clear_row import ClearRow
from viz.explorer.attention_kinds import Kind
from viz.tokens import counted, markdown_text, percent, position_name, visible

QUESTION = "The model reads {query}. Which word does this head look at most?"
SETTING = (
    "Head {head} of layer {layer} compares {query} with every token{before}. From that it gives each token a share of "
    "its attention."
)
BEFORE = " up to it"
ANSWER = "{query} looks at {key}: {share} of its attention."
SENTENCE = "Next comes {second_key} with {second}. The {count} shares, called **weights**, add up to {total}."
UNCLEAR = "In this text no word gives half of its attention to one other word, in any head."
ALONE = "This question needs two whole words, one that looks and one that is looked at."
CHOOSE = "Choose another word: its row adds up to 1 too"
CHOSEN = "{query} gives most to {key}: {share}. The {count} weights of its row add up to {total}."
DOOR = "Inside this weight"
DOOR_EXPLAINED = "Shows every step from the two words to this weight."
EXPLORE_EXPLAINED = "Shows where every head of every layer looks."
ALT = "The words of the text; above each a bar, the weight that the query gives it."


def name(kind: Kind, place: int) -> str:
    """ "“loved”", escaped."""
    token = kind.keys.tokens[place]
    return f"“{markdown_text(visible(token.strip() or token))}”"


def option_names(row: ClearRow, kind: Kind, places: Sequence[int]) -> list[str]:
    """What can be guessed: the query by "itself", and equal words by their positions."""
    names = [f"{name(kind, place)} itself" if place == row.query else name(kind, place) for place in places]
    return [
        label if names.count(label) == 1 else markdown_text(position_name(place, kind.keys.tokens[place]))
        for place, label in zip(places, names, strict=True)
    ]


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
