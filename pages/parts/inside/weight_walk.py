"""The way to one weight on a page: which weight and which step are chosen, and what can be taken away of it."""

from collections.abc import Callable
from functools import partial
from typing import Literal

import streamlit as st

from model import Checkpoint
from model.measures.answer_reference import RecheckedAnswer, recheck_answer
from model.measures.numpy_reference import Rechecked, recheck
from model.measures.one_weight import STEPS, WeightPath, WeightSite, path_of, strongest
from model.measures.whole_head import whole_head
from pages.parts.explore.explorer_panel import trace_and_kinds
from pages.parts.frame.downloads import Snapshot, button, download_name, files, of_heads, selected_pass, share
from pages.parts.inside.arrow_keys import arrow_keys
from pages.parts.inside.opening_weight import take_place
from pages.parts.inside.settings import VIEWS, WHOLE, WalkSettings
from pages.parts.models.catalogue import loaded_from
from pages.parts.passes import edits_of, provenance_of, target_with_origin, trace_later
from pages.parts.shared_cache import checkpoint_named
from pages.parts.state.page_fields import CODEC
from pages.parts.state.selection import Selection
from pages.parts.state.session import choose, current, fit
from pages.parts.widgets.binding import select
from viz.explorer.attention_kinds import TITLES as ATTENTIONS
from viz.explorer.attention_kinds import Kind, kinds_of
from viz.export import data_files
from viz.export.check_yours import can_check, check_file, check_script
from viz.tokens import counted, position_name
from viz.walkthrough.step_sentences import TITLES, arrays_of, script

ORDER = tuple(STEPS)
WHOLE_NAME = "The whole head"
NAME_WIDTH = 300  # pixels: the longest name of a step, so that the buttons beside it stay where they are
ATTENTION_HELP = "The attention among the words of one text, or from the words being written to those being read."
LAYER_HELP = "Layers work one after the other; counted from 1 here, from 0 in code and addresses."
HEAD_HELP = "Heads work side by side in a layer; counted from 1 here, from 0 in code and addresses."
QUERY_HELP = "The token that looks. At first, it is that of Explore's finding, or of the head's largest weight."
KEY_HELP = "The token that is looked at. At first, it is the key with the query's largest weight."
HEAD_FILE_HELP = "The matrices of this head, Q, K, V, products, scores, weights and context, for numpy.load."
STEP_FILE_HELP = "All numbers of this step: one array for each quantity, for numpy.load."
FILE_HELP = "All numbers of all steps: one array for each quantity, named by step and quantity, for numpy.load."
CHECK_FILE_HELP = (
    "Input, Q, K, V and mask of this head, with the scores, weights and context that are expected of them."
)
CHECK_SCRIPT_HELP = (
    "A script for a function of your own: it names the first step that differs from the arrays. It runs on your own "
    "computer, with NumPy, beside the file above."
)
SCRIPT_HELP = (
    "A script that computes this weight again, by hand and from the stored weights, and asserts that both agree."
)


def chosen_path(selection: Selection, checkpoint: Checkpoint) -> WeightPath:
    """The path of the weight that is chosen; of the largest one where no query or key is."""
    return path_later(selection, checkpoint)()


def path_later(selection: Selection, checkpoint: Checkpoint) -> Callable[[], WeightPath]:
    """The same for when a file is asked for."""
    edits = edits_of(selection, checkpoint)
    take_trace = trace_later(selection, edits)

    def path() -> WeightPath:
        trace = take_trace()
        kinds = kinds_of(trace)
        view = fit(selection, kinds).view
        weights = kinds[view.attention].weights[view.layer][selection.head]
        query, key = strongest(weights, view.query, view.key)
        place = {"layer": view.layer, "head": selection.head, "query": query, "key": key}
        site = WeightSite(attention=view.attention, **place)
        return path_of(checkpoint.model, trace, site, edits, checkpoint.tokenizer)

    return path


def choose_weight(kinds: dict[str, Kind], site: WeightSite) -> None:
    """Attention, layer, head, query and key."""
    kind = kinds[site.attention]
    if len(kinds) > 1:
        looks = {"format_func": ATTENTIONS.__getitem__, "help": ATTENTION_HELP}
        select("Attention", list(kinds), site.attention, take_attention, key="inside_attention", **looks)
    with st.container(horizontal=True):
        choose_place("Layer", site, [counted(layer) for layer in range(kind.layers)], LAYER_HELP, 88)
        choose_place("Head", site, [counted(head) for head in range(kind.heads)], HEAD_HELP, 88)
    choose_place("Query", site, names(kind.queries.tokens), QUERY_HELP)
    choose_place("Key", site, names(kind.keys.tokens), KEY_HELP)


def names(tokens: tuple[str, ...]) -> list[str]:
    """Tokens with their places."""
    return [position_name(place, token) for place, token in enumerate(tokens)]


def choose_place(
    label: str, site: WeightSite, printed: list[str], explained: str, width: int | Literal["stretch"] = "stretch"
) -> None:
    """One of some places, by its name on the screen."""
    name = label.lower()
    select(
        label,
        range(len(printed)),
        getattr(site, name),
        lambda place: take_place(name, place, site),
        key=f"inside_{name}",
        format_func=printed.__getitem__,
        help=explained,
        width=width,
    )


def take_attention(name: str) -> None:
    """Another attention, which has other layers, heads and tokens: its first head is shown.

    Of the attention that a page opens with, that is what an address without any place does not say.
    """
    choose(attention=name, head=0, opening=name != CODEC.defaults["attention"])


def choose_step(chosen: str) -> None:
    """A list of the whole head and all steps by their names, between a step back and a step on.

    The list shows the name of the step; its heading, for screen readers, is hidden by the style sheet of the frame.
    Each step has a list of its own, so that what a browser sends says which step the list showed.
    """
    place, last = VIEWS.index(chosen), len(VIEWS) - 1
    with st.container(key="steps", horizontal=True, gap="xsmall", vertical_alignment="center"):
        st.button("**←** Previous", key="previous", on_click=go, args=(-1,), disabled=place == 0)
        with st.container(key="step_name", width=NAME_WIDTH, gap=None):
            name_step(chosen)
            looks = {"format_func": step_name, "label_visibility": "collapsed", "filter_mode": None}
            select("Step", VIEWS, chosen, partial(take_step, chosen), key=f"inside_step_{chosen}", **looks)
        st.button("Next **→**", key="next", on_click=go, args=(1,), disabled=place == last)
        arrow_keys(go)


def take_step(listed_step: str, step: str) -> None:
    """Another step than the list shows, unless the page has gone on from that one.

    With quick presses of keys, a browser sends along what it still shows, the step before, and nobody has chosen that.
    """
    if st.session_state["_selection"].of(WalkSettings).step == listed_step != step:
        choose(step=step)


def name_step(step: str) -> None:
    """The name as a heading."""
    st.subheader(step_name(step), anchor=False)


def step_name(step: str) -> str:
    """ "The whole head", "Step 5 of 18: product"."""
    if step == WHOLE:
        return WHOLE_NAME
    return f"Step {counted(ORDER.index(step))} of {len(ORDER)}: {TITLES[step]}"


def go(steps: int) -> None:
    """Some steps on, or back; not beyond the ends."""
    place = VIEWS.index(current().of(WalkSettings).step) + steps
    choose(step=VIEWS[min(max(place, 0), len(VIEWS) - 1)])


def recheck_weight(selection: Selection, checkpoint: Checkpoint, path: WeightPath) -> Rechecked:
    """The chosen numbers from the stored weights."""
    trace, _ = trace_and_kinds(selection, checkpoint)
    return recheck(checkpoint.model, trace, path.site, path.edits)


def recheck_end(path: WeightPath) -> RecheckedAnswer:
    """The numbers of the steps that lead to the answer, from the stored weights."""
    return recheck_answer(path.model, path.trace, path.site.stack, path.answer, path.edits)


def offer_files(selection: Selection) -> None:
    with files():
        step = selection.of(WalkSettings).step
        if step == WHOLE:
            button("This head (NPZ)", download_name("inside", "npz", step), head_npz(selection), HEAD_FILE_HELP)
        else:
            button("This step (NPZ)", download_name("inside", "npz", step), npz(selection, (step,)), STEP_FILE_HELP)
        button("Every step (NPZ)", download_name("inside", "npz", "steps"), npz(selection, ORDER), FILE_HELP)
        button("As Python", download_name("inside", "py"), python(selection), SCRIPT_HELP)
        offer_check(selection)
        share("inside", weight_snapshot(selection))


def offer_check(selection: Selection) -> None:
    """The arrays of the head and the script with which readers compare a function of their own."""
    checkpoint = checkpoint_named(selection.checkpoint)
    file, script_name = download_name("inside", "npz", "check"), download_name("inside", "py", "check")
    source, off = (
        provenance_of(selection, checkpoint, edits_of(selection, checkpoint)),
        not can_check(checkpoint.config),
    )
    make = partial(check_script, file, provenance=source)
    button("Check yours (NPZ)", file, check_npz(selection), CHECK_FILE_HELP, disabled=off)
    button("Check yours (Python)", script_name, make, CHECK_SCRIPT_HELP, disabled=off)


def check_npz(selection: Selection) -> Callable[[], bytes]:
    """What a function of one's own is given and should give back, for when the file is asked for."""
    checkpoint = checkpoint_named(selection.checkpoint)
    take_path = path_later(selection, checkpoint)
    source = provenance_of(selection, checkpoint, edits_of(selection, checkpoint))

    def make() -> bytes:
        path = take_path()
        return check_file(path.attention, path.site.head, provenance=source)

    return make


def weight_snapshot(selection: Selection) -> Callable[[], Snapshot]:
    """The head of the weight, for the picture to share."""
    take, path = selected_pass(selection), path_later(selection, checkpoint_named(selection.checkpoint))

    def make() -> Snapshot:
        site = path().site
        return of_heads(take(), site.attention, site.layer, (site.head,), site.query, site.key)

    return make


def npz(selection: Selection, steps: tuple[str, ...]) -> Callable[[], bytes]:
    """The numbers of some steps, for when the file is asked for."""
    checkpoint = checkpoint_named(selection.checkpoint)
    take_path = path_later(selection, checkpoint)
    source = provenance_of(selection, checkpoint, edits_of(selection, checkpoint))

    def make() -> bytes:
        path = take_path()
        return data_files.npz(arrays_of({step: STEPS[step](path) for step in steps}), provenance=source)

    return make


def head_npz(selection: Selection) -> Callable[[], bytes]:
    """The matrices of the head, for when the file is asked for."""
    checkpoint = checkpoint_named(selection.checkpoint)
    take_path = path_later(selection, checkpoint)
    source = provenance_of(selection, checkpoint, edits_of(selection, checkpoint))

    def make() -> bytes:
        path = take_path()
        return data_files.npz(whole_head(path.attention, path.site.head).arrays(), provenance=source)

    return make


def python(selection: Selection) -> Callable[[], str]:
    """The weight as a script, for when it is asked for."""
    checkpoint = checkpoint_named(selection.checkpoint)
    path, edits = path_later(selection, checkpoint), edits_of(selection, checkpoint)
    target, source = target_with_origin(selection, checkpoint, edits), provenance_of(selection, checkpoint, edits)
    loads = loaded_from(selection.checkpoint)

    def make() -> str:
        return script(
            path(),
            checkpoint=loads,
            text=source.text,
            pair=source.pair,
            target=target,
            provenance=source,
        )

    return make
