"""What is said of attention that came in a file, beside what ``head_findings`` says of any."""

from collections.abc import Sequence

from model.measures.head_kinds import Finding
from viz.explorer.attention_kinds import Kind
from viz.text.head_findings import share_in_words

HELP = (
    "Every head is measured for the patterns that heads are known to form. Each measurement is compared with a head "
    "that is as sharp and ignores where it looks: the weights of each query change places at random among the keys it "
    "sees. The page names the pattern with the largest excess over that; a word comes before all other patterns, "
    "punctuation and the first token come last. For repeated words, punctuation and the first token, the weight that a "
    "token gives to itself is not counted."
)
NOTHING = "No head shows a pattern here beyond what an equally sharp head would show by chance."
BY_CHANCE = "A head that is as sharp would do as much by chance."
SIDES = {"cross": "decoder → encoder"}  # as the explorer calls it
SAVED_ELSEWHERE = "The numbers are those of the file; no model is run."


def against(finding: Finding) -> str:
    """What the null is, and how large."""
    share = share_in_words(finding.null)
    if finding.kind == "spreads":
        return f"Weights drawn at random reach {share} of the maximum entropy."
    if finding.kind == "points_at":
        return f"Where the weights change places at random, the most attended token gets {share}."
    return f"Where the weights change places at random, the same places get {share}."


def size(kinds: Sequence[Kind]) -> str:
    """ "4 layers with 8 heads each, 11 tokens"; of several kinds of attention, each by its name."""
    if len(kinds) == 1:
        return size_of(kinds[0])
    return "; ".join(f"{SIDES.get(kind.name, kind.name)}: {size_of(kind)}" for kind in kinds)


def size_of(kind: Kind) -> str:
    """The same of one kind of attention."""
    queries, keys = kind.weights[0].shape[1:]
    side = counted(queries, "token") if kind.queries is kind.keys else f"{counted(queries, 'token')} and {keys:,} keys"
    each = " each" if kind.layers > 1 else ""
    return f"{counted(kind.layers, 'layer')} with {counted(kind.heads, 'head')}{each}, {side}"


def counted(number: int, thing: str) -> str:
    """ "1 token", "11 tokens"."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
