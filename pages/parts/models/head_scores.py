"""What the heads of a model do over many texts, as the files of scores in its folder say."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from model import CheckpointError, Config
from model.edits.checks import sizes_of
from model.measures.head_scores.cell_kinds import CELL_KINDS
from model.measures.head_scores.gold_hits import GoldScore
from model.measures.head_scores.score_file import (
    LONGEST_TEXT,
    HeadScores,
    KindTable,
    score_files,
)
from pages.parts.frame.page_links import page_link
from pages.parts.models.catalogue import folder_of
from pages.parts.models.kept_scores import kept_scores
from pages.parts.state.selection import Selection
from viz.explorer.attention_kinds import TITLES
from viz.text import head_kind_tables as words
from viz.tokens import markdown_text

TITLE = "What its heads do"
TITLE_HELP = f"Every head is measured over many texts for the patterns that heads are known to form. {words.NULLS}"
EXPLORE_HELP = "Shows this head in Explore, on the text of the example where the file has it whole."
KINDS_HELP = f"Measured once, over many texts; the page Models has every kind, and the command. {words.NULLS}"
MOST_LINKS = 4  # of each attention
ONE_TEXT = "A link opens one text. The title there is of what the head does most in it, which may be something else."
TWICE_SAID = (
    "The link for induction opens a sentence that comes twice, as random tokens cannot be read: its shares are of that "
    "sentence, and not the score here."
)
# Of names that nothing before them foretells: what comes next is known the second time alone.
TWICE = " ".join(2 * ["Captain Grey met Miss Darling at Oak Hill on Friday with nine dogs."])
OWN_TEXTS = "Measure them over texts of your own, one a line: the result is a file in the model's folder, shown here."
GOLD = {
    "syntax": (
        "Grammar",
        "Does the head's largest weight lead from a word to the word that the treebank says it depends on, or back? "
        "Head and rule are chosen on other sentences than those that the figures are of; the null is the same head's "
        "share where the answers are those of other questions. Names such as nsubj (subject), obj (object), det "
        "(article), amod (adjective) or advcl (clause in the place of an adverb) are those of Universal Dependencies.",
    ),
    "coreference": (
        "Pronouns",
        "Does the head's largest weight on the candidates fall on the one that the pronoun means?",
    ),
}
COLUMNS = {
    "score": st.column_config.NumberColumn(format="%.2f"),
    "null": st.column_config.NumberColumn(format="%.2f"),
    "standard error": st.column_config.NumberColumn(format="%.3f"),
}
GOLD_COLUMNS = {name: st.column_config.NumberColumn(format="%.1f %%") for name in ("right", "null", "rule is right")}


def kinds_said(selection: Selection, attention: str, site: tuple[int, int]) -> str:
    """What one head is over many texts, plain text; "" where no file that can be read says it."""
    folder = folder_of(selection.checkpoint)
    try:
        scores = kept_scores(folder)
    except CheckpointError:  # the page Models says what is wrong with it
        return ""
    return "" if scores is None else words.above_null_said(scores, attention, *site)


def show_head_scores(name: str, config: Config) -> None:
    """A part of a model's card: one block for every file, or how to make the first."""
    st.subheader(TITLE, anchor=False, help=TITLE_HELP)
    folder = folder_of(name)
    for file in score_files(folder):
        try:
            show_file(name, config, fitting(kept_scores(folder, file), config, file))
        except CheckpointError as error:
            st.error(markdown_text(str(error)))
    with st.expander(OWN_TEXTS):
        st.code(f"python -m model.measures.score_heads {name} --texts my_texts.txt", language=None, wrap_lines=True)


def fitting(scores: HeadScores | None, config: Config, file: str) -> HeadScores:
    """The scores, if they are of a model of this size; CheckpointError where they are of another."""
    sizes = {
        name: (stack.layers, stack.heads) for name in config.stacks if (stack := sizes_of(config, name)) is not None
    }
    if "decoder" in sizes and "encoder" in sizes:
        sizes["cross"] = sizes["decoder"]
    tables = {} if scores is None else scores.kinds
    shapes = {name: next(iter(table.values())).scores.shape for name, table in tables.items() if table}
    if scores is None or any(sizes.get(name) != shape for name, shape in shapes.items()):
        raise CheckpointError(f"{file}: these are the scores of another model; measure this one again.")
    return scores


def show_file(name: str, config: Config, scores: HeadScores) -> None:
    """What one file says."""
    st.markdown(markdown_text(f"Measured over {words.measured_on(scores)}; induction, on {words.RANDOM}."))
    for attention, tables in scores.kinds.items():
        st.markdown(markdown_text(words.summary(attention, tables)))
        show_links(name, config, attention, tables, scores)
    with st.expander("Every kind, beside its null"):
        for attention, tables in scores.kinds.items():
            show_kinds(attention, tables, scores)
        st.caption(words.NULLS)
    for what, (title, explained) in GOLD.items():
        show_gold(getattr(scores, what), title, explained)
    with st.expander("The command that measured this"):
        st.code(scores.command, language=None, wrap_lines=True)


def show_kinds(attention: str, tables: dict[str, KindTable], scores: HeadScores) -> None:
    """The kinds of one attention as a table, and what each is."""
    st.markdown(f"**{TITLES[attention].capitalize()}**")
    rows = pd.DataFrame(words.kind_rows(tables, scores.texts))
    st.dataframe(rows, hide_index=True, height="content", column_config=COLUMNS)
    st.caption(markdown_text("; ".join(words.kinds_explained(tables)) + "."))


def show_links(name: str, config: Config, attention: str, tables: dict[str, KindTable], scores: HeadScores) -> None:
    """Ways to the strongest heads of the kinds that some head is of, the rarest kinds first."""
    kinds = [kind for kind in words.NAMES if kind in tables and tables[kind].exceeding.any()]
    linked = sorted(kinds, key=lambda kind: int(tables[kind].exceeding.sum()))[:MOST_LINKS]
    with st.container(horizontal=True, gap="small"):
        for kind in linked:
            table = tables[kind]
            opened = head_on_example(name, attention, kind, table, scores.texts)
            if "text" in opened or kind not in CELL_KINDS:
                label = f"{words.head_called(*table.strongest).capitalize()}: {words.NAMES[kind][0]}"
                page_link(label, "explore", EXPLORE_HELP, **opened)
    if linked:
        st.caption(ONE_TEXT)
    if "induction" in linked:
        st.caption(TWICE_SAID)


def head_on_example(name: str, attention: str, kind: str, table: KindTable, texts: dict[int, str]) -> dict[str, Any]:
    """What opens the strongest head of a kind alone, on the text of its example where that is whole."""
    layer, head = table.strongest
    heads = table.scores.shape[1]
    others = frozenset((layer, other) for other in range(heads) if other != head)
    opened = {"checkpoint": name, "attention": attention, "layer": layer, "off": others, "query": None, "key": None}
    if kind == "induction":  # measured on random tokens, which nobody could read
        return opened | {"text": TWICE, "pair": ""}
    example = table.example_of(layer, head)
    text = "" if example is None else texts.get(example.text, "")
    if example is None or not 0 < len(text) < LONGEST_TEXT:
        return opened
    return opened | {"text": text, "pair": "", "query": example.query, "key": example.key}


def show_gold(scores: Sequence[GoldScore], title: str, explained: str) -> None:
    """Heads against a fixed rule, if any were measured."""
    if not scores:
        return
    st.markdown(markdown_text(words.gold_summary(scores, title)), help=explained)
    with st.expander(f"{title}: every comparison"):
        st.dataframe(
            pd.DataFrame(words.gold_rows(scores)), hide_index=True, height="content", column_config=GOLD_COLUMNS
        )
