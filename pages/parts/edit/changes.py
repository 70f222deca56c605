"""What the edit changes after the head: the stream of every layer, and where later heads look."""

from functools import partial

import numpy as np
import streamlit as st
from jaxtyping import Float

from model.measures.comparison import stream_distances
from model.measures.edited_weights import moved_weights
from pages.parts.edit.edited_pass import SITES, EditedPass
from pages.parts.edit.settings import EditSettings
from pages.parts.frame.page_links import page_link
from pages.parts.frame.theme import theme
from pages.parts.passes import trace_key
from pages.parts.state.selection import Selection
from pages.parts.state.session import choose
from pages.parts.widgets.binding import radio
from pages.parts.widgets.charts import chart_spec, show_chart
from pages.parts.widgets.head_switches import grid_key
from viz.charts.causes.comparison import MOST_DRAWN, comparison_data, distance_chart
from viz.charts.causes.head_effects import CHOSEN, effect_grid
from viz.charts.head_statistics import chosen_heads
from viz.explorer.attention_kinds import TITLES, kinds_of
from viz.explorer.component import comparison
from viz.text.causes import edited_weights as sentences
from viz.tokens import counted, markdown_text

MOST = 5  # heads in the list
STREAM_TITLE, HEADS_TITLE = "How far the {}stream moved", "Where later heads look now"
STREAM_HELP = (
    "The length of the difference between the streams of the two passes after a layer, divided by the length of the "
    "original stream; both over all tokens."
)
HEADS_HELP = (
    "How much of its attention each head moved to other tokens, the mean over the queries: half the sum of the "
    "absolute differences of a row. At 100 % every query looks at other tokens altogether. Press a head to compare "
    "its weights."
)
COMPARE_HELP = "Compares the weights of this head below: before, after, and the difference."
INSIDE_HELP = "Shows every step of the computation of this head, without the edit."
SCALE = "attention that moves to other tokens, %"


def show_changes(selection: Selection, run: EditedPass) -> None:
    """The stream, then the heads."""
    if not run.is_edited:
        return
    name = moved_attention(selection, run)
    show_stream(selection, run, name)
    st.subheader(HEADS_TITLE, anchor=False, help=HEADS_HELP)
    names = list(kinds_of(run.before))
    if len(names) > 1:
        radio("Of which attention", names, name, take_attention, key="moved_in", format_func=TITLES.__getitem__)
    moved, site = moved_heads(run, name), (-1, -1)
    if SITES[name] == (run.site.stack, run.site.attention):
        site = run.site.layer, run.site.head
    chosen = chosen_head(selection, moved, site)
    draw_heads(moved, chosen, name)
    show_list(moved, site, name)
    compare_head(run, name, chosen)


def moved_attention(selection: Selection, run: EditedPass) -> str:
    """The attention whose heads are shown: the chosen one, or that of the edit; where no other head of it moved, the
    one with the head that moved most.
    """
    chosen, own = selection.of(EditSettings).moved_in, (run.site.stack, run.site.attention)
    names = list(kinds_of(run.before))
    if chosen in names:
        return chosen
    edited = next(name for name, place in SITES.items() if place == own)
    moved = {name: moved_heads(run, name) for name in [edited, *names]}  # of equals the first is taken
    moved[edited][run.site.layer, run.site.head] = 0  # by hand
    return edited if moved[edited].any() else max(moved, key=lambda name: float(moved[name].max()))


def take_attention(name: str) -> None:
    """Another attention, of whose heads none is chosen."""
    choose(moved_in=name, moved=())


def show_stream(selection: Selection, run: EditedPass, name: str) -> None:
    """How far the stream of the stack moved, layer by layer."""
    stack = SITES[name][0]
    whose = f"{stack}’s " if run.before.encoder is not None and run.before.decoder is not None else ""
    st.subheader(STREAM_TITLE.format(whose), anchor=False, help=STREAM_HELP)
    distances = stack_distances(run, stack)
    key = ("edit distance", trace_key(selection, run.others), run.edits, stack)
    alt = f"Relative distance of the {stack}'s stream by layer."
    show_chart(key, lambda: distance_chart(distances, theme=theme()), alt)


def stack_distances(run: EditedPass, stack: str) -> Float[np.ndarray, " layer"]:
    """How far the stream of a stack moved after every layer."""
    both = [getattr(trace, stack) for trace in (run.before, run.after)]
    return stream_distances(*([block.stream_out for block in one.blocks] for one in both))


def moved_heads(run: EditedPass, name: str) -> Float[np.ndarray, "layer head"]:
    """How much of its attention each head of an attention moved."""
    moved = moved_weights(run.before, run.after)
    return np.stack([moved[site] for site in moved if (site.stack, site.sublayer) == SITES[name]])


def chosen_head(selection: Selection, moved: Float[np.ndarray, "layer head"], own: tuple[int, int]) -> tuple[int, int]:
    """The head that is compared: the chosen one, or that which moved most beside the edited one."""
    chosen = selection.of(EditSettings).moved
    if len(chosen) == 2 and chosen[0] < moved.shape[0] and chosen[1] < moved.shape[1]:
        return chosen[0], chosen[1]
    return in_order(moved, own)[0]


def in_order(moved: Float[np.ndarray, "layer head"], own: tuple[int, int]) -> list[tuple[int, int]]:
    """The heads, those that moved most first, and the edited one last."""
    return sorted(np.ndindex(*moved.shape), key=lambda site: (site == own, -moved[site], site))


def draw_heads(moved: Float[np.ndarray, "layer head"], chosen: tuple[int, int], name: str) -> None:
    """The grid; a press chooses the head that is compared."""
    said = {site: sentences.moved_said(site, float(moved[site])) for site in np.ndindex(*moved.shape)}
    known = ("moved heads", moved.tobytes(), moved.shape, chosen)
    spec = chart_spec(
        (known, theme().background),
        lambda: effect_grid(moved, said, signed=False, chosen=chosen, called=SCALE, theme=theme()),
    )
    alt = f"How much of its attention each of {moved.shape[0]} × {moved.shape[1]} heads moved."
    key = f"{grid_key('moved_grid', chosen)} {name}"
    st.vega_lite_chart(spec, theme=None, on_select=partial(take_head, key), selection_mode=[CHOSEN], key=key, alt=alt)


def take_head(element: str) -> None:
    """The head that was pressed."""
    points = st.session_state[element]["selection"][CHOSEN]
    sites = chosen_heads(points, (1_000, 1_000))
    if len(sites) == 1:
        choose(moved=tuple(next(iter(sites))))


def show_list(moved: Float[np.ndarray, "layer head"], own: tuple[int, int], name: str) -> None:
    """The heads that moved most; each is compared where it is pressed."""
    with st.container(horizontal=True, gap="small"):
        for layer, head in in_order(moved, own)[:MOST]:
            if moved[layer, head] > 0 and (layer, head) != own:
                label = f"Layer {counted(layer)}, head {counted(head)}: {sentences.share(float(moved[layer, head]))}"
                key, chosen = f"moved_{name}_{layer}_{head}", {"moved": (layer, head)}
                st.button(label, key=key, help=COMPARE_HELP, on_click=choose, kwargs=chosen)


def compare_head(run: EditedPass, name: str, chosen: tuple[int, int]) -> None:
    """The weights of one head, before, after and the difference."""
    kinds = [kinds_of(trace)[name] for trace in (run.before, run.after)]
    layer, head = chosen
    first, second = (kind.weights[layer][head] for kind in kinds)
    queries, keys = kinds[0].queries.tokens, kinds[0].keys.tokens
    caption = f"{TITLES[name]}, layer {counted(layer)}, head {counted(head)}, query by key"
    comparison(comparison_data(first, second, queries, keys, caption), key="moved_head")
    label = f"Inside layer {counted(layer)}, head {counted(head)}, without the edit"
    page_link(label, "inside", INSIDE_HELP, attention=name, layer=layer, head=head, query=None, key=None)
    if np.array_equal(first, second):
        st.caption(markdown_text(sentences.unmoved(chosen)))
    if max(len(queries), len(keys)) > MOST_DRAWN:
        st.caption(f"The first {MOST_DRAWN} tokens are drawn; the measured numbers cover all.")
