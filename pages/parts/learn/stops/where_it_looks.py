"""Where does it look? One row of one head."""

import numpy as np

from model import Edits
from model.attention import scaled_dot_product_attention
from model.measures.learn.clear_row import ClearRow, clear_row
from pages.parts.cache import checkpoint_named
from pages.parts.frame.theme import theme
from pages.parts.learn.stop import Asked, Door, Stop
from pages.parts.passes import trace_of
from pages.parts.state.selection import EXAMPLES, Selection
from pages.parts.widgets.charts import show_chart
from viz.charts.learn.row import row_chart
from viz.explorer.attention_kinds import Kind, kinds_of
from viz.text.learn import where_it_looks as words

FIRST_HEAD = (3, 3)


def ask(selection: Selection) -> Asked:
    """Which key gets most of a row."""
    checkpoint = checkpoint_named(selection.checkpoint)
    kind = next(iter(kinds_of(trace_of(selection, Edits())).values()))
    special = kind.keys.special or (False,) * len(kind.keys.tokens)
    places = [p for p, token in enumerate(kind.keys.tokens) if not special[p] and token[0].isalnum()]
    head = FIRST_HEAD if checkpoint.config.layers > FIRST_HEAD[0] else (0, 0)
    row = clear_row(np.stack(kind.weights), places, head)
    door = Door(page="inside", label="Inside this weight", explained="Every step.", changes={})
    if row is None:
        return Asked(
            question=words.ALONE,
            setting="",
            options=(),
            right=frozenset(),
            answer="",
            sentence="",
            picture=lambda seen: None,
            door=door,
            unclear=words.ALONE,
        )
    said = words.words(row, kind)
    options = sorted((row.key, *row.others))
    return Asked(
        question=words.QUESTION.format(**said),
        setting=words.SETTING.format(**said),
        options=[words.name(kind, place) for place in options],
        right=frozenset({options.index(row.key)}),
        answer=words.ANSWER.format(**said),
        sentence=words.SENTENCE.format(**said),
        picture=lambda seen: show_row(selection, kind, row, seen),
        door=door,
        unclear="" if row.clear else words.UNCLEAR.format(**said),
    )


def show_row(selection: Selection, kind: Kind, row: ClearRow, seen: bool) -> None:
    """The row, or the tokens alone."""
    key = ("learn_row", selection.checkpoint, selection.text, row.layer, row.head, row.query, seen)
    show_chart(
        key,
        lambda: row_chart(kind.keys.tokens, row.weights if seen else None, row.query, key=row.key, theme=theme()),
        "A bar for every token: the share of the attention that goes to it.",
    )


STOP = Stop(
    name="Where does it look?",
    checkpoint="sentiment",
    text=EXAMPLES[0],
    can_use=lambda config: True,
    rounds=(ask,),
    code=(scaled_dot_product_attention,),
    paper="Section 3.2.1, equation 1: softmax(QKᵀ/√d_k)V. A row of the softmax is what this bar chart shows.",
)
