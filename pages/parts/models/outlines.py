"""What a checkpoint is, from its config and the headers of its weights: a large one need not be loaded for that."""

from pathlib import Path

import streamlit as st

from model import CheckpointError, available_checkpoints
from model.loading import checkpoint_files, weights
from pages.parts.models.catalogue import folder_of
from pages.parts.models.loaded_models import model_memory, small_models
from pages.parts.shared_cache import checkpoint_key, checkpoint_named, checkpoints, file_times
from viz.text.card_tables import Model

NO_TOKENIZER = (
    f"There is no {checkpoint_files.TOKENIZER}, so no text can be read: save the tokenizer beside the weights, with "
    "tokenizer.save_pretrained."
)


def outline_of(name: str) -> Model:
    """It among others. CheckpointError where it cannot be used; of one that came with the app every weight is read."""
    if name in available_checkpoints():
        one = checkpoint_named(name)
        return Model(one.config, one.card, one.family, one.model.parameter_count())
    folder = folder_of(name)
    return outline_in(str(folder), tuple(file_times(folder)))


@st.cache_resource(show_spinner=False, max_entries=64)
def outline_in(folder: str, times: tuple[int, ...]) -> Model:
    """The same for a folder whose files were written at these times."""
    values = checkpoint_files.read_config(Path(folder))
    outline = checkpoint_files.read_outline(Path(folder), values)
    weights.check_shapes(outline.model, outline.sources, outline.stored)
    card = checkpoint_files.read_card(Path(folder))
    return Model(outline.model.config, card, outline.family, outline.model.parameter_count())


def check_usable(folder: Path) -> None:
    """CheckpointError where config, headers or missing files tell that no page can show a text with this checkpoint."""
    outline_in(str(folder), tuple(file_times(folder)))
    if not checkpoint_files.has_tokenizer(folder):
        raise CheckpointError(NO_TOKENIZER)


def is_loaded(name: str) -> bool:
    """Whether it is in memory now."""
    key = checkpoint_key(name)
    return any(key in memory for memory in (checkpoints(), small_models(), model_memory()))
