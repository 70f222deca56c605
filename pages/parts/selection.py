"""What the visitor looks at: carried from page to page, and written in the address, where everything counts from 0."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import streamlit as st

from model import Edits, available_checkpoints
from pages.parts import continuation, positioning
from pages.parts.continuation import Continuation
from pages.parts.experiments import EXPERIMENTS
from pages.parts.positioning import Positioning
from pages.parts.subjects import ALL
from pages.parts.translation import options_of
from viz.explorer import View
from viz.explorer.kinds import Kind
from viz.head_statistics import TITLES as STATISTICS
from viz.steps import TITLES as STEPS

EXAMPLES = (
    "The film was slow and far too long, but I loved every minute of it.",
    "The acting is not bad at all.",
    "I wanted to like it, but the plot makes no sense.",
    "Nobody who saw it with me was bored.",
    "A great cast, a big budget, and nothing to say.",
)
LONGEST_TEXT = 2000  # characters
DEPTHS = ("idea", "numbers")
MOST_RUNS, MOST_HEADS, MOST_SITES = 1000, 1000, 2000  # that an address may name


@dataclass(frozen=True, kw_only=True)
class Selection:
    """What is looked at: every field is a plain value, so that it can be a cache key and an address."""

    text: str = EXAMPLES[0]
    pair: str = ""  # the second text, for checkpoints that read two
    checkpoint: str = "sentiment"
    mute: bool = False
    across: str = "entropy"  # the two statistics of heads that are drawn against each other
    up: str = "distance"
    head: int = 0  # the one that is looked into, whichever are switched on
    step: str = next(iter(STEPS))
    depth: str = DEPTHS[0]
    experiment: str = next(iter(EXPERIMENTS))  # what the page Break the formula takes out
    setting: str = ""  # of the experiment, as the part that shows it writes it
    edits: str = ""  # what is broken besides, as Edits.to_text
    translation: str = ""  # how the page Translate produces a target and looks at it, as Options.to_text
    target: str = ""  # typed by the visitor; "": the model's own
    view: View = field(default_factory=View)
    continuation: Continuation = field(default_factory=Continuation)
    positioning: Positioning = field(default_factory=Positioning)


PARTS = ("view", "continuation", "positioning")  # fields that hold fields, whose names are all different
OWN = tuple(known.name for known in fields(Selection) if known.name not in PARTS)


def values_of(selection: Selection) -> dict[str, Any]:
    """Everything in a selection, by the names that stand in an address."""
    found = {name: getattr(selection, name) for name in OWN}
    for part in PARTS:
        found |= vars(getattr(selection, part))
    return found


def changed(selection: Selection, **changes: Any) -> Selection:
    """The selection with some of these values changed. ValueError for a value that cannot be."""
    own = dict(changes)
    for part in PARTS:
        kept = getattr(selection, part)
        own[part] = replace(kept, **{name: own.pop(name) for name in vars(kept).keys() & changes.keys()})
    return replace(selection, **own)


def from_address(address: Mapping[str, str]) -> tuple[Selection, list[str]]:
    """The selection that an address holds, and the names of the values in it that cannot be used."""
    selection, unusable = Selection(), []
    for name, read in READERS.items():
        if name in address:
            try:
                selection = changed(selection, **{name: read(address[name])})
            except ValueError:
                unusable.append(name)
    return selection, unusable


def to_address(selection: Selection) -> dict[str, str]:
    """The address of a selection: what differs from the default, so that the opening page's own is bare."""
    values, plain = values_of(selection), values_of(Selection())
    differing = {name: values[name] for name in READERS if values[name] != plain[name]}
    for name in differing.keys() & {"text", "pair", "target"}:
        if len(values[name]) > LONGEST_TEXT or typable(values[name]) != values[name]:
            del differing[name]  # it is refused anyway, and no address carries it
    return {name: written(found) for name, found in differing.items()}


def typable(text: str) -> str:
    """The text as a browser can hold it: half of a surrogate pair becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


def written(found: object) -> str:
    """One value as it stands in an address."""
    if isinstance(found, frozenset):
        return written_sites(found)
    if isinstance(found, tuple):
        return ".".join(map(str, found))
    if isinstance(found, float):
        return f"{found:.6f}".rstrip("0").rstrip(".")
    return str(int(found)) if isinstance(found, bool) else str(found)


def written_sites(sites: frozenset[tuple[int, int]]) -> str:
    """ "0.2-5_1.3": heads 2 to 5 of layer 0 and head 3 of layer 1. Nothing in it needs escaping in an address."""
    runs: list[list[int]] = []
    for layer, head in sorted(sites):
        if runs and runs[-1][0] == layer and runs[-1][2] == head - 1:
            runs[-1][2] = head
        else:
            runs.append([layer, head, head])
    return "_".join(f"{layer}.{first}" + (f"-{last}" if last > first else "") for layer, first, last in runs)


def index(text: str) -> int:
    """A layer, a head or a position. int() alone would also read "+1", "1_0" and "１"."""
    if not re.fullmatch("[0-9]{1,4}", text):
        raise ValueError("an index is a number of at most four digits")
    return int(text)


def sites(text: str) -> frozenset[tuple[int, int]]:
    """What ``written_sites`` wrote."""
    found: set[tuple[int, int]] = set()
    for run in text.split("_", maxsplit=MOST_RUNS):
        layer, _, heads = run.partition(".")
        first, _, last = heads.partition("-")
        found |= {(index(layer), head) for head in range(index(first), min(index(last or first), MOST_HEADS) + 1)}
        if len(found) > MOST_SITES:
            raise ValueError(f"more than {MOST_SITES} heads")
    return frozenset(found)


def one_of(text: str, allowed: tuple[str, ...]) -> str:
    """A word that stands in a list."""
    if text not in allowed:
        raise ValueError(f"wanted one of {allowed}")
    return text


def bounded(text: str) -> str:
    """A text that is not longer than one may be."""
    if len(text) > LONGEST_TEXT:
        raise ValueError(f"more than {LONGEST_TEXT} characters")
    return text


def switch(text: str) -> bool:
    """ "1" for on, "0" for off."""
    return one_of(text, ("0", "1")) == "1"


def share(text: str) -> float:
    """ "0.05": a decimal from 0 to 1."""
    if not re.fullmatch(r"[01]|[01]?\.[0-9]{1,6}", text):
        raise ValueError("wanted a decimal from 0 to 1")
    return float(text)


READERS: dict[str, Callable[[str], Any]] = {
    "text": str,
    "pair": str,
    "checkpoint": lambda text: one_of(text, tuple(available_checkpoints())),
    "attention": str,
    "layer": index,
    "off": sites,
    "query": index,
    "key": index,
    "mute": switch,
    "across": lambda text: one_of(text, tuple(STATISTICS)),
    "up": lambda text: one_of(text, tuple(STATISTICS)),
    "head": index,
    "step": lambda text: one_of(text, tuple(STEPS)),
    "depth": lambda text: one_of(text, DEPTHS),
    "experiment": lambda text: one_of(text, tuple(ALL)),
    "setting": lambda text: bounded(text),
    "edits": lambda text: Edits.from_text(bounded(text)).to_text(),
    "translation": lambda text: options_of(bounded(text)).to_text(),
    "target": str,
    "stack": lambda text: one_of(text, positioning.STACKS),
    "table": lambda text: one_of(text, positioning.TABLES),
    "causal": switch,
    "show": str,
    "special": str,
    "words": switch,
    "segments": str,
    "threshold": share,
    "top": index,
    "scale": str,
    "maximum": str,
    "colours": str,
    **continuation.READERS,
    **positioning.READERS,
}


def selected() -> Selection:
    """The current selection: the visitor's own, or the address's where the visitor came by one or went back to one.

    An address other than the one last written is news, unless a control was touched, for then it is only the older
    copy that the browser sent along; or unless the page is another, for the menu's links carry no selection.
    """
    state, address, page = st.session_state, st.query_params.to_dict(), st.context.url
    touched, same_page = state.pop("_touched", False), state.get("_page") == page
    if "_selection" not in state or (same_page and not touched and address != state.get("_address")):
        state["_selection"], state["_unusable"] = from_address(address)
        state["_text_chosen"] = "text" in address
        state["_checkpoint_chosen"] = "checkpoint" in address
        steer()
    state["_page"] = page
    names = available_checkpoints()
    if names and state["_selection"].checkpoint not in names:  # deleted, or never there
        state["_selection"] = replace(state["_selection"], checkpoint=names[0])
    return state["_selection"]


def choose(*, steers: bool = True, **changes: Any) -> None:
    """Change the selection; for the callbacks of controls, which run before the page does.

    steers: whether the explorer has to be told. What it reported itself it knows, and may have gone on since.
    """
    st.session_state["_touched"] = True
    st.session_state["_text_chosen"] = "text" in changes or st.session_state.get("_text_chosen", False)
    selection = st.session_state.get("_selection", Selection())
    if any(name in changes and changes[name] != getattr(selection, name) for name in ("text", "checkpoint")):
        changes = continuation.OF_TEXT | positioning.OF_TEXT | changes
    st.session_state["_selection"] = changed(selection, **changes)
    if steers:
        steer()


def with_example(selection: Selection, text: str) -> Selection:
    """The selection with a page's own example, until the visitor or the address has chosen a text."""
    return selection if st.session_state.get("_text_chosen") else replace(selection, text=text)


def with_checkpoint(selection: Selection, name: str) -> Selection:
    """The selection with a page's own checkpoint, until the visitor or the address has chosen one."""
    there = name in available_checkpoints() and not st.session_state.get("_checkpoint_chosen")
    return replace(selection, checkpoint=name) if there else selection


def steer() -> None:
    """The explorer is to show what is selected, whatever it showed until now."""
    st.session_state["_revision"] = st.session_state.get("_revision", 0) + 1


def choose_checkpoint(name: str) -> None:
    """Select a checkpoint. What was chosen of the last one's attention means nothing in it."""
    fresh = {of_view: getattr(View(), of_view) for of_view in ("attention", "layer", "off", "query", "key")}
    st.session_state["_checkpoint_chosen"] = True
    choose(checkpoint=name, head=0, mute=False, translation="", target="", stack="", **fresh)


def take(name: str) -> None:
    """Put the value of the control of that name into the selection."""
    choose(**{name: st.session_state[name]})


def shows(name: str, wanted: object, *, told: bool = False) -> str:
    """The key of a control, after making the control show what is selected.

    On another page it is another control, which begins empty unless it is told again. Told at every run, a text would
    lose what is being typed.

    told: True tells it at every run. A list or a switch that comes later than the page needs that: a browser that the
    next run overtakes before it has mounted one would begin at the first entry, and report that as chosen.
    """
    shown, page = st.session_state.setdefault("_shown", {}), st.session_state.get("_at")
    if told or st.session_state.get(name) != wanted or shown.get(name) != page:
        st.session_state[name] = wanted
    shown[name] = page
    return name


def current() -> Selection:
    """What is selected, for a part of a page that runs alone after ``selected`` has looked at the address."""
    st.session_state.pop("_touched", None)
    return st.session_state["_selection"]


def remember(selection: Selection) -> None:
    """Keep what is shown, for the other pages too, and write its address."""
    address = to_address(selection)
    st.session_state["_selection"] = selection
    st.session_state["_address"] = address
    if st.query_params.to_dict() != address:
        st.query_params.from_dict(address)


def fit(selection: Selection, kinds: Mapping[str, Kind]) -> Selection:
    """The selection with an attention, layer, heads, query and key that the trace has; what had to go is noted."""
    if selection.view.attention not in kinds:
        if selection.view.attention != View().attention:
            unusable("attention")
        selection = changed(selection, attention=next(iter(kinds)))
    kind = kinds[selection.view.attention]
    queries, keys = kind.weights[0].shape[1:]
    for name, limit in (("layer", kind.layers), ("query", queries), ("key", keys)):
        if (getattr(selection.view, name) or 0) >= limit:
            selection = changed(selection, **{name: getattr(View(), name)})
            unusable(name)
    if selection.head >= kind.heads:
        selection = replace(selection, head=0)
        unusable("head")
    known = frozenset(site for site in selection.view.off if site[0] < kind.layers and site[1] < kind.heads)
    if known != selection.view.off:
        unusable("off")
    return changed(selection, off=known)


def unusable(name: str) -> None:
    """Note that a value of the address could not be used."""
    st.session_state.setdefault("_unusable", []).append(name)


def address_notice(*, last: bool = True) -> None:
    """One sentence, once, where the address asked for something that does not exist.

    last: False has it said once more, where the page is about to run again by itself.
    """
    names = st.session_state.pop("_unusable", None) if last else st.session_state.get("_unusable")
    if names:
        what = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
        st.info(f"The address gives no usable value for {what}; the default is shown.")
