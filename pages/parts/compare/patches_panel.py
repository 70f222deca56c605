"""A's answer with single parts of B: what carries the difference."""

from collections.abc import Mapping, Sequence

import numpy as np
import streamlit as st

from pages.parts.compare.patched_answers import AT_ONCE, PatchedAnswers, has_weights, patched_answers
from pages.parts.compare.settings import PARTS, CompareSettings
from pages.parts.compare.two_passes import TwoPasses, names_of, two_passes
from pages.parts.frame.theme import theme
from pages.parts.state.selection import Selection
from pages.parts.state.session import choose, current, run_again
from pages.parts.widgets.binding import radio
from pages.parts.widgets.charts import show_chart
from viz.charts.causes.patched_answers import patch_grid
from viz.text.causes import two_runs as sentences
from viz.tokens import counted, position_name

PATCH_TITLE = "What carries the difference?"
PATCH_HELP = (
    "The model runs on A, and one part of that run is taken from the run on B (activation patching; Vig et al. 2020, "
    "Meng et al. 2022): the residual stream at one token as it enters a layer, the context of one head, or the "
    "attention weights of one head. A cell is the change of the probability of A's answer, in points: blue and + where "
    "it rises, orange and − where it falls. Tokens without a partner keep their own."
)
PART_NAMES = {"stream": "the stream at one token", "heads": "one head", "weights": "the weights of one head"}
NO_PATCH = "Two models have no part in common that could be taken from one into the other: choose another text as B."
GREY = "Grey: a token that has no partner in B keeps its own stream, and is not tried."
NO_WEIGHTS = "The texts have different lengths, so that no weights of B fit into A."


def show_patches(selection: Selection, passes: TwoPasses) -> None:
    """What A's answer becomes with one part from B, for two passes of one model."""
    st.subheader(PATCH_TITLE, anchor=False, help=PATCH_HELP)
    if not passes.one_model:
        st.markdown(NO_PATCH)
        return
    parts = [part for part in PARTS if part != "weights" or has_weights(passes)]
    radio(
        "From B into A",
        parts,
        patched_part(selection, parts),
        take_part,
        key="compare_part",
        format_func=PART_NAMES.__getitem__,
    )
    if patches_of(selection, passes).layers_left:
        fill()
    else:
        draw_patches(patches_of(selection, passes))
    if len(parts) < len(PARTS):
        st.caption(NO_WEIGHTS)


@st.fragment(run_every=AT_ONCE / 2)
def fill() -> None:
    """Some layers more, again and again while the page is open; this alone runs."""
    selection = current()
    patches = patches_of(selection, two_passes(selection))
    if not patches.layers_left:
        run_again()
    draw_patches(patches)
    st.markdown(f"Putting parts of B into A, layer by layer: {patches.layers_left} to go.")


def patched_part(selection: Selection, parts: Sequence[str]) -> str:
    """The part that was chosen, where these passes have it."""
    chosen = selection.of(CompareSettings).part
    return chosen if chosen in parts else parts[0]


def patches_of(selection: Selection, passes: TwoPasses) -> PatchedAnswers:
    """The answers with that part, as far as they are known."""
    parts = [part for part in PARTS if part != "weights" or has_weights(passes)]
    stack = passes.traces[0].encoder if passes.names[0] == "encoder" else passes.traces[0].decoder
    assert stack is not None
    names = [position_name(place, name) for place, name in enumerate(stack.names())]
    return patched_answers(passes, patched_part(selection, parts), names)


def draw_patches(patches: PatchedAnswers) -> None:
    """The effect matrix, and the part with the largest effect."""
    column = "position" if patches.part == "stream" else "head"
    kind, before, most = patches.outcome.kind, patches.before, patches.most()
    partners = partner_names(two_passes(current())) if patches.part == "stream" else {}
    names = {site: part_name(column, site, patches.columns, partners) for site in np.ndindex(*patches.after.shape)}
    said = {site: sentences.patch_said(kind, name, before, float(patches.after[site])) for site, name in names.items()}
    if not patches.layers_left:
        layer, column_at = np.unravel_index(int(np.nan_to_num(patches.after, nan=np.inf).argmin()), patches.after.shape)
        largest, against = ((names[site], float(patches.after[site])) for site in (most, (int(layer), int(column_at))))
        st.markdown(
            sentences.patch_sentence(kind, patches.named, patches.part, largest, against, before, patches.in_second)
        )
    if not patches.layers_left and not np.isfinite(patches.after).all():
        st.caption(GREY)
    show_chart(
        ("patched", patches.part, patches.columns, patches.after.tobytes(), before),
        lambda: patch_grid(patches.changes, said, patches.columns, column, signed=patches.signed, theme=theme()),
        f"The change of A's answer with each layer's {column} from B; the numbers are in the file.",
    )


def partner_names(passes: TwoPasses) -> dict[int, str]:
    """The token of B whose stream goes to a position of A, where it is another token, by that position."""
    if passes.names[0] != "encoder" and passes.traces[0].encoder is not None:
        return {}  # of the decoder: both read one text
    names = names_of(passes.stacks, passes.units)
    return {
        place: position_name(other, names[1][other])
        for place, other in enumerate(passes.units.places())
        if other is not None and names[0][place] != names[1][other]
    }


def part_name(column: str, site: tuple[int, int], columns: Sequence[str], partners: Mapping[int, str]) -> str:
    """A part of B in words. partners: as ``partner_names``."""
    if column == "position":
        of = f" (there of {partners[site[1]]})" if site[1] in partners else ""
        return f"the stream at {columns[site[1]]}{of}, as it enters layer {counted(site[0])},"
    return f"layer {counted(site[0])}, head {columns[site[1]]}"


def take_part(name: str) -> None:
    """Another part of B in A."""
    choose(part=name)
