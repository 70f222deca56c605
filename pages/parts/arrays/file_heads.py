"""The heads of a file: which is found, and what is said of it, by its weights alone."""

from functools import partial

from model.measures.weights_alone import measure_alone, sides_of_stored
from pages.parts.arrays.opened_file import OpenedFile, files_in_memory
from pages.parts.explore.explorer_panel import ShownAttention
from pages.parts.explore.heads_worth_a_look import (
    Heads,
    OpeningHead,
    chosen_place,
    figure_with,
    heads_in,
    look_of,
    opening_among,
    show_cards,
)
from viz.text import file_findings, head_findings
from viz.tokens import markdown_text


def heads_of(file: OpenedFile, attention: str) -> Heads:
    """What every head of one attention does, measured once for a file."""
    if attention not in file.heads:
        stored = files_in_memory().arrays_of(file).attentions[attention]
        file.heads[attention] = heads_in(measure_alone(stored.weights, sides_of_stored(stored)))
    return file.heads[attention]


def opening_of_file(file: OpenedFile, attention: ShownAttention) -> OpeningHead:
    """The head that a visitor has chosen; else the one that was found."""
    return opening_among(attention, heads_of(file, attention.kind.name))


def sentence_of_file(attention: ShownAttention, opening: OpeningHead) -> str:
    """The sentence under the title, Markdown."""
    if opening.finding is not None:
        return markdown_text(head_findings.sentence(opening.finding, attention.kind))
    if chosen_place(attention):
        return look_of(attention.kind, opening, file_findings.BY_CHANCE)
    return head_findings.ALONE if len(attention.kind.keys.tokens) == 1 else file_findings.NOTHING


def how_chosen_in_file(opening: OpeningHead) -> str:
    """How the finding was chosen, and what it was measured against."""
    against = "" if opening.finding is None else f" {file_findings.against(opening.finding)}"
    return f"{file_findings.HELP}{against}"


def figure_of_file(file: OpenedFile, attention: ShownAttention, opening: OpeningHead) -> dict:
    """What the large picture is drawn from."""
    stored = files_in_memory().arrays_of(file).attentions[attention.kind.name]
    return figure_with(attention, opening, sides_of_stored(stored))


show_file_cards = partial(show_cards, explained=file_findings.HELP, against=file_findings.against)
