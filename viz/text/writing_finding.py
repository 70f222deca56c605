"""What a model finds likeliest next, in words: the title, what was taken, and what the last token looks at."""

from collections.abc import Sequence

from model.measures.last_token import LastLink
from viz.tokens import counted, markdown_text, percent, visible

LONGEST_TAIL = 24  # characters of the text that has been read
HOW_CHOSEN = (
    "The probability is the model's own, before any setting. The weight is the one that most exceeds what earlier "
    "tokens gave to the same token in the same head, on average; a head that always looks there exceeds it by "
    "nothing. The first token sees only itself and is left out. The effect of muting that head was not measured here."
)


def title(text: str, token: str, probability: float) -> str:
    """'After “… upon a”, the likeliest token is “time”: 93 %.'; plain text, not escaped."""
    return f"After “{tail(text)}”, the likeliest token is {named(token)}: {percent(probability)}."


def named(token: str) -> str:
    """A token in a sentence, without the blank that it begins with: "“time”"; plain text, not escaped."""
    blank = "a new line" if "\n" in token else f"“{visible(token)}”"
    return f"“{visible(token.strip())}”" if token.strip() else blank


def tail(text: str) -> str:
    """The last words of a text, with "…" before them where there are more; at least one, as far as it is not long."""
    words, kept = text.split(), list[str]()
    while words and len(" ".join([words[-1], *kept])) <= LONGEST_TAIL:
        kept.insert(0, words.pop())
    if not words:
        return visible(" ".join(kept), LONGEST_TAIL) if kept else visible(text[-LONGEST_TAIL:])
    kept = kept or [words.pop()[-LONGEST_TAIL:]]
    return f"… {visible(' '.join(kept), LONGEST_TAIL)}"


def choice(token: str, read: int, shares: tuple[float, float], *, already: bool, drawn: bool = False) -> str:
    """Which token was taken after so many, or how the next one is chosen, with both its probabilities. Markdown.

    shares: from the model, and after the settings. already: whether it stands there. drawn: whether at random.
    """
    name = f"**{markdown_text(named(token))}**"
    if already:
        chosen = f"{name} was taken here"
    elif not drawn:
        chosen = f"**Step** writes the token that is likeliest after the settings, {name}"
    elif shares[1] == 1:
        chosen = f"the settings leave one token, and **Step** writes it: {name}"
    else:
        chosen = (
            "**Step** draws the next token at random, by the probabilities after the settings; with this seed it is "
            f"{name}"
        )
    own, after = (percent(share, 1) for share in shares)
    tokens = f"{read} tokens" if read > 1 else "one token"
    return f"After {tokens}, {chosen} ({own} from the model, {after} after the settings)."


def muted(heads: int) -> str:
    """That heads are muted, which make another model of it; "" where none is."""
    return f" The model runs with {'1 head' if heads == 1 else f'{heads} heads'} muted." if heads else ""


def word_around(tokens: Sequence[str], place: int) -> str:
    """The word that a token is a piece of; "" where it is one by itself. A token that begins with a letter goes on."""
    first, end = place, place + 1
    while first > 0 and tokens[first][:1].isalpha() and tokens[first - 1][-1:].isalpha():
        first -= 1
    while end < len(tokens) and tokens[end][:1].isalpha() and tokens[end - 1][-1:].isalpha():
        end += 1
    return "".join(tokens[first:end]).strip() if end - first > 1 else ""


def attention(link: LastLink | None, last: str, key: str, word: str = "") -> str:
    """What the last token looks at beyond a head's habit, with both numbers. Markdown; "" where there is nothing.

    word: that of which the token looked at is a piece.
    """
    if link is None:
        return ""
    head = f"layer {counted(link.layer)}, head {counted(link.head)}"
    last, key = (markdown_text(visible(token.strip() or token)) for token in (last, key))
    inside = f" of “{markdown_text(visible(word))}”" if word else ""
    return (
        f"While reading “{last}”, {head} attends to **“{key}”**{inside} with {percent(link.weight)}; the tokens before "
        f"“{last}” gave “{key}” {percent(link.before)} on average."
    )
