"""What stands below a translation's picture: one step, every token's probability, the alignment, the beam's tree."""

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st
from jaxtyping import Float

from model import Checkpoint
from model.measures.alignment import mean_of_reading, produced_words, renumbered, strongest_links, word_weights
from model.measures.cross_attention_links import most_looked_at
from model.measures.teacher_forcing import log_probability
from pages.parts.frame.downloads import button, download_name, files
from pages.parts.frame.theme import theme
from pages.parts.state.selection import Selection
from pages.parts.translate.candidate_pass import ForcedPass
from pages.parts.translate.productions import Production, candidate_of
from pages.parts.translate.settings import MOMENTS, Options
from pages.parts.translate.translation_opening import MOMENT_NAMES, names_of
from pages.parts.widgets.charts import show_chart
from viz.charts.alignment import MOST_DRAWN as MOST_WORDS
from viz.charts.alignment import alignment_chart, alignment_csv, alignment_table, link_rows, word_names, words_of
from viz.charts.beam_tree import MOST_DRAWN as MOST_LINES
from viz.charts.beam_tree import runs_of, tree_chart, tree_table
from viz.charts.share_bars import largest, share_chart
from viz.charts.teacher_forcing import MOST_DRAWN, forced_chart, forced_table
from viz.export.provenance import Provenance
from viz.text import card_tables as cards
from viz.text.translation_finding import reading_name
from viz.tokens import markdown_text, percent, position_name

MOST_BARS = 24
HOW_TO_READ = """
- The words of the source stand above, those of the translation below. Blue curves show what the marked word looks at; a
  larger weight has a wider curve. For every other word, the largest link is drawn in grey. Click a word to go to its
  step.
- A decoder writes token by token. To produce a token it has read the start and all earlier tokens; **cross-attention**
  is what that position looks at in the source. Words that are not written yet at this step stand in italics.
- Each word has two **moments**: one position writes it, and one step later its own position reads it. Title, picture,
  step and alignment are of the moment that is chosen under **Moment**.
- For a word of several tokens, the weights that its pieces receive are added up, and the weights that they give are
  averaged.
"""
EXPLORER_SAID = (
    "The explorer shows all three attentions. In **decoder → encoder**, each row has the name of the token that was "
    "read last and produces the next one. Click a row to keep it; the picture above follows."
)
FORCED_HELP = (
    "The probability that the model gave to each token of the translation, after it had read the source and all "
    "earlier tokens. Orange marks a token for which the model found another one likelier; that other token stands "
    "beside the number."
)
ALIGNMENT_HELP = (
    "Every word of the translation with the source word that it looks at most. The weights of a source word's pieces "
    "are added up; those of a translated word's pieces are averaged."
)
ALIGNMENT_CSV_HELP = (
    "Every link with its weight, with all digits; words count from 0. The first lines say where the numbers come from."
)
AER_BEGINNING = "alignment error rate, "
AER_SAID = (
    "**How far this agrees with people.** The alignment error rate on sentences that people aligned by hand (Och and "
    "Ney 2003) is 0 % where every link of attention is also theirs and none of theirs is missing. The diagonal, "
    "which uses only the lengths of the two texts, is the baseline that a head should beat. Layers and heads count "
    "from 1. The page Models describes the sets; their texts are harder than those that the model was trained "
    "on."
)
TREE_HELP = (
    "Beam search extends the best few hypotheses (unfinished translations) by one token at a time and drops the "
    "rest. A line continues the line to its upper left; ✕ marks a hypothesis that was dropped, ▶ a translation. The "
    "number is the score."
)


def show_step(
    selection: Selection,
    checkpoint: Checkpoint,
    produced: Production,
    forced_pass: ForcedPass,
    options: Options,
    row: int | None,
) -> None:
    """One token: where it comes from, how probable it was, and what else might have stood there.

    row: the position whose weights are those of the step in the chosen moment; None where there is none.
    """
    step, name = options.step or 0, names_of(checkpoint, forced_pass)[options.step or 0]
    st.subheader("This step, token by token", anchor=False)
    st.markdown(
        looking_sentence(name, options, forced_pass, row)
        + probability_sentence(name, forced_pass, step)
        + chance_sentence(selection, produced, options, step)
    )
    left, right = st.columns(2, gap="large")
    with left:
        if row is not None:
            show_sources(forced_pass, options, row)
    with right:
        show_alternatives(checkpoint, forced_pass, step)


def weights_of(forced_pass: ForcedPass, options: Options, row: int) -> Float[np.ndarray, "key"]:
    """What one position gives to every source token."""
    assert forced_pass.trace.decoder is not None
    return mean_of_reading(forced_pass.trace.decoder.cross_weights().numpy(), options.place())[row]


def looking_sentence(name: str, options: Options, forced_pass: ForcedPass, row: int | None) -> str:
    """What the position looked at in the chosen moment."""
    assert forced_pass.trace.encoder is not None
    link = None if row is None else most_looked_at(weights_of(forced_pass, options, row))
    if link is None:
        return f"The model writes **{markdown_text(name)}** last and does not read it, so it looks at nothing then."
    best, weight = link
    source = position_name(best, (forced_pass.trace.encoder.tokens or ())[best])
    begins = "To write" if options.moment == MOMENTS[0] else "One step later, reading"
    return (
        f"{begins} **{markdown_text(name)}**, the model looked most at **{markdown_text(source)}**: "
        f"{percent(weight)} of the weight ({reading_name(options.place())})."
    )


def probability_sentence(name: str, forced_pass: ForcedPass, step: int) -> str:
    probability = percent(forced_pass.tokens[step].probability, 1)
    return f" The model gave **{markdown_text(name)}** a probability of {probability}."


def chance_sentence(selection: Selection, produced: Production, options: Options, step: int) -> str:
    """With what chance a token was drawn."""
    chances = candidate_of(produced, options).chances
    if options.method != "sample" or selection.target.strip() or step >= len(chances):
        return ""
    return f" After temperature, top-k and top-p, its probability was {percent(chances[step], 1)}."


def show_sources(forced_pass: ForcedPass, options: Options, row: int) -> None:
    """The weight of every source token, the largest of many."""
    assert forced_pass.trace.encoder is not None
    tokens, shares = forced_pass.trace.encoder.tokens or (), weights_of(forced_pass, options, row).tolist()
    places = largest(shares, MOST_BARS)
    names = [position_name(place, tokens[place]) for place in places]
    st.markdown("**Source tokens, by weight**")
    make = partial(share_chart, names, [shares[place] for place in places], "weight", theme=theme())
    show_chart(
        ("sources", forced_pass.key, options.reading, row), make, "The weight of each source token in this step."
    )
    if len(tokens) > MOST_BARS:
        st.markdown(f"The {MOST_BARS} largest of {len(tokens)} tokens are drawn.")


def show_alternatives(checkpoint: Checkpoint, forced_pass: ForcedPass, step: int) -> None:
    token = forced_pass.tokens[step]
    ids = [token_id for token_id, _ in token.likeliest]
    names = [position_name(rank, piece) for rank, piece in enumerate(checkpoint.tokenizer.pieces(ids))]
    marked = ids.index(token.token_id) if token.token_id in ids else None
    st.markdown("**Likeliest tokens**; ● marks the one in the translation")
    shares = [share for _, share in token.likeliest]
    make = partial(share_chart, names, shares, "probability", marked=marked, theme=theme())
    show_chart(
        ("alternatives", forced_pass.key, step), make, "The likeliest tokens of this step and their probabilities."
    )


def show_forced(checkpoint: Checkpoint, forced_pass: ForcedPass) -> None:
    """The probability of every token of the translation."""
    st.subheader("How probable each token was", anchor=False, help=FORCED_HELP)
    best = checkpoint.tokenizer.pieces([token.likeliest[0][0] for token in forced_pass.tokens])
    pieces = list(zip(checkpoint.tokenizer.pieces(forced_pass.predicted), best, strict=True))
    preferred = sum(token.rank == 0 for token in forced_pass.tokens)
    st.markdown(
        f"{preferred} of {len(pieces)} tokens are the model's first choice. The log-probabilities of all tokens "
        f"(natural logarithm) add up to {log_probability(forced_pass.tokens):.4f}."
    )
    make = partial(forced_chart, forced_pass.tokens, pieces, theme=theme())
    show_chart(
        ("forced", forced_pass.key), make, "The probability of each token of the translation; the table has them all."
    )
    if len(pieces) > MOST_DRAWN:
        st.markdown(f"The first {MOST_DRAWN} of {len(pieces)} tokens are drawn; the table has all.")
    st.dataframe(pd.DataFrame(forced_table(forced_pass.tokens, pieces)), hide_index=True, key="forced_table")


def show_alignment(checkpoint: Checkpoint, forced_pass: ForcedPass, options: Options, source: Provenance) -> None:
    """Every word with the one that it looks at most, and how good such links are."""
    st.subheader("Word alignment", anchor=False, help=ALIGNMENT_HELP)
    st.markdown(
        f"The links are those of {reading_name(options.place())}, {MOMENT_NAMES[options.moment]}. "
        "Choose both beside the picture."
    )
    decoder, encoder = forced_pass.trace.decoder, forced_pass.trace.encoder
    assert decoder is not None
    assert encoder is not None
    sides = [(stack.tokens or (), renumbered(stack.words or [])) for stack in (decoder, encoder)]
    targets, sources = (word_names(*side) for side in sides)
    queries = produced_words(sides[0][1]) if options.moment == "produced" else sides[0][1]
    matrix = mean_of_reading(decoder.cross_weights().numpy(), options.place())
    weights = word_weights(matrix, queries, sides[1][1], (len(targets), len(sources)))
    show_links(forced_pass, options, weights, (targets, sources))
    make = partial(
        alignment_csv,
        weights,
        words_of(*sides[0]),
        words_of(*sides[1]),
        strongest_links(weights),
        reading=options.place(),
        moment=options.moment,
        provenance=source,
    )
    name = download_name("translate", "csv", "alignment")
    with files("alignment"):
        button("Alignment (CSV)", name, make, ALIGNMENT_CSV_HELP)
    show_error_rates(checkpoint)


def show_links(
    forced_pass: ForcedPass,
    options: Options,
    weights: Float[np.ndarray, "target source"],
    names: tuple[list[str], list[str]],
) -> None:
    """The picture of the links, and their table."""
    links = strongest_links(weights)
    left, right = st.columns([3, 2], gap="large")
    with left:
        make = partial(alignment_chart, weights, *names, links, theme=theme())
        key = ("alignment", forced_pass.key, options.reading, options.moment)
        show_chart(
            key, make, "Source words on the left, words of the translation on the right; the table has the links."
        )
        if max(map(len, names)) > MOST_WORDS:
            st.markdown(f"The first {MOST_WORDS} words of each side are drawn; the table has all.")
    with right:
        st.dataframe(pd.DataFrame(alignment_table(link_rows(weights, *names, links))), hide_index=True, key="links")


def show_error_rates(checkpoint: Checkpoint) -> None:
    """What was measured of this checkpoint's alignments, with the command that printed it."""
    tables = cards.evaluations_by_command(cards.evaluations_that_begin(checkpoint.card, AER_BEGINNING))
    if tables:
        st.markdown(AER_SAID)
    for place, (command, table) in enumerate(tables.items()):
        st.code(command, language=None, wrap_lines=True)
        st.dataframe(pd.DataFrame(table), hide_index=True, key=f"error_rates_{place}")


def show_tree(produced: Production, options: Options) -> None:
    """All hypotheses that the search followed."""
    st.subheader("Hypotheses that the search followed or dropped", anchor=False, help=TREE_HELP)
    runs = runs_of(produced.tree, [one.ids for one in produced.candidates])
    dropped = sum(run.dropped for run in runs)
    st.markdown(
        f"{len(produced.candidates)} translations (▶) and {dropped} hypotheses that were dropped (✕). A line continues "
        "the line to its upper left. The number is the score of the whole hypothesis; a score closer to 0 is better."
    )
    key = ("tree", tuple((run.hypothesis, run.score) for run in runs), options.choice)
    make = partial(tree_chart, runs, chosen=options.choice, theme=theme())
    show_chart(key, make, "An outline of all hypotheses; the table has the same.")
    if len(runs) > MOST_LINES:
        st.markdown(f"The first {MOST_LINES} of {len(runs)} lines are drawn; the table has all.")
    st.dataframe(pd.DataFrame(tree_table(runs)), hide_index=True, key="tree_table")
