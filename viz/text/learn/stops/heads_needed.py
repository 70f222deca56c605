"""The words of the question how many heads a sentence needs, and of the one how a width is cut into heads."""

from collections.abc import Mapping, Sequence

from model.measures.learn.heads.head_effects import HeadEffects
from viz.text.learn.model_answers import answer_name, heads_in_words, listing, points, saying
from viz.tokens import counted, percent, visible

QUESTION = "How many of its {all} heads does the model need for this answer?"
SETTING = "{Saying}. We mute one head after the other, first those that change this least, until another answer wins."
ANSWER = "{needed} of {all}: with the other {spare} muted it still says {answer}, {share}."
ANSWER_NONE = "None: with all {all} heads muted it still says {answer}, {share}."
ANSWER_ALL = "All {all}: with the first head muted another answer wins."
SENTENCE = (
    "With {next} muted another answer wins: {answer} has {next_share} left. With up to {within} muted, {answer} moves "
    "by no more than 5 points."
)
SENTENCE_NONE = (
    "The words themselves and the feed-forward layers are left. With up to {within} muted, {answer} moves by no more "
    "than 5 points."
)
TIE = "The model hardly prefers {answer} to another answer: {lead} more, so that any small change decides."
SLIDER = "Muted heads, the least important first"
GRID = "✕ is muted. A stronger shade: the head changes {answer} more when it alone is muted."
GRID_BEFORE = "One cell for each head."
PROBABILITY = "probability of {answer}"
CURVE_ALT = "The probability of the answer against the number of muted heads; crosses where another answer wins."
GRID_ALT = "A grid of all heads, shaded by what muting each alone changes; muted heads are crossed out."
DOOR, DOOR_EXPLAINED = "These heads muted, in Explore", "Shows what the heads that are left look at."
PAPER = (
    "Section 3.2.2 cuts the width of 512 into 8 heads of 64. Table 3, rows A, compares numbers of heads: one head is "
    "0.9 BLEU worse than eight, and too many heads are worse as well."
)

CUT_QUESTION = "Code cuts the queries into heads without the transpose. How many of {count} tokens does head 1 read?"
CUT_SETTING = (
    "The queries leave their projection as {count} rows of {width} numbers. `q.view({heads}, {count}, {head_width})` "
    "has the right shape, so no error is raised."
)
CUT_ANSWER = "Head 1 reads {read} of {count} tokens: {names}."
CUT_ANSWER_MANY = "Head 1 reads {read} of {count} tokens, the first ones."
CUT_SENTENCE = (
    "The {heads} parts of one token fill {heads} cells in a row, where they should fill a column. Head 2, position 1, "
    "holds what belongs to head {head} of {token}."
)
ONE_TOKEN = "One token alone stands where it should with or without the transpose."
ONE_HEAD = "This model has one head, so there is nothing to cut."
CUT_CHOICE = "Choose the code: each cell says whose numbers it holds"
CUT_CODES = ("q.view({heads}, {count}, {head_width})", "q.view({count}, {heads}, {head_width}).transpose(0, 1)")
CUT_ALT = "Heads down, positions across; each cell names the token whose numbers it holds."
CUT_DOOR, CUT_DOOR_EXPLAINED = (
    "The cut in numbers",
    "Shows one token's query as it leaves the projection and cut into heads.",
)
MOST_NAMED = 3


def words(effects: HeadEffects, answer: str) -> dict[str, str]:
    """Everything that the sentences of the first round name."""
    spare, count = effects.spare, len(effects.sites)
    following = min(spare + 1, count)
    return {
        "Saying": saying(effects.outcome.kind, answer, effects.plain),
        "answer": answer_name(answer),
        "all": str(count),
        "lead": points(effects.lead),
        "needed": str(count - spare),
        "spare": str(spare),
        "share": percent(float(effects.muted[spare]), 1),
        "next": heads_in_words(following),
        "next_share": percent(float(effects.muted[following]), 1),
        "within": str(effects.spare_within_points),
    }


def answer(effects: HeadEffects, names: Mapping[str, str]) -> str:
    """How many heads the text needs."""
    needed = len(effects.sites) - effects.spare
    return (ANSWER_NONE if needed == 0 else ANSWER if effects.spare else ANSWER_ALL).format(**names)


def sentence(effects: HeadEffects, names: Mapping[str, str]) -> str:
    """The numbers behind it."""
    return (SENTENCE_NONE if effects.spare == len(effects.sites) else SENTENCE).format(**names)


def range_name(counts: range) -> str:
    """ "none", "1 or 2", "3 to 8"."""
    first, last = counts[0], counts[-1]
    if first == last:
        return str(first) if first else "None"
    return f"{first} {'or' if last == first + 1 else 'to'} {last}"


def plain(template: str, answer: str) -> str:
    """What stands in a chart, which reads no Markdown."""
    return template.format(answer=f"“{visible(answer.strip() or answer)}”")


def grid(answer: str, *, seen: bool) -> str:
    """What the cells of the grid say."""
    return GRID.format(answer=answer_name(answer)) if seen else GRID_BEFORE


def cut_words(
    tokens: Sequence[str], read: Sequence[int], origin: tuple[int, int], sizes: tuple[int, int]
) -> dict[str, str]:
    """Everything that the sentences of the second round name.

    read: the tokens of head 1. origin: head and token of what stands at head 2, position 1. sizes: heads, head_width.
    """
    heads, head_width = sizes
    head, token = origin
    return {
        "count": str(len(tokens)),
        "heads": str(heads),
        "head_width": str(head_width),
        "width": str(heads * head_width),
        "read": str(len(read)),
        "names": listing([answer_name(tokens[place]) for place in read]),
        "head": counted(head),
        "token": answer_name(tokens[token]),
    }


def cut_answer(read: Sequence[int], names: Mapping[str, str]) -> str:
    """How many tokens the first head reads, by name where they are few."""
    return (CUT_ANSWER if len(read) <= MOST_NAMED else CUT_ANSWER_MANY).format(**names)


def count_name(count: int, tokens: int) -> str:
    """ "2 tokens", "all 10"."""
    return f"all {count}" if count == tokens else f"{count} token" + ("" if count == 1 else "s")
