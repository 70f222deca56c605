"""The tokens of a text as the columns of a table."""

from collections.abc import Sequence

from viz.tokens import visible


def token_table(
    text: str,
    tokens: Sequence[str],
    ids: Sequence[int],
    words: Sequence[int | None] | None,
    spans: Sequence[tuple[int, int] | None] | None,
) -> dict[str, Sequence[object]]:
    """One row a token: position, token, id, the word that it is a piece of, and its characters in the text."""
    if len(ids) != len(tokens):
        raise ValueError(f"{len(ids)} ids came with {len(tokens)} tokens, wanted one id a token")
    table: dict[str, Sequence[object]] = {
        "position": [position + 1 for position in range(len(tokens))],
        "token": [visible(token) for token in tokens],
        "id": list(ids),
    }
    if words is not None and spans is not None:
        table["piece of the word"] = [visible(word) for word in _words(text, words, spans)]
        table["characters"] = ["" if span is None else f"{span[0]} to {span[1]}" for span in spans]
    return table


def _words(text: str, words: Sequence[int | None], spans: Sequence[tuple[int, int] | None]) -> list[str]:
    """For each token the whole word: from where its first piece starts to where its last one ends."""
    reach: dict[int, tuple[int, int]] = {}
    for word, span in zip(words, spans, strict=True):
        if word is not None and span is not None:
            start, end = reach.get(word, span)
            reach[word] = (min(start, span[0]), max(end, span[1]))
    return ["–" if word not in reach else text[slice(*reach[word])] for word in words]
