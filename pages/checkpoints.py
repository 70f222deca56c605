"""Models: which are here, where they come from, how good they are, and how to get another."""

from collections.abc import Mapping, Sequence
from contextlib import suppress

import pandas as pd
import streamlit as st

import pages
from model import CheckpointError, Config, InputError, available_checkpoints
from model.edits.checks import sizes_of
from pages.parts.costs.settings import OWN
from pages.parts.frame.finding import picture, picture_alone, show_finding
from pages.parts.frame.page_links import next_page_link, page_link
from pages.parts.frame.theme import theme
from pages.parts.models.asked_model import show_field
from pages.parts.models.catalogue import checkpoint_names, folder_of, label_of
from pages.parts.models.head_scores import show_head_scores
from pages.parts.models.outlines import is_loaded, outline_of
from pages.parts.models.ways import show_ways
from pages.parts.shared_cache import checkpoint_named, file_bytes
from pages.parts.state.session import address_notice, current
from pages.parts.widgets.architecture_map import MapSource, show_lengths
from pages.parts.widgets.charts import show_chart
from viz.architecture.boxes import Lengths
from viz.charts.learning_curve import accuracy_curve, last_step, loss_curve, read_curve
from viz.charts.model_picture import model_picture, stacks_in_words
from viz.text import card_tables as cards
from viz.tokens import markdown_text

QUESTION = "Which models are here, and how do I get another?"
CURVE = "curve.csv"
COMMAND = "The command that trained it"
SQUARES = "Each square is a head and each row a layer; the first layer is at the top"
ORANGE = "; orange heads of the decoder attend to the encoder"
BELOW = " Below stand ways to get others, and the data and training of each."
EVIDENCE_HELP = "Compares every number that the app shows of these models with a computation by other code."
PARAMETERS_HELP = "The numbers that training adjusts: embeddings, projections and norms together."
SHAPE_HELP = (
    "Layers work one after the other; the heads of a layer work side by side. The width is how many numbers the "
    "vector of a token has. Of an encoder-decoder, the encoder comes first."
)
VOCABULARY_HELP = (
    "The number of different tokens that the model knows. Text outside the vocabulary becomes the unknown token."
)
LENGTH_HELP = "Tokens beyond this number are left out, and the page says so."
MAP_HELP = (
    "The first step stands at the bottom. Beside the arrows stand the shapes of what passes for the selected text, "
    "tokens × width; letters stand for lengths that are not known. Lines past boxes are residual connections. The "
    "parameters in a dashed frame are those of one layer. Press a box to see what it does."
)
COSTS_HELP = "Shows the parameters of this model by part, and what a longer text costs."
OPEN_HELP = "Opens the selected text with this checkpoint."
EVALUATION_WIDTHS = {"result": st.column_config.Column(width=110), "examples": st.column_config.Column(width=110)}
LOSS_HELP = (
    "Cross-entropy: minus the logarithm of the probability that the model gave to the right answer, averaged. The "
    "model was not trained on the validation part."
)


def show() -> None:
    """All checkpoints at once, then each in turn; one that cannot be used takes a line, not the page."""
    names = checkpoint_names()
    usable = usable_of(names)
    if usable:
        pairs = any(model.config.is_encoder_decoder for model in usable.values())
        sentence = f"{SQUARES}{ORANGE if pairs else ''}.{'' if picture_alone() else BELOW}"
        show_finding(QUESTION, cards.models_title(list(usable.values())), sentence)
    else:
        show_finding(QUESTION)
    address_notice()
    if not names:
        st.info("There is no checkpoint in the folder checkpoints.")
    if not picture_alone():
        show_field()
    with picture(), st.container(horizontal=True, gap="small", key="models"):
        for name, model in usable.items():
            show_model(name, model)
    if not picture_alone():
        show_ways()
        for name in names:
            st.header(markdown_text(label_of(name)), anchor=False, divider="grey")
            with pages.plain_refusals():
                show_checkpoint(name, outline_of(name), names.index(name))
        page_link("How we know: all numbers checked", "evidence", EVIDENCE_HELP)
        next_page_link("checkpoints")


def usable_of(names: Sequence[str]) -> dict[str, cards.Model]:
    """Those that can be used, by their names, as the picture shows them."""
    models = {}
    for name in names:
        with suppress(CheckpointError, MemoryError):  # the page says why where the checkpoint has its place
            models[name] = outline_of(name)
    return models


def show_model(name: str, model: cards.Model) -> None:
    """What it does, its heads, its size, how good it is, and a way into it."""
    with st.container(border=True, gap="xsmall"):
        st.markdown(f"**{markdown_text(label_of(name))}** · {markdown_text(model.purpose())}")
        st.image(model_picture(model.config, theme=theme()), alt=stacks_in_words(model.config))
        memory = ", in memory" if is_loaded(name) else ""
        st.caption(markdown_text(f"{model.size_line()}{memory}"))
        if model.main_result():
            st.markdown(markdown_text(model.main_result()), help=model.main_result_explained() or None)
        if not picture_alone():
            page_link("Open in Explore", "explore", OPEN_HELP, checkpoint=name)


def show_checkpoint(name: str, model: cards.Model, place: int) -> None:
    """One card: what it is, its sizes, its map, how it was trained, measured and where it fails."""
    card = model.card
    st.markdown("\n\n".join(map(markdown_text, cards.about(model.config, card, model.family))))
    show_sizes(name, model)
    show_layout(name, model.config, place)
    show_evaluations(card)
    show_head_scores(name, model.config)
    show_curve(name, card)
    show_training(card, curve_steps(name))


def show_sizes(name: str, model: cards.Model) -> None:
    """How large it is, counted from the weights themselves."""
    config, parameters = model.config, model.parameters
    row = st.container(horizontal=True, gap="medium")
    with row:
        st.metric(
            "Parameters", cards.size(parameters), help=f"{PARAMETERS_HELP} Exactly {parameters:,}.", width="content"
        )
        stacks = [sizes for stack in config.stacks if (sizes := sizes_of(config, stack)) is not None]
        shape = " + ".join(f"{one.layers} × {one.heads} × {config.width}" for one in stacks)
        st.metric("Layers × heads × width", shape, help=SHAPE_HELP, width="content")
        st.metric("Vocabulary", f"{config.vocabulary:,}", help=VOCABULARY_HELP, width="content")
        st.metric("Longest text", f"{config.max_length:,} tokens", help=LENGTH_HELP, width="content")
        st.metric("Files", cards.megabytes(file_bytes(name)), width="content")


def show_layout(name: str, config: Config, place: int) -> None:
    """Its map, with the length of the text that is selected. place: of the checkpoint among all."""
    st.subheader("How it is built", anchor=False, help=MAP_HELP)
    show_lengths(MapSource(name, config), lengths_of(name, current().text), key=f"map_{place}")
    page_link("What it costs, box by box", "costs", COSTS_HELP, checkpoint=name, **{"costs.preset": OWN})


def lengths_of(name: str, text: str) -> Lengths:
    """How many tokens a text has for a model; nothing where it cannot read it, and nothing of what it would write.

    Nothing either for one that would have to be loaded for that.
    """
    if name not in available_checkpoints() and not (name == current().checkpoint and is_loaded(name)):
        return Lengths()
    with suppress(InputError):
        checkpoint = checkpoint_named(name)
        tokens = min(len(checkpoint.tokenizer.encode(text).ids), checkpoint.longest)
        reads = "encoder" if checkpoint.config.has_encoder else "decoder"
        return Lengths(**{reads: tokens or None})
    return Lengths()


def show_evaluations(card: Mapping[str, object]) -> None:
    """What was measured and what that means; under every table, folded, the command that prints it."""
    tables = cards.evaluations_by_command(card)
    if tables:
        st.subheader("How good it is", anchor=False)
        if sentences := cards.all_measures_explained(card):
            st.markdown(" ".join(map(markdown_text, sentences)))
    for command, table in tables.items():
        st.dataframe(pd.DataFrame(table), hide_index=True, height="content", column_config=EVALUATION_WIDTHS)
        if command:
            with st.expander("The command that printed this"):
                st.code(command, language=None, wrap_lines=True)


def curve_steps(name: str) -> int:
    """How many steps the learning curve shows; 0 where none was kept that can be read."""
    with suppress(OSError, ValueError):
        return last_step(read_curve((folder_of(name) / CURVE).read_text(encoding="utf-8")))
    return 0


def show_curve(name: str, card: Mapping[str, object]) -> None:
    """How the training went, where its curve was kept."""
    file = folder_of(name) / CURVE
    if not file.is_file():
        return
    st.subheader("Training curve", anchor=False, help=LOSS_HELP)
    try:
        written = file.read_text(encoding="utf-8")
        curve = read_curve(written)
    except ValueError as error:
        st.error(markdown_text(f"{CURVE} of {name}: {error}"))
        return
    if sentence := cards.curve_explained(card, last_step(curve)):
        st.markdown(sentence)
    left, right = st.columns(2, gap="large")
    with left:
        show_chart(("loss", written), lambda: loss_curve(curve, theme=theme()), "Loss over the training steps.")
    with right:
        alt = "Validation accuracy over the training steps."
        show_chart(("accuracy", written), lambda: accuracy_curve(curve, theme=theme()), alt)


def show_training(card: Mapping[str, object], steps: int) -> None:
    """The data with its licences, the command, and the limits. steps: of the curve, which may be of several runs."""
    if cards.data_lines(card):
        st.subheader("Data", anchor=False)
        st.markdown("\n\n".join(cards.data_lines(card)))
    command, facts = cards.text_of(card, "training", "command"), cards.training_facts(card, steps)
    if command or facts:
        st.subheader("Training", anchor=False)
    if facts:
        st.markdown("\n".join(f"- {markdown_text(name)}: {markdown_text(fact)}" for name, fact in facts.items()))
    if command:
        with st.expander("The command of the last run" if cards.has_earlier_runs(card, steps) else COMMAND):
            st.code(command, language=None, wrap_lines=True)
    if cards.limits(card):
        st.subheader("Limits", anchor=False)
        st.markdown("\n".join(f"- {markdown_text(limit)}" for limit in cards.limits(card)))


pages.frame("checkpoints")
show()
pages.freeze_imports("checkpoints")
