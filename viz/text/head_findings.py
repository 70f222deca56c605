"""What a head does with a text, in words: the title and the sentence of a finding, and what it was measured against."""

from collections.abc import Sequence

from model.measures.head_kinds import Finding
from viz.explorer.attention_kinds import Kind, Text
from viz.tokens import ROUNDING, counted, list_of, percent, visible

NAMES = {
    "points_at": "Points at a word",
    "previous_token": "Previous token",
    "next_token": "Next token",
    "same_word": "Same word",
    "induction": "Induction",
    "punctuation": "Punctuation",
    "first_token": "First token",
    "spreads": "Broad",
}
# What a head's number is compared with, on its card: see HELP.
SHUFFLED, UNPLACED, RANDOM = "at the same place, words shuffled", "without positions", "at random"
NOT_TO_ITSELF = "What a token gives to itself is not counted."
FEWEST = 4  # tokens: of fewer, words may all have one character
ALONE = "Every query sees a single token, so no head has a choice."
NOTHING = (
    "No head does anything with this text that it would not do by chance, or with the same words in another order."
)
UNTRAINED = "These weights are random: what a head looks at, it looks at by chance."
HELP = (
    "Every head is measured for the patterns that heads are known to form, and each measurement is compared with a "
    "null: for words, the same places in the same text with its words shuffled; for neighbours and the first token, "
    "a head that ignores positions. The page names the pattern with the largest excess over its null; a word comes "
    "before all other patterns, punctuation and the first token come last. For repeated words, punctuation and the "
    "first token, the weight that a token gives to itself is not counted."
)


def title(finding: Finding, kind: Kind) -> str:
    """ "Every word looks at “loved”.": of every query only where each gives its largest weight there.

    Of more than half of them it is "Most words …", else the head itself is the subject. "Looks most at", and of a head
    "more than by chance", say that no half of the weight goes there. Plain text, not escaped.
    """
    if finding.kind == "spreads":
        return f"{head_name(finding)} is broad: it spreads its attention widely."
    if by_head(finding):
        beyond = "" if finding.score >= 1 / 2 else ", more than by chance"
        return f"{head_name(finding)} looks at {target(finding, kind, 'alone')}{beyond}."
    most = " most" if finding.score < 1 / 2 else ""
    if finding.query is not None:
        unit = unit_of(kind.queries)
        return f"The {unit} {quoted_token(kind.queries, finding.query)} looks{most} at {target(finding, kind, 'one')}."
    who = subject(finding, kind)
    if led_by_all(finding):
        return f"Every {who}{exception(finding, kind)} looks{most} at {target(finding, kind, 'one')}."
    return f"Most {who}s{position(finding, kind)} look at {target(finding, kind, 'many')}."


def sentence(finding: Finding, kind: Kind) -> str:
    """ "Layer 4, head 4 gives it 99 % of its attention.", to stand under the title."""
    share = share_in_words(finding.score)
    if finding.kind == "spreads":
        unit = unit_of(kind.keys)
        return f"Its entropy is {share} of its maximum, at which every {unit} that it sees gets the same share."
    who = "it" if by_head(finding) else head_name(finding).replace("L", "l")
    of_repeated = f"{share} of a repeated {unit_of(kind.keys)}'s attention"
    given = {"same_word": of_repeated, "induction": of_repeated}
    begins = {
        "points_at": "From there on, " if by_head(finding) else "",
        "punctuation": ("After the first punctuation mark, "),
    }
    lead = begins.get(finding.kind, "") if kind.causal and finding.query is None else ""
    text = f"{lead}{who} gives {receiver(finding, kind)} {given.get(finding.kind, f'{share} of its attention')}."
    own = f" {NOT_TO_ITSELF}" if finding.kind in ("punctuation", "first_token") and kind.queries is kind.keys else ""
    return text[0].upper() + text[1:] + own


def against(finding: Finding) -> str:
    """What the null is: "When the words are shuffled, the token in the same place gets 1.2 %."."""
    share = share_in_words(finding.null)
    if finding.kind == "spreads":
        return f"Weights drawn at random, or the same words shuffled, reach {share}."
    if finding.kind == "points_at":
        return f"When the words are shuffled, the token in the same place gets {share}."
    own = f" {NOT_TO_ITSELF}" if finding.kind in ("same_word", "punctuation", "first_token") else ""
    if finding.kind in ("same_word", "induction", "punctuation"):
        return f"When the words are shuffled, the same places get {share}.{own}"
    return f"A head that ignores positions would give it {share}.{own}"


def no_finding_sentence(kind: Kind) -> str:
    """The sentence where no head is worth naming."""
    return ALONE if len(kind.keys.tokens) == 1 else NOTHING


def ordinary(layer: int, head: int) -> str:
    """The title of a head that does nothing worth naming with a text."""
    return f"{head_called(layer, head)} shows no pattern that stands out here."


def sharp(layer: int, head: int, share: float) -> str:
    """That each query of a head has a key of its own. share: the mean of their largest weights."""
    return (
        f"{head_called(layer, head)} gives {share_in_words(share)} of its attention, on average over the queries, to "
        "one key each: another one from query to query."
    )


def elsewhere(layer: int, on: Sequence[int], heads: int) -> str:
    """Which heads the explorer shows where the title is about another. heads: how many the layer has."""
    which = "all heads" if len(on) == heads else f"head{'s' if len(on) > 1 else ''} {list_of(on)}"
    return f"The explorer below shows {which} of layer {counted(layer)}."


def card(finding: Finding, kind: Kind) -> dict[str, str]:
    """What a card of the head says: what it does, how strongly, of what that is a share, where, and beside what."""
    pointing = finding.kind == "points_at"
    return {
        "id": finding.kind,
        "title": f"Points at {quoted_token(kind.keys, finding.key or 0)}" if pointing else NAMES[finding.kind],
        "where": head_name(finding),
        "number": percent(finding.score),
        "whole": whole(finding, kind),
        "chance": f"{null_called(finding)}: {percent(finding.null)}",
        "explained": against(finding),
    }


def null_called(finding: Finding) -> str:
    """ "without positions": what the number beside that of a head is of."""
    if finding.kind == "spreads":
        return RANDOM
    return SHUFFLED if finding.kind in ("points_at", "same_word", "induction", "punctuation") else UNPLACED


def whole(finding: Finding, kind: Kind) -> str:
    """What the number on a card is a share of: "of its attention"."""
    if finding.kind == "spreads":
        return "of the maximum entropy"
    of_repeated = finding.kind in ("same_word", "induction")
    return f"of a repeated {unit_of(kind.keys)}'s attention" if of_repeated else "of its attention"


# The parts of a sentence


def head_name(finding: Finding) -> str:
    """ "Layer 4, head 4"."""
    return head_called(finding.layer, finding.head)


def head_called(layer: int, head: int) -> str:
    """ "Layer 4, head 4"."""
    return f"Layer {counted(layer)}, head {counted(head)}"


def led_by_all(finding: Finding) -> bool:
    """Whether each query gives its largest weight there."""
    return finding.leads > 1 - ROUNDING


def by_head(finding: Finding) -> bool:
    """Whether no more than half of the queries do, so that only the head can be the subject."""
    return finding.leads <= 1 / 2


def unit_of(text: Text) -> str:
    """ "word" where every token is a word of its own, "character" where each is a single one, else "token"."""
    special = text.special or (False,) * len(text.tokens)
    lengths = [len(token) for token, added in zip(text.tokens, special, strict=False) if not added]
    if len(lengths) >= FEWEST and max(lengths) == 1:
        return "character"
    words = [word for word, added in zip(text.words or (None,), special, strict=False) if not added]
    return "word" if None not in words and len(set(words)) == len(words) else "token"


def quoted_token(text: Text, position: int) -> str:
    """ "“loved”"; with its place where it is not the only one: "“the” (word 4)"."""
    names = [token_name(token) for token in text.tokens]
    place = f" ({unit_of(text)} {counted(position)})" if names.count(names[position]) > 1 else ""
    return f"“{names[position]}”{place}"


def token_name(token: str) -> str:
    """A token without the space before it, unless it is nothing else."""
    return visible(token.strip(" ▁") or token)


def subject(finding: Finding, kind: Kind) -> str:
    """Whose weights are meant: "word", "repeated word", "target word"."""
    unit = unit_of(kind.queries)
    if kind.name == "cross":
        return f"target {unit}"
    return f"repeated {unit}" if finding.kind in ("same_word", "induction") else unit


def exception(finding: Finding, kind: Kind) -> str:
    """Which words "every" leaves out, for they have no such key."""
    if finding.kind == "next_token":
        return " but the last"
    if finding.kind == "previous_token" or (finding.kind == "first_token" and not begins_special(kind)):
        return "" if kind.name == "cross" or first_looks_at_itself(finding, kind) else " but the first"
    return position(finding, kind)


def first_looks_at_itself(finding: Finding, kind: Kind) -> bool:
    """Whether the first word, too, gives most to the first, though it could look at others."""
    if finding.kind != "first_token" or kind.causal:
        return False
    return int(kind.weights[finding.layer][finding.head][0].argmax()) == 0


def position(finding: Finding, kind: Kind) -> str:
    """Where the words stand that may see what is looked at, if not everywhere."""
    if not kind.causal:
        return ""
    if is_looked_back_at(finding, kind):
        return f" from {quoted_token(kind.keys, finding.key or 0)} on"
    return " after a punctuation mark" if finding.kind == "punctuation" else ""


def is_looked_back_at(finding: Finding, kind: Kind) -> bool:
    """Whether it is one word, which only those from it on may see: its own weight on itself counts."""
    return kind.causal and finding.kind == "points_at" and finding.query is None


def begins_special(kind: Kind) -> bool:
    """Whether the first key was not typed."""
    return bool(kind.keys.special and kind.keys.special[0])


def target(finding: Finding, kind: Kind, number: str) -> str:
    """What is looked at. number: by "one" query, by "many", or by a head "alone"."""
    unit, source = unit_of(kind.keys), "source " if kind.name == "cross" else ""
    if finding.key is not None:
        name = quoted_token(kind.keys, finding.key)
        if is_looked_back_at(finding, kind) and number != "alone":
            return "it"
        first = f"the first {source}{'token' if begins_special(kind) else unit}, {name}"
        whole = f"the source {unit} {name}" if source else name
        return first if finding.kind == "first_token" else whole
    its = {"one": "its", "many": "their"}.get(number)
    occurrences = "earlier occurrences" if kind.causal else "other occurrences"
    them = {"one": "it", "many": "them"}.get(number)
    return {
        "previous_token": f"the {unit} before {them}" if them else f"the previous {unit}",
        "next_token": f"the {unit} after {them}" if them else f"the next {unit}",
        "induction": f"what followed {them} before" if them else f"what followed the same {unit} before",
        "same_word": f"{its} {occurrences}" if its else f"{occurrences} of the same {unit}",
        "punctuation": f"{source}punctuation",
    }[finding.kind]


def receiver(finding: Finding, kind: Kind) -> str:
    """What the title named, as the sentence takes it up."""
    if finding.kind == "same_word":
        return "them"
    if finding.kind == "induction":
        return f"the {unit_of(kind.keys)} after the earlier occurrence"
    if finding.kind in ("previous_token", "next_token"):
        return f"that {unit_of(kind.keys)}"
    if finding.kind == "punctuation" and by_head(finding):
        return "punctuation"
    if finding.key is not None and by_head(finding):
        return f"this {'token' if finding.kind == 'first_token' and begins_special(kind) else unit_of(kind.keys)}"
    return "it"


def share_in_words(share: float) -> str:
    """ "99 %", "more than 99 %": no sign stands in a sentence."""
    return percent(share).replace(">\u00a0", "more than ").replace("<\u00a0", "less than ")
