"""Of a long text, the part that a picture draws."""


def excerpt(length: int, around: int, most: int, step: int = 1) -> slice:
    """The positions that are drawn: all, or as many as fit, with this one about in their middle.

    step: by how many the excerpt moves, so that a place nearby leaves it where it is.
    """
    start = (around - most // 2 + step // 2) // step * step
    start = max(0, min(start, length - most))
    return slice(start, min(length, start + most))


def cut_note(rows: slice, columns: slice, shape: tuple[int, int]) -> str:
    """Which queries and keys of a long text are drawn; "" where all of them are."""
    parts = [
        f"{name} {places.start + 1}–{places.stop} of {length}"
        for name, places, length in (("queries", rows, shape[0]), ("keys", columns, shape[1]))
        if places.stop - places.start < length
    ]
    return f"The text is long: the picture shows {' and '.join(parts)}." if parts else ""
