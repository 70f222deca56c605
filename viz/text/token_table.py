"""The tokens of a text as the columns of a table."""

from collections.abc import Sequence

from viz.tokens import quoted


def token_table(
    texts: Sequence[str],
    tokens: Sequence[str],
    ids: Sequence[int],
    words: Sequence[int | None] | None,
    spans: Sequence[tuple[int, int] | None] | None,
    segments: Sequence[int] | None = None,
) -> dict[str, Sequence[object]]:
    """One row a token: position, token, id, the word that it is a piece of, and its characters in its text.

    texts: the text, and the one after it where there are two; ``segments`` says which a token is of.
    """
    if len(ids) != len(tokens):
        raise ValueError(f"{len(ids)} ids came with {len(tokens)} tokens, wanted one id a token")
    table: dict[str, Sequence[object]] = {
        "position": [position + 1 for position in range(len(tokens))],
        "token": [quoted(token) for token in tokens],
        "id": list(ids),
    }
    if words is not None and spans is not None:
        of_text = [0] * len(tokens) if segments is None or len(texts) < 2 else segments
        table["piece of the word"] = _words(texts, words, spans, of_text)
        table["characters"] = ["" if span is None else f"{span[0]} to {span[1]}" for span in spans]
        if len(texts) > 1:
            table["text"] = [segment + 1 for segment in of_text]
    return table


def _words(
    texts: Sequence[str],
    words: Sequence[int | None],
    spans: Sequence[tuple[int, int] | None],
    of_text: Sequence[int],
) -> list[str]:
    """For each token the whole word, quoted: from where its first piece starts to where its last one ends."""
    reach: dict[tuple[int, int], tuple[int, int]] = {}
    places = [None if word is None else (text, word) for text, word in zip(of_text, words, strict=True)]
    for place, span in zip(places, spans, strict=True):
        if place is not None and span is not None:
            start, end = reach.get(place, span)
            reach[place] = (min(start, span[0]), max(end, span[1]))
    return [
        "–" if place is None or place not in reach else quoted(texts[place[0]][slice(*reach[place])])
        for place in places
    ]
