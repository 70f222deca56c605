"""Sentences about weights of a head that somebody set, and what became of the answer."""

from dataclasses import dataclass

from viz.text.head_effects import LEAST, answer_named, goes
from viz.tokens import counted, markdown_text, percent, visible

UNEDITED = "Drag a cell of the picture up or down: the model runs again with that weight."
ROOM = (
    "“Make room” divides the row by its sum after the weight is set: the row sums to 1, and the other weights keep "
    "their shares of what is left. “Stay as they are” sets the one weight alone: the row no longer sums to 1, which "
    "no softmax gives."
)


@dataclass(frozen=True, kw_only=True)
class Look:
    """One weight in words. head: "layer 2, head 4"; query, key: the tokens; weights: of the key, before and after."""

    site: tuple[int, int]
    query: str
    key: str
    before: float
    after: float


def head_name(site: tuple[int, int]) -> str:
    """ "layer 2, head 4"."""
    return f"layer {counted(site[0])}, head {counted(site[1])}"


def named(token: str) -> str:
    """A token in quotation marks, Markdown."""
    return f"“{markdown_text(visible(token))}”"


def suggestion(look: Look, kind: str, name: str, before: float, after: float, *, turned: bool) -> tuple[str, str]:
    """What the suggested edit would do, as a title, and what to do, as a sentence; Markdown."""
    other = ", and another would be likelier" if turned and kind != "output" else ""
    changed = goes(kind, before, after).replace("goes from", "would go from").replace("move by", "would move by")
    said = f"If {named(look.query)} looked at {named(look.key)} alone, {answer_named(kind, name)} {changed}{other}."
    return said, f"In {head_name(look.site)}, the weight is {percent(look.before, 1)}. {UNEDITED}"


def title(look: Look | None, weights: int, heads: int, kind: str, name: str, before: float, after: float) -> str:
    """What the edit does to the answer, Markdown. look: where one query alone was edited."""
    change = after if kind == "stream" else after - before
    if look is not None:
        cause = f"If {named(look.query)} looks at {named(look.key)} with {percent(look.after)}"
    else:
        cause = f"With {weights} weights of {'one head' if heads == 1 else f'{heads} heads'} set"
    if abs(change) < LEAST:
        return f"{cause}, {answer_named(kind, name)} {stays(kind)}."
    return f"{cause}, {answer_named(kind, name)} {goes(kind, before, after)}."


def stays(kind: str) -> str:
    """That nothing much happens."""
    return "hardly move" if kind == "stream" else "hardly changes"


def sentence(look: Look | None, site: tuple[int, int], moved: float, *, turned: bool) -> str:
    """Where the edit is, whether another answer is likelier now, and how far the last stream moved, Markdown."""
    where = (
        f"In {head_name(site)}, the weight was {percent(look.before, 1)}." if look else f"Among them {head_name(site)}."
    )
    other = " Another answer is likelier now." if turned else ""
    return f"{where}{other} The stream after the last layer moves by {percent(moved, 1)} of its length."


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
