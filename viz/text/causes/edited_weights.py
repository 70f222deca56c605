"""Sentences about weights of a head that somebody set, and what became of the answer."""

from dataclasses import dataclass

from viz.text.causes.head_effects import LEAST, SHOWN, answer_named, goes
from viz.tokens import counted, markdown_text, percent

UNEDITED = "Drag a cell of the picture up or down: the model runs again with that weight."
ONE_KEY = (
    "A query that may look at one token alone gives it all its attention: nothing can make room. Where the others "
    "“stay as they are”, its weight can be set to less than 100 %."
)
ROOM = (
    "When a weight is set, the others of its row “make room”: they share what it leaves, in the proportions that they "
    "had, and the row sums to 1. Or they “stay as they are”: the row no longer sums to 1, which no softmax gives."
)


@dataclass(frozen=True, kw_only=True)
class Look:
    """One weight. site: layer and head; query, key: the tokens, as ``named``; before, after: the weight of the key."""

    site: tuple[int, int]
    query: str
    key: str
    before: float
    after: float


def head_name(site: tuple[int, int]) -> str:
    """ "layer 2, head 4"."""
    return f"layer {counted(site[0])}, head {counted(site[1])}"


def suggestion(look: Look, kind: str, name: str, before: float, after: float, *, turned: bool) -> tuple[str, str]:
    """What the suggested edit would do, as a title, and what to do, as a sentence; Markdown."""
    other = ", and another would be likelier" if turned and kind != "output" else ""
    changed = goes(kind, before, after).replace("goes from", "would go from").replace("move by", "would move by")
    said = f"If {look.query} looked at {look.key} alone, {answer_named(kind, name)} {changed}{other}."
    most = f"Of the weights of {head_name(look.site)} that were tried, this one changes the answer most"
    return said, f"{most}; it is {percent(look.before, 1)} now. {UNEDITED}"


def nothing_to_suggest(look: Look, kind: str, name: str, before: float, after: float) -> tuple[str, str]:
    """That this head has no weight that would change the answer, as a title and a sentence; Markdown."""
    said = f"In {head_name(look.site)}, no single weight that was tried changes {answer_named(kind, name)} much."
    most = f"{look.query} looking at {look.key} alone"
    does = f"with {most}, it {goes(kind, before, after)}"
    if kind != "stream" and abs(after - before) < SHOWN:
        does = f"{most} changes it by less than {100 * SHOWN:.1f} points"
    return said, f"The most that one does: {does}. Try another head, or a pattern."


def title(look: Look | None, rows: int, heads: int, kind: str, name: str, before: float, after: float) -> str:
    """What the edit does to the answer, Markdown. look: where one query alone was edited; rows: of all heads."""
    change = after if kind == "stream" else after - before
    if look is not None:
        cause = f"If {look.query} looks at {look.key} with {percent(look.after)}"
    else:
        queries = "one query" if rows == 1 else f"{rows} queries"
        cause = f"With other weights for {queries} of {'one head' if heads == 1 else f'{heads} heads'}"
    if abs(change) < LEAST:
        return f"{cause}, {answer_named(kind, name)} {stays(kind)}."
    return f"{cause}, {answer_named(kind, name)} {goes(kind, before, after)}."


def stays(kind: str) -> str:
    """That nothing much happens."""
    return "hardly move" if kind == "stream" else "hardly changes"


def sentence(
    look: Look | None,
    site: tuple[int, int],
    moved: float,
    *,
    heads: int = 1,
    whose: str = "",
    now: tuple[str, float] | None = None,
) -> str:
    """Where the edit is, which other answer is likelier now, and how far the last stream moved, Markdown.

    heads: how many are edited, ``site`` among them. whose: "decoder’s " where another stack has a stream, too. now: the
    likeliest answer with its probability, where it is another than before.
    """
    where = f"In {head_name(site)}, the weight was {percent(look.before, 1)}." if look else f"In {head_name(site)}."
    if heads > 1:
        where = f"In {head_name(site)} and {'another' if heads == 2 else f'{heads - 1} others'}."
    other = f" The likeliest answer is “{markdown_text(now[0])}” now, with {percent(now[1], 1)}." if now else ""
    stream = f"The {whose}stream after the last layer"
    return f"{where}{other} {stream} moves by {percent(moved, 1)} of its length."


def moved_said(site: tuple[int, int], moved: float) -> str:
    """What a cell of the picture of later heads says, plain text."""
    return f"{head_name(site)}: {percent(moved, 1)} of its attention moved to other tokens"


def vectors_said(moved: float) -> str:
    """How far the last vectors moved, plain text; "" for not at all."""
    return f"The last vectors move by {percent(moved, 1)} of their length." if moved else ""


def share(moved: float) -> str:
    """ "31 %": how much a head moved."""
    return percent(moved, 1)


def unmoved(site: tuple[int, int]) -> str:
    """That a head looks where it did, plain text."""
    return f"The weights of {head_name(site)} are the same in both passes: the edit acts after them."
