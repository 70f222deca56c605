"""The words of the question where a head looks."""

from model.measures.learn.clear_row import ClearRow
from viz.explorer.attention_kinds import Kind
from viz.tokens import counted, markdown_text, percent, visible

QUESTION = "When the model reads {query}, which word does this head look at most?"
SETTING = (
    "A **head** of layer {layer} compares {query} with every token, and divides its attention among them. The shares "
    "add up to 1."
)
ANSWER = "{query} looks at {key}: {share} of its attention."
SENTENCE = "The {count} weights of this row add up to {total}; the second largest is {second}."
UNCLEAR = "In this text, {query} divides its attention: its largest weight is {share}, the next {second}."
ALONE = "This text has a single word, and a single word has nothing else to look at."


def name(kind: Kind, place: int) -> str:
    """ "“loved”", escaped."""
    return f"“{markdown_text(visible(kind.keys.tokens[place]))}”"


def words(row: ClearRow, kind: Kind) -> dict[str, str]:
    """Everything that the sentences name."""
    second = sorted(row.weights)[-2]
    return {
        "query": name(kind, row.query),
        "key": name(kind, row.key),
        "layer": counted(row.layer),
        "share": percent(float(row.weights[row.key])),
        "second": percent(float(second)),
        "count": str(len(row.weights)),
        "total": f"{float(row.weights.sum()):.3f}",
    }
