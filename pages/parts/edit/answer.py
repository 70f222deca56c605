"""What becomes of the answer: the bars beside the matrix, the finding, and what the model writes with the edit."""

from dataclasses import replace
from typing import Any

from model.measures.causes.strongest_weight import StrongestWeight
from model.measures.comparison import stream_distances
from model.measures.edited_weights import set_keys
from model.measures.likely_answers import likely_answers
from model.measures.outcome import answers_otherwise, outcome_value
from pages.parts.ablations.experiment_runs import edited_output
from pages.parts.ablations.part_effects import name_of
from pages.parts.edit.edited_pass import EditedPass
from pages.parts.passes import target_of
from pages.parts.prediction import no_prediction, output_of
from pages.parts.state.selection import Selection
from viz.charts.causes.weight_editor import answer_panel
from viz.explorer.attention_kinds import Kind
from viz.text.causes import edited_weights as sentences
from viz.text.causes.edited_weights import Look
from viz.text.causes.head_effects import LEAST, written_said
from viz.tokens import token_named

TITLES = {
    "label": "Verdict",
    "next": "Next token",
    "masked": "Masked word",
    "output": "The same output, token by token",
    "stream": "No answer to follow",
}
TARGET, OUTPUT, OUTPUT_BEFORE, ANEW = "Target", "Output", "Output before", "Written anew"
SAME_OUTPUT = "The bars are of the tokens written without the edit, read again with it."


def answer_data(selection: Selection, run: EditedPass) -> dict[str, Any]:
    """The bars."""
    answers = likely_answers(run.outcome, run.before, run.after)
    if run.outcome.kind == "label":
        names = [run.checkpoint.config.labels[at] for at in answers.ids]
    else:
        names = list(run.checkpoint.tokenizer.pieces(list(answers.ids))) if answers.ids else []
    texts, note = {}, no_prediction(run.checkpoint, run.before)
    if run.outcome.kind == "output":
        texts, note = written(selection, run), SAME_OUTPUT if run.is_edited else ""
    elif run.outcome.kind == "stream":
        moved = outcome_value(run.outcome, run.before, run.after)
        note = f"{note}. {sentences.vectors_said(moved)}"
    title = TITLES[run.outcome.kind]
    return answer_panel(title, names, answers.before, answers.after, edited=run.is_edited, texts=texts, note=note)


def written(selection: Selection, run: EditedPass) -> dict[str, str]:
    """What a translating model wrote, and what it would write now; of a typed target that alone."""
    before = output_of(run.checkpoint, run.before)
    if target_of(selection, run.checkpoint, run.others) is not None:
        return {TARGET: before}
    if not run.is_edited:
        return {OUTPUT: before}
    assert run.before.decoder is not None
    now = edited_output(selection, run.checkpoint, run.edits, len(run.before.decoder.ids))
    return {OUTPUT_BEFORE: before, ANEW: " ".join(now.split())}


def look_of(run: EditedPass, kind: Kind) -> Look | None:
    """The weight that the finding names: the one that was set, where that is one alone."""
    rows = {(cell.site, cell.query) for cell in run.edits.overwritten}
    if len(rows) != 1 or not run.cells:
        return None
    query = next(iter(run.cells)).query
    values, divided = {cell.key: cell.value for cell in run.cells}, any(cell.renormalise for cell in run.cells)
    keys = set_keys(run.base[query], values, divided=divided)
    if len(keys) != 1:
        return None
    place = query, keys.pop()
    key = place[1]
    return Look(
        site=(run.site.layer, run.site.head),
        query=token_named(kind.queries.tokens, query),
        key=token_named(kind.keys.tokens, key),
        before=float(run.base[place]),
        after=float(run.weights[place]),
    )


def found(selection: Selection, run: EditedPass, kind: Kind, suggestion: StrongestWeight | None) -> tuple[str, str]:
    """Title and sentence, Markdown."""
    before = outcome_value(run.outcome, run.before, run.before)
    answer = name_of(run.checkpoint, run.outcome)
    if not run.is_edited:
        return suggestion_said(run, kind, suggestion, answer, before)
    after, look = outcome_value(run.outcome, run.before, run.after), look_of(run, kind)
    heads = {cell.site for cell in run.edits.overwritten}
    rows = len({(cell.site, cell.query) for cell in run.edits.overwritten})
    title = sentences.title(look, rows, len(heads), run.outcome.kind, answer, before, after)
    site = min(heads)
    last = [trace.output_stack.blocks[-1].stream_out for trace in (run.before, run.after)]
    moved = float(stream_distances(*([stream] for stream in last))[0])
    whose = "decoder’s " if run.before.encoder is not None and run.before.decoder is not None else ""
    said = sentences.sentence(
        look, (site.layer, site.head), moved, heads=len(heads), whose=whose, now=now_likeliest(run)
    )
    if run.outcome.kind == "output":
        texts = written(selection, run)
        now = texts.get(ANEW)
        if now is not None and now.split() != texts[OUTPUT_BEFORE].split():
            said = f"{written_said(now)} {said}"
    return title, said


def now_likeliest(run: EditedPass) -> tuple[str, float] | None:
    """The likeliest answer with the edit, where it is another than before; None of an output, which has many."""
    if run.outcome.kind == "output" or not answers_otherwise(run.outcome, run.after):
        return None
    answers = likely_answers(run.outcome, run.before, run.after)
    most = int(answers.after.argmax())
    likeliest = replace(run.outcome, answers=(answers.ids[most],))
    return name_of(run.checkpoint, likeliest), float(answers.after[most])


def suggestion_said(
    run: EditedPass, kind: Kind, suggestion: StrongestWeight | None, answer: str, before: float
) -> tuple[str, str]:
    """What the suggested edit would do, and what to do."""
    if run.base.shape[-1] == 1:
        return "", sentences.ONE_KEY
    if suggestion is None:
        return "", sentences.UNEDITED
    look = Look(
        site=(suggestion.site.layer, suggestion.site.head),
        query=token_named(kind.queries.tokens, suggestion.query),
        key=token_named(kind.keys.tokens, suggestion.key),
        before=float(run.base[suggestion.query, suggestion.key]),
        after=1.0,
    )
    numbers = before, suggestion.after
    if not is_worth_a_try(run, suggestion):
        return sentences.nothing_to_suggest(look, run.outcome.kind, answer, *numbers)
    return sentences.suggestion(look, run.outcome.kind, answer, *numbers, turned=suggestion.turned)


def is_worth_a_try(run: EditedPass, suggestion: StrongestWeight) -> bool:
    """Whether one would see that the suggested edit changes the answer."""
    before = outcome_value(run.outcome, run.before, run.before)
    return suggestion.turned or abs(suggestion.after - before) >= LEAST
