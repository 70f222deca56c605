"""The measures of the heads on the screen: of this text, and over many texts where a file beside the model has them."""

from collections.abc import Mapping
from contextlib import nullcontext
from functools import partial

import numpy as np
import streamlit as st

from model import CheckpointError
from model.measures.causes.flow import added_lengths, attention_module
from model.measures.causes.resumed_pass import attention_at, attention_sites
from model.measures.head_scores.score_file import score_files
from pages.parts.ablations.experiments import ATTENTIONS
from pages.parts.explore.explorer_panel import KEY, ShownAttention, statistics_of
from pages.parts.explore.heads_worth_a_look import notable_heads
from pages.parts.frame.downloads import button, download_name
from pages.parts.frame.page_links import page_link
from pages.parts.heads.head_effects import muting_effects
from pages.parts.models.catalogue import folder_of
from pages.parts.models.kept_scores import kept_scores
from pages.parts.passes import edits_of, provenance_of, trace_of
from pages.parts.shared_cache import checkpoint_named
from viz.explorer import head_measures
from viz.explorer.component import steer
from viz.explorer.head_measures import HeadMeasure
from viz.explorer.view import MUTED
from viz.export.data_files import measures_csv

CSV_HELP = (
    "One line for every head of this attention, a column for every measure in the list “Heads by”; the effect of "
    "muting has numbers once it was chosen there."
)
MATTERS_HELP = "Mutes every head and shows what becomes of the answer."
TOO_LONG = (
    "To mute every head of this model takes long. The page Heads that matter measures it, with its progress; then the "
    "numbers are here, too."
)


def measures_of(attention: ShownAttention) -> list[HeadMeasure]:
    """All that there are of the attention that is looked at."""
    name, kind = attention.name, attention.kind.name
    return [
        *head_measures.of_excess(notable_heads(name, kind, attention).excess),
        *of_muting(attention),
        *head_measures.of_moved(lengths_of_heads(name, kind, attention)),
        *head_measures.of_statistics(statistics_of(attention)),
        *over_many_texts(attention),
    ]


def of_muting(attention: ShownAttention) -> list[HeadMeasure]:
    """The effect of muting each head, which is measured where it is chosen: it runs the model again for every head."""
    chosen = attention.selection.view.measure == MUTED
    with st.spinner("Muting every head") if chosen else nullcontext():
        changes, signed = muting_effects(attention.selection, anew=chosen)
    return head_measures.of_muting(changes, signed=signed)


@st.cache_data(show_spinner=False, max_entries=64)
def lengths_of_heads(name: str, attention: str, _shown: ShownAttention) -> np.ndarray:
    """How long what every head adds is; name and attention say which numbers they are of."""
    checkpoint = checkpoint_named(_shown.selection.checkpoint)
    trace = trace_of(_shown.selection, edits_of(_shown.selection, checkpoint))
    sites = [site for site in attention_sites(trace) if ATTENTIONS[attention] == (site.stack, site.sublayer)]
    modules = (attention_module(checkpoint.model, site) for site in sites)
    return np.stack(
        [added_lengths(module, attention_at(trace, site)).numpy() for module, site in zip(modules, sites, strict=True)]
    )


def over_many_texts(attention: ShownAttention) -> list[HeadMeasure]:
    """What the first file of scores beside the model says; nothing where there is none that can be read."""
    folder = folder_of(attention.selection.checkpoint)
    try:
        scores = kept_scores(folder, files[0]) if (files := score_files(folder)) else None
    except CheckpointError:  # the page Models says what is wrong with it
        return []
    measures = [] if scores is None else head_measures.of_scores(scores, attention.kind.name)
    shape = attention.kind.layers, attention.kind.heads
    return [measure for measure in measures if measure.values.shape == shape]


def send_measures(attention: ShownAttention) -> None:
    """For the list "Heads by" of the explorer."""
    messages = {attention.kind.name: [measure.to_message() for measure in measures_of(attention)]}
    steer(key=f"{KEY}_measures", message={"name": attention.name, "measures": messages})
    if attention.selection.view.measure == MUTED and np.isnan(of_muting(attention)[0].values).any():
        st.caption(TOO_LONG)
        page_link("Heads that matter", "heads", MATTERS_HELP)


def chosen_measures(attention: ShownAttention) -> Mapping[str, list[HeadMeasure]]:
    """Those that a picture of the view needs."""
    return {attention.kind.name: measures_of(attention)} if attention.selection.view.measure else {}


def offer_measures(attention: ShownAttention) -> None:
    """Every head by every measure as a file."""
    selection = attention.selection
    checkpoint = checkpoint_named(selection.checkpoint)
    source = provenance_of(selection, checkpoint, edits_of(selection, checkpoint))
    make = partial(measures_csv, measures_of(attention), attention.kind.name, provenance=source)
    button("Every head by all measures (CSV)", download_name("explore", "csv", "heads"), make, CSV_HELP)
