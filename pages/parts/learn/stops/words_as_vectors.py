"""What is a word to a model? Tokens, ids, one row of the table, and its nearest rows in several tables."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from model.measures.experiments.word_in_contexts import WORD
from model.measures.learn.nearest_rows import WordRow, embedding_scale, nearest_rows, whole_words
from model.tokenizer import Encoding
from model.transformer import Transformer
from pages.parts.frame.theme import theme
from pages.parts.learn.settings import OPENINGS, Path
from pages.parts.learn.stop import Door, Stop, StopQuestion
from pages.parts.models.catalogue import checkpoint_names
from pages.parts.shared_cache import check_lengths, checkpoint_key, checkpoint_named, purpose_of
from pages.parts.state.selection import Selection
from pages.parts.state.session import choose
from pages.parts.widgets.binding import select
from pages.parts.widgets.charts import show_chart
from viz.charts.learn.embedding_row import row_strip, token_id_chart
from viz.charts.learn.word_bars import BarGroup, word_bars
from viz.text.learn.stops import words_as_vectors as words
from viz.tokens import markdown_text, visible

TABLES = ("sentiment", "stories", "translate-en-fr")
OTHERS = ("king", "boring", "three", "mother", "water")  # that may be looked at beside those of the text
NEAREST = 5
MOST_WORDS = 60  # of a text
Rows = dict[str, dict[str, WordRow]]  # by table, then by word


@dataclass(frozen=True, kw_only=True)
class WordTables:
    """A text's words in the tables, the table that is asked about first."""

    selection: Selection
    encoding: Encoding
    text_words: tuple[str, ...]
    rows: Rows

    @property
    def own(self) -> str:
        """The table that is asked about."""
        return self.selection.checkpoint

    def of(self, word: str) -> dict[str, WordRow]:
        """The rows of a word, in the tables where it has one."""
        return {table: rows[word] for table, rows in self.rows.items() if word in rows and rows[word].neighbours}

    @property
    def models(self) -> dict[str, str]:
        """What the models are called, by their tables."""
        return words.model_names({name: purpose_of(name) for name in self.rows})

    @property
    def usable(self) -> list[str]:
        """The words of the text that have a row in the table that is asked about, and in another."""
        return [word for word in self.text_words if self.own in self.of(word) and len(self.of(word)) > 1]

    @property
    def word(self) -> str | None:
        """The one of them whose nearest row lies farthest above chance; None where there is none."""
        return max(self.usable, key=lambda word: self.rows[self.own][word].above_chance, default=None)


def tables_of(selection: Selection) -> WordTables:
    """The words of the text, and the others that may be chosen, in every table."""
    check_lengths(selection.text)
    encoding = checkpoint_named(selection.checkpoint).tokenizer.encode(selection.text)
    words_of_text = dict.fromkeys(match.group() for match in WORD.finditer(selection.text))
    text_words = tuple(words_of_text)[:MOST_WORDS]
    asked = tuple(dict.fromkeys((*text_words, *OTHERS)))
    names = dict.fromkeys((selection.checkpoint, *(name for name in TABLES if name in checkpoint_names())))
    rows = {name: rows_in(checkpoint_key(name), asked) for name in names}
    return WordTables(selection=selection, encoding=encoding, text_words=text_words, rows=rows)


@st.cache_data(show_spinner=False, max_entries=64)
def rows_in(key: tuple[str, str, tuple[int, ...]], asked: Sequence[str]) -> dict[str, WordRow]:
    """The rows of these words in a checkpoint's table, with their nearest."""
    checkpoint = checkpoint_named(key[0])
    table = checkpoint.model.embedding.weight.detach().float().cpu().numpy()
    return nearest_rows(table, whole_words(checkpoint.tokenizer.pieces(range(len(table)))), asked, NEAREST)


def ask(selection: Selection) -> StopQuestion:
    """Which of several lists of neighbours comes from the table of the model on the screen."""
    tables = tables_of(selection)
    door = Door(page="inside", label=words.DOOR, explained=words.DOOR_EXPLAINED)
    if tables.word is None:
        return no_word(tables, door)
    rows = tables.of(tables.word)
    names = words.asked_words(tables.word, rows, tables.models)
    options = sorted({words.option(row.neighbours) for row in rows.values()})
    return StopQuestion(
        question=words.QUESTION.format(**names),
        setting=words.SETTING.format(**names),
        options=[markdown_text(option) for option in options],
        right=frozenset({options.index(words.option(rows[tables.own].neighbours))}),
        answer=words.ANSWER.format(**names),
        sentence=words.SENTENCE.format(**names),
        picture=lambda seen: show_word(tables, chosen_word(tables) if seen else tables.word, seen=seen),
        act=lambda: show_words(tables),
        door=door,
    )


def no_word(tables: WordTables, door: Door) -> StopQuestion:
    """What the stop says of a text without a word that two tables know."""
    return StopQuestion(
        question=words.NAME,
        setting="",
        options=(),
        right=frozenset(),
        answer="",
        sentence="",
        picture=lambda seen: show_tokens(tables, None),
        door=door,
        unclear=words.UNCLEAR.format(tables=markdown_text(", ".join(tables.rows))),
    )


def words_to_choose(tables: WordTables) -> list[str]:
    """The words of the text that an address can name, then the others, as far as the table has them.

    An address has no capitals: of two spellings, the first.
    """
    own, spellings = tables.rows[tables.own], dict[str, str]()
    for word in (*(word for word in tables.usable if word.isascii()), *OTHERS):
        if word in own:
            spellings.setdefault(word.lower(), word)
    return list(spellings.values())


def chosen_word(tables: WordTables) -> str | None:
    """The word that the knob names, else the one that is asked about."""
    knob = tables.selection.of(Path).knob
    return next((word for word in words_to_choose(tables) if word.lower() == knob), tables.word)


def show_words(tables: WordTables) -> None:
    """The words to choose among."""
    options = words_to_choose(tables)
    chosen = chosen_word(tables)
    if chosen in options:
        select(words.CHOOSE, options, chosen, take, key="word_of_table", format_func=visible, width=240)


def take(word: str) -> None:
    """Another word."""
    choose(knob=word.lower())


def show_word(tables: WordTables, word: str | None, *, seen: bool) -> None:
    """Text, tokens, ids and the row of a word; once it may be seen, the nearest rows in every table."""
    assert word is not None
    checkpoint, row = checkpoint_named(tables.own), tables.rows[tables.own][word]
    show_tokens(tables, row.token_id)
    factor = embedding_scale(checkpoint.config)
    title = words.strip_title(row, checkpoint.config.vocabulary, factor)
    key = ("learn_row_strip", checkpoint_key(tables.own), row.token_id)
    show_chart(
        key, lambda: row_strip(row.scaled(factor), title, theme=theme()), words.STRIP_ALT.format(word=visible(word))
    )
    if seen:
        tables_key = ("learn_nearest", tuple(checkpoint_key(name) for name in tables.rows), word)
        show_chart(
            tables_key, lambda: word_bars(groups_of(tables, word), words.MEASURE, theme=theme()), words.NEAREST_ALT
        )


def show_tokens(tables: WordTables, token_id: int | None) -> None:
    """The tokens around the first of this id, or from the beginning."""
    encoding = tables.encoding
    place = encoding.ids.index(token_id) if token_id in encoding.ids else None
    show_chart(
        ("learn_tokens", checkpoint_key(tables.own), tables.selection.text, place),
        lambda: token_id_chart(encoding.tokens, encoding.ids, place, theme=theme()),
        words.TOKENS_ALT,
    )


def groups_of(tables: WordTables, word: str) -> list[BarGroup]:
    """The nearest rows in every table; of a table without the word, that it has none."""
    groups = []
    for name, rows in tables.rows.items():
        title = words.GROUP if word in rows else words.NO_ROW
        near = rows[word].neighbours if word in rows else ()
        groups.append(
            BarGroup(
                title=title.format(word=visible(word), model=tables.models[name]),
                words=[neighbour.word for neighbour in near],
                numbers=[neighbour.cosine for neighbour in near],
                chance=rows[word].chance if word in rows else None,
            )
        )
    return groups


STOP = Stop(
    name=words.NAME,
    opening=OPENINGS["words_as_vectors"],
    can_use=lambda config: True,
    rounds=(ask,),
    code=(Transformer.vectors, nearest_rows),
    paper=words.PAPER,
)
