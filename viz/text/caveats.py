"""What keeps a model from judging a text, in plain sentences: its length, unknown tokens, pieces, nearly even odds."""

import re
from collections.abc import Mapping, Sequence

from model.tokenizer import UNKNOWN
from model.trace import StackTrace
from viz.text.card_tables import is_untrained, task
from viz.text.weight_sentences import kept_tokens
from viz.tokens import RUN_OF_BYTES, percent, quoted, visible, whole_characters

ONE_BYTE = re.compile("\ufffd[0-9A-F]{2}")  # as the tokenizer shows it
NEARLY_EVEN = 1.5  # odds of the likeliest label to the next; 60 % to 40 % where there are two
NEARLY_FULL = 0.8  # of the tokens that a model reads: from there on they are counted
MOST_NAMED = 3  # unknown tokens
MOSTLY = 1 / 2  # of the words
UNTRAINED = "The weights are random: nothing was learned yet."


def caveats(
    stack: StackTrace,
    unknown_id: int | None,
    probabilities: Mapping[str, float] | None = None,
    card: Mapping[str, object] | None = None,
) -> str:
    """Every reason to doubt what the model says of this text, and then the task that it was trained for; "" for none.

    Plain text, not escaped.

    stack: that which read the text. probabilities: of each label, where the model judges.
    """
    unknown, in_bytes = unknown_tokens(stack, unknown_id), characters_in_bytes(stack.tokens or ())
    reasons = [
        unknown,
        in_bytes,
        words_in_pieces(stack),
        unusual_length(stack, card or {}),
        UNTRAINED if is_untrained(card or {}) else "",
        undecided_caveat(probabilities),
    ]
    sentences = [reason for reason in reasons if reason]
    return " ".join([*sentences, *([task(card)] if sentences and card else [])]).strip()


def length(stack: StackTrace, longest: int, read: int | None = None) -> str:
    """How much of what the model reads the text takes, once that is nearly all; of more, how much was kept.

    read: how many tokens have been read, where more than the text's are.
    """
    tokens = len(stack.ids) if read is None else read
    if stack.dropped:
        return kept_tokens(len(stack.ids), stack.dropped).strip()
    if tokens < NEARLY_FULL * longest:
        return ""
    return f"The text takes {tokens} of the {longest} tokens that the model reads."


def unknown_tokens(stack: StackTrace, unknown_id: int | None) -> str:
    """ "2 of 10 tokens are unknown to the model: “🙂”, “日”."."""
    ids, tokens = stack.ids.tolist(), stack.tokens or ()
    special = stack.special or (False,) * len(ids)
    typed = [place for place, added in enumerate(special) if not added]
    unknown = [place for place in typed if ids[place] == unknown_id]
    if not unknown or not tokens:
        return ""
    named = list_of_names([tokens[place].removeprefix(UNKNOWN).removeprefix(" ") for place in unknown])
    verb = "is" if len(unknown) == 1 else "are"
    counted = f"{len(unknown)} of {len(typed)} token{'' if len(typed) == 1 else 's'} {verb} unknown to the model"
    return f"{counted}: {named}." if named else f"{counted}."


def list_of_names(names: Sequence[str]) -> str:
    """ "“🙂”, “日”, a blank and 2 more": the first few, each once."""
    said = list(dict.fromkeys(quoted(name) if name.strip() else "a blank" for name in names if name))
    more = len(said) - MOST_NAMED
    return ", ".join(said[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def characters_in_bytes(tokens: Sequence[str]) -> str:
    """ "Not in the model's vocabulary: “🙂”. …", where a vocabulary of bytes has no token for some characters."""
    found = RUN_OF_BYTES.findall("".join(tokens))
    if not found:
        return ""
    runs = [whole_characters(run) for run in found]
    whole = dict.fromkeys("".join(run for run in runs if not ONE_BYTE.match(run)))  # one that was cut off has no name
    named = list_of_names(list(whole)) or "some characters of the text"
    return (
        f"Not in the model's vocabulary: {named}. It reads them byte by byte (“{found[0][:3]}” is one byte, in "
        "hexadecimal), and has seldom or never seen them."
    )


def words_in_pieces(stack: StackTrace) -> str:
    """How many words are read in pieces, where those are more than half; some words have a token only after a blank."""
    words = pieces_by_word(stack.tokens or (), stack.words or (), stack.segments)
    broken = sum(pieces > 1 for pieces in words)
    if broken <= MOSTLY * len(words) or len(words) == 0:
        return ""
    if len(words) == 1:
        return "The word as it stands here is not in the model's vocabulary: the model reads it in pieces."
    stand, verb, them = ("it stands", "is", "it") if broken == 1 else ("they stand", "are", "them")
    return (
        f"{broken} of {len(words)} words, as {stand} here, {verb} not in the model's vocabulary: the model reads "
        f"{them} in pieces."
    )


def pieces_by_word(
    tokens: Sequence[str], words: Sequence[int | None], segments: Sequence[int] | None = None
) -> list[int]:
    """Of how many tokens every word with a letter in it is made.

    segments: of which text of a pair each token is; words are counted from 0 in each.
    """
    pieces: dict[tuple[int, int], list[str]] = {}
    for token, word, segment in zip(tokens, words, segments or (0,) * len(tokens), strict=False):
        if word is not None:
            pieces.setdefault((segment, word), []).append(token)
    return [len(parts) for parts in pieces.values() if any(map(str.isalpha, ONE_BYTE.sub("", "".join(parts))))]


def unusual_length(stack: StackTrace, card: Mapping[str, object]) -> str:
    """ "The text has 31 tokens; …", where the card says how long texts were that the model learned from."""
    usual, tokens = card.get("usual_length"), len(stack.ids)
    if not isinstance(usual, int) or isinstance(usual, bool) or not 0 < usual < tokens:
        return ""
    return f"The text has {tokens} tokens; 19 of 20 texts that the model was trained on have at most {usual}."


def undecided_caveat(probabilities: Mapping[str, float] | None) -> str:
    """ "The model is not sure: positive 54 %, negative 46 %.", where the likeliest two are nearly even."""
    ranked = sorted((probabilities or {}).items(), key=lambda one: -one[1])[:2]
    if len(ranked) < 2 or ranked[0][1] >= NEARLY_EVEN * ranked[1][1]:
        return ""
    odds = ", ".join(f"{visible(label)} {percent(probability)}" for label, probability in ranked)
    return f"The model is not sure: {odds}."
