"""The selection of one visitor: chosen by controls and addresses, kept in the session, written in the address."""

from collections.abc import Mapping
from typing import Any, NoReturn
from urllib.parse import urlsplit

import streamlit as st

from model.checkpoint import architecture_of
from pages.parts.models.catalogue import checkpoint_names, folder_of, is_here, is_hub_name, label_of
from pages.parts.models.watched_moments import is_moment
from pages.parts.state.fields import address_text
from pages.parts.state.page_fields import CODEC, FIRST
from pages.parts.state.selection import PLACES, Selection
from viz.explorer.attention_kinds import Kind

Chosen = dict[str, Any]
VIEW = "view"  # in an address: how much of a page is shown; no part of what is selected
CANNOT = {"encoder-decoder": "does not translate", "decoder": "does not continue texts"}  # a model of another
NEEDS = {"encoder-decoder": "a model with an encoder and a decoder", "decoder": "a decoder-only model"}
NO_SUCH_MODEL = "A model of Hugging Face can be had on the page Models; one that was uploaded stays with its visitor."
ALWAYS_KEPT = ("text", "pair", "checkpoint")  # as chosen, even where the page would show the same


def page_of(url: str | None) -> str:
    """The page that a URL names: the last part of its path, or the first page."""
    name = urlsplit(url or "").path.rstrip("/").rpartition("/")[2]
    return name if name in CODEC.pages else FIRST


def carry() -> None:
    """What every run begins with, before the navigation: see to the address that the browser has come by.

    A link of the menu names a page alone: the visitor's selection goes along, in the address too.

    The navigation then makes one entry of page and address in the browser's history; written
    later, the address would be an entry of its own, and going back would need two steps.
    """
    state, url = st.session_state, st.context.url
    left = state.get("_unfinished")
    state["_doubtful"] = left is not None and left != st.query_params.to_dict()
    state["_unfinished"], state["_whole"] = None, True
    state["_view"] = st.query_params.get(VIEW, "")
    if "_chosen" in state and url != state.get("_url") and not st.query_params and page_of(url) != state.get("_page"):
        arrive(page_of(url))
        write_address()
    state["_url"] = url


def finish() -> None:
    """What every whole run ends with: the browser's address is the one that was written last."""
    st.session_state["_unfinished"], st.session_state["_whole"] = None, False


def run_again() -> NoReturn:
    """Run the whole page again, unless the visitor has followed a link meanwhile.

    Streamlit puts a request that waits and one for this page into one, for this page. Where the state is read, the one
    that waits is seen to. Something drawn would do too, but in the place of what the page began with: its finding.
    """
    st.session_state.get("_page")
    st.rerun()


def current_selection() -> Selection:
    """The current selection: the visitor's own, or the address's where the visitor came by one or went back to one.

    An address other than the one last written is news, unless a control was touched on the same page, for then it is
    only the older copy that the browser sent along. One that names a page alone is a link's; any other that leads to
    another page is news, though it may say the same: Back may lead to the same words with another model.
    """
    state, address, page = st.session_state, st.query_params.to_dict(), st.session_state["_at"]
    touched, moved = state.pop("_touched", False), state.get("_page") != page
    if moved and not address and "_chosen" in state:
        arrive(page)
    elif "_chosen" not in state or moved or (address != state.get("_address") and not touched):
        open_address(address, page)
    state["_selection"] = CODEC.resolve(state["_chosen"], page)
    return state["_selection"]


def open_address(address: Mapping[str, str], page: str) -> None:
    """Choose what an address names. What it leaves out because the page shows it anyway stays chosen, if it was.

    A chosen model that the page cannot use waits, as after a link that names the page alone.
    """
    state = st.session_state
    model = state.get("_chosen", {}).get("checkpoint", state.get("_waiting"))
    keep_places()
    named, state["_unusable"] = CODEC.read(address)
    unnamed = CODEC.unnamed(page, named)
    kept = {name: value for name, value in without_followed().items() if value == unnamed[name]}
    state["_chosen"], state["_page"], state["_address"] = kept | named, page, dict(address)
    state["_named"] = {name.rpartition(".")[2] for name in named}
    state["_followed"], state["_model_before"] = {}, ""
    if "checkpoint" not in named and is_here(model) and not can_use(page, model):
        state["_waiting"] = state["_model_before"] = model
    steer()


def arrive(page: str) -> None:
    """Go to a page with what was chosen; what was of a text, model or attention that it does not open on is gone."""
    state = st.session_state
    keep_places()
    if of_file(page) != of_file(state["_page"]):
        others = {name: value for name, value in state["_chosen"].items() if name not in PLACES}
        state["_chosen"] = others | places_of(page)
    before = CODEC.values(CODEC.resolve(state["_chosen"], state["_page"]))
    state["_chosen"] = without_followed()
    chosen = with_usable_model(page)
    stood_in = before["checkpoint"] != chosen.get("checkpoint", before["checkpoint"])
    if not stood_in or CODEC.pages[page].follows_stand_in:
        chosen = followed_choices(page, before, chosen)
    after = CODEC.values(CODEC.resolve(chosen, page))
    model_before = state.get("_waiting", before["checkpoint"])  # the page before may have shown another for it
    state["_model_before"] = model_before if model_before != after["checkpoint"] else ""
    changed = {name for name in (*ALWAYS_KEPT, "attention") if before[name] != after[name]}
    state["_chosen"], state["_page"] = CODEC.reset(chosen, changed), page
    state["_unusable"], state["_named"] = [], set()  # they were of the address of the page before
    state["_selection"] = CODEC.resolve(state["_chosen"], page)
    steer()


def of_file(page: str) -> bool:
    """Whether a page's layers, heads and tokens are those of a file."""
    return CODEC.pages[page].of_file


def keep_places() -> None:
    """Note which layers, heads and tokens are chosen, for when such a page is opened again: a file's, or a model's."""
    state = st.session_state
    if "_page" in state:
        chosen = {name: value for name, value in state["_chosen"].items() if name in PLACES}
        state.setdefault("_places", {})[of_file(state["_page"])] = chosen


def places_of(page: str) -> Chosen:
    """Those that were chosen last on such a page."""
    places: Chosen = st.session_state.get("_places", {}).get(of_file(page), {})
    return places


def followed_choices(page: str, before: Mapping[str, Any], chosen: Chosen) -> Chosen:
    """What is chosen on a page: where it follows, text and model are as the page before showed them, until it is left.

    before: all values that were shown there.
    """
    if not CODEC.pages[page].follows:
        return chosen
    values = CODEC.opening(page) | chosen
    followed = {name: before[name] for name in ALWAYS_KEPT if before[name] != values[name]}
    st.session_state["_followed"] = {name: (value, chosen.get(name)) for name, value in followed.items()}
    return chosen | followed


def without_followed() -> Chosen:
    """What is chosen, without what only came along to a page that is left: nobody chose it."""
    chosen: Chosen = dict(st.session_state.get("_chosen", {}))
    for name, (followed, own) in st.session_state.pop("_followed", {}).items():
        if chosen.get(name) == followed:
            del chosen[name]
            chosen |= {} if own is None else {name: own}
    return chosen


def with_usable_model(page: str) -> Chosen:
    """What was chosen, without a model that the page cannot use: it waits, and comes back on a page that can."""
    state = st.session_state
    waiting, chosen = state.pop("_waiting", None), dict(state["_chosen"])
    if waiting is not None:
        chosen.setdefault("checkpoint", waiting)
    if is_here(chosen.get("checkpoint")) and not can_use(page, chosen["checkpoint"]):
        state["_waiting"] = chosen.pop("checkpoint")
    return chosen


def usable_models(architecture: str) -> set[str]:
    """The checkpoints of an architecture; all, where there is none of it, for the page then says what it needs."""
    return set(checkpoint_names(architecture) or checkpoint_names())


def can_use(page: str, checkpoint: str) -> bool:
    """Whether a page shows this checkpoint, or nothing with any."""
    architecture = CODEC.pages[page].architecture
    if not architecture or checkpoint in usable_models(architecture):
        return True
    return is_moment(checkpoint) and architecture_of(folder_of(checkpoint)) == architecture


def choose(by_name: Mapping[str, Any] | None = None, /, *, steers: bool = True, **changes: Any) -> None:
    """Change the selection; for the callbacks of controls, which run before the page does.

    steers: whether the explorer has to be told. What it reported itself it knows, and may have gone on since.
    changes: by the names of the codec, those that are no words of Python in ``by_name``. ValueError for a value that
    cannot be, and then nothing is changed.
    """
    keep_choices(after(changes | dict(by_name or {})))
    if steers:
        steer()


def choices() -> Mapping[str, Any]:
    """What somebody chose, by the names of the codec; the rest is as the page opens."""
    return st.session_state["_chosen"]


def keep_choices(chosen: dict[str, Any]) -> None:
    """Have these values chosen, and no others. ValueError for one that cannot be, and then nothing is changed."""
    state = st.session_state
    selection = CODEC.resolve(chosen, state["_page"])
    state["_touched"], state["_chosen"], state["_selection"] = True, chosen, selection
    state["_named"] = set()  # what does not fit from now on is no address's fault
    state["_followed"], state["_model_before"] = {}, ""


def selection_after(**changes: Any) -> Selection:
    """What ``choose`` would select with these changes."""
    return CODEC.resolve(after(changes), st.session_state["_page"])


def take_back(name: str) -> None:
    """Have a value as the page opens again, as if nobody had chosen one; for callbacks, as ``choose``."""
    forget(name)
    steer()


def forget(name: str) -> None:
    """The same for a value that the explorer does not show, so that it need not be told."""
    keep_choices({other: value for other, value in choices().items() if other != name})


def after(changes: Mapping[str, Any]) -> dict[str, Any]:
    """What is chosen once these values are. One that is on the screen already is not chosen by being told again."""
    chosen, values = choices(), CODEC.values(st.session_state["_selection"])
    new = {name for name, value in changes.items() if value != values[name]}
    kept = {name: value for name, value in changes.items() if name in new or name in chosen or name in ALWAYS_KEPT}
    return CODEC.reset(chosen, new, but=changes) | kept


def address_of(page: str, **changes: Any) -> dict[str, str]:
    """The address at which a page shows all that is on the screen now, with these changes."""
    now = CODEC.values(current())
    if of_file(page) != of_file(st.session_state["_page"]):
        now |= {name: CODEC.defaults[name] for name in PLACES} | places_of(page)
    new = {name for name, value in changes.items() if value != now[name]}
    values = CODEC.reset(now, new, but=changes)
    opening, chosen_here = CODEC.opening(page), choices()
    chosen = {name: value for name, value in values.items() if value != opening[name] or name in chosen_here} | changes
    shown = CODEC.unnamed(page, chosen) | chosen
    address = CODEC.write(shown, page)
    if not address and changes and (chosen_here or "_waiting" in st.session_state):
        # One that names nothing is a menu's link, which keeps what was chosen: the changes would be undone.
        return {"checkpoint": address_text(shown["checkpoint"])}
    return address


def address_of_next(page: str, **changes: Any) -> dict[str, str]:
    """As ``address_of``; that at which the page opens with its own model, where it cannot use the one on the screen.

    A text that is the example of some page stays behind then, in the address too: it suits another model.
    """
    if can_use(page, current().checkpoint):
        return address_of(page, **changes)
    is_example = choices().get("text") in {CODEC.opening(other)["text"] for other in CODEC.pages}
    left = {"checkpoint", "text"} if is_example else {"checkpoint"}
    kept = CODEC.reset({name: value for name, value in choices().items() if name not in left}, left)
    opening = CODEC.opening(page)
    return CODEC.write(CODEC.unnamed(page, kept) | kept, page) | ({"text": opening["text"]} if is_example else {})


def current() -> Selection:
    """What is selected, for a part of a page that runs alone after ``current_selection`` has looked at the address."""
    st.session_state.pop("_touched", None)
    return st.session_state["_selection"]


def remember(selection: Selection) -> None:
    """Keep what is shown, which may be less than was chosen, and write the address.

    What a page only fits to the model, without anybody's choice, does not become a choice.
    """
    state = st.session_state
    differing = CODEC.differing(CODEC.values(selection), CODEC.values(CODEC.resolve(state["_chosen"], state["_page"])))
    state["_chosen"] |= {name: value for name, value in differing.items() if name in state["_chosen"]}
    state["_selection"] = selection
    write_address()


def show_instead(selection: Selection) -> None:
    """Have links and controls go by this, which a page shows in place of what was chosen: nobody chose it."""
    st.session_state["_selection"] = selection
    write_address()


def write_address() -> None:
    """Write what is chosen into the address, as far as the page would not show it anyway.

    An address that says the same in other words, as one that names what the page shows anyway, stays as it is: to write
    it anew would be an entry of its own in the browser's history. But the browser may have got another since it sent
    what this run goes by, and is told again: where that is older than the last one written, as of two presses in quick
    succession, and where a run was broken off after it had written one, as by a control that is used while another
    page is on its way.
    """
    state, page, address = st.session_state, st.session_state["_page"], st.query_params.to_dict()
    opening = CODEC.unnamed(page, state["_chosen"])
    values = {**opening, **state["_chosen"]}
    if not is_here(values["checkpoint"]) and not is_hub_name(values["checkpoint"]):  # it was deleted since
        values["checkpoint"] = opening["checkpoint"]
    named, unusable = CODEC.read(address)
    is_older = address != state.get("_address", address)
    if unusable or {**CODEC.unnamed(page, named), **named} != values or is_older or state.get("_doubtful"):
        address = CODEC.write(values, page) | ({VIEW: state["_view"]} if state.get("_view") else {})
        st.query_params.from_dict(address)
        state["_doubtful"] = False
        state["_unfinished"] = address if state.get("_whole") else None
    state["_address"] = address


def changed_selection(selection: Selection, **changes: Any) -> Selection:
    """A selection with some of its values changed. ValueError for a value that cannot be."""
    return CODEC.changed(selection, **changes)


def steer() -> None:
    """The explorer is to show what is selected, whatever it showed until now."""
    st.session_state["_revision"] = st.session_state.get("_revision", 0) + 1


def fit(selection: Selection, kinds: Mapping[str, Kind]) -> Selection:
    """The selection with an attention, layer, heads, query and key that the trace has; what had to go is noted."""
    if selection.view.attention not in kinds:
        unusable("attention")
        selection = changed_selection(selection, attention=next(iter(kinds)))
    kind = kinds[selection.view.attention]
    queries, keys = kind.weights[0].shape[1:]
    for name, limit in (("layer", kind.layers), ("query", queries), ("key", keys)):
        if (getattr(selection.view, name) or 0) >= limit:
            selection = changed_selection(selection, **{name: CODEC.defaults[name]})
            unusable(name)
    if selection.head >= kind.heads:
        selection = changed_selection(selection, head=0)
        unusable("head")
    for name, sites in (("off", selection.view.off), ("muted", selection.muted)):
        there = frozenset(site for site in sites if site[0] < kind.layers and site[1] < kind.heads)
        if there != sites:
            selection = changed_selection(selection, **{name: there})
            unusable(name)
    return selection


def model_notice() -> str:
    """Which model the page before showed, where it was another, and why; plain text, "" where it was this one."""
    state = st.session_state
    before, now = state.get("_model_before", ""), state["_selection"].checkpoint
    if not before or before == now:
        return ""
    if can_use(state["_page"], before):
        return f"The page before showed {label_of(before)}; this page opens with {label_of(now)}."
    return f"{label_of(before)} {cannot(state['_page'])}, so this page shows {label_of(now)}."


def cannot(page: str) -> str:
    """What a model that a page cannot use does not do."""
    return CANNOT[CODEC.pages[page].architecture or ""]


def needed(page: str) -> str:
    """The kind of model that a page can use."""
    return NEEDS[CODEC.pages[page].architecture or ""]


def unusable(name: str) -> None:
    """Note that a value could not be used, where an address named it; what a page puts back by itself is no news."""
    if name in st.session_state.get("_named", ()):
        st.session_state.setdefault("_unusable", []).append(name)


def address_notice(*, last: bool = True) -> None:
    """One sentence, once, where the address asked for something that does not exist.

    last: False has it said once more, where the page is about to run again by itself.
    """
    names = st.session_state.pop("_unusable", None) if last else st.session_state.get("_unusable")
    if names:
        what = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
        hint = f" {NO_SUCH_MODEL}" if "checkpoint" in names else ""
        st.info(f"The address gives no usable value for {what}; the default is shown.{hint}")
