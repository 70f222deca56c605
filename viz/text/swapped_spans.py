"""Two spans of a text exchanged."""


def swapped_spans(text: str, one: tuple[int, int], other: tuple[int, int]) -> str:
    """The text with what stands in two spans exchanged; the space around them stays where it is.

    ValueError where they overlap.
    """
    first, second = sorted((trimmed(text, one), trimmed(text, other)))
    if first[1] > second[0]:
        raise ValueError(f"spans {one} and {other} overlap")
    parts = text[: first[0]], text[slice(*second)], text[first[1] : second[0]], text[slice(*first)], text[second[1] :]
    return "".join(parts)


def trimmed(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """The span without the spaces at its ends."""
    part = text[slice(*span)]
    return span[0] + len(part) - len(part.lstrip()), span[1] - (len(part) - len(part.rstrip()))
