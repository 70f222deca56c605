"""What a model says of a text, by the kind of its head."""

from dataclasses import replace

from model import Checkpoint
from model.measures.outcome import outcome_of, outcome_value
from model.trace import Trace
from viz.text import weight_sentences
from viz.tokens import full_stop, percent, visible

PREDICTION_HELP = "The class that the model finds most probable for this text, and that probability."
NEXT_HELP = "The token that the model finds most probable after the last one, and that probability."
NO_HEAD = "This model makes no prediction that could change"
NO_MASK = "This text has no mask, so the model makes no prediction that could change"
MASKED_HELP = "The token that the model finds most probable in place of the first mask, and that probability."


def prediction_of(checkpoint: Checkpoint, trace: Trace) -> tuple[str, str, str] | None:
    """Title, value and explanation of what the head says; None where there is no head."""
    if checkpoint.config.labels:
        return "Prediction", weight_sentences.outcome(checkpoint.probabilities(trace)), PREDICTION_HELP
    if trace.logits is None or (trace.encoder is not None and trace.decoder is not None):
        return None
    masked = None if trace.encoder is None else checkpoint.tokenizer.first_masked(trace.encoder.ids.tolist())
    if trace.encoder is not None and masked is None:
        return None
    best = checkpoint.likeliest(trace, -1 if masked is None else masked)
    title, explained = ("Next token", NEXT_HELP) if masked is None else ("Masked word", MASKED_HELP)
    token, probability = best
    return title, weight_sentences.outcome({f"“{visible(token)}”": probability}), explained


def no_prediction(checkpoint: Checkpoint, trace: Trace) -> str:
    """Why the model makes no prediction for this text; "" where it makes one."""
    both_stacks = trace.encoder is not None and trace.decoder is not None
    if both_stacks or prediction_of(checkpoint, trace) is not None:
        return ""
    if trace.logits is None:
        return NO_HEAD
    mask = checkpoint.tokenizer.mask
    return f"{NO_MASK}: write {mask} in place of a word" if mask else NO_MASK


def change_of(checkpoint: Checkpoint, before: Trace, after: Trace, *, typed: bool = False) -> str:
    """What the model says, before and after a change; "" where it makes no prediction.

    typed: whether the decoder beside an encoder read a target that somebody typed: its probability is compared.
    """
    if typed:
        return target_change(checkpoint, before, after)
    if checkpoint.config.labels:
        return weight_sentences.change(checkpoint.probabilities(before), checkpoint.probabilities(after))
    if before.encoder is not None and before.decoder is not None:
        old, new = output_of(checkpoint, before), output_of(checkpoint, after)
        if old == new:
            return "The output stays the same"
        return " → ".join(map(weight_sentences.quoted, weight_sentences.where_they_differ(old, new)))
    old_said, new_said = prediction_of(checkpoint, before), prediction_of(checkpoint, after)
    if old_said is None or new_said is None:
        return ""
    return f"{old_said[0]}: {old_said[1]} → {new_said[1]}"


def target_change(checkpoint: Checkpoint, before: Trace, after: Trace) -> str:
    """ "Target’s tokens, on average: 61.2 % → 12.3 %": the mean probability of a typed target's, in two passes.

    "" for a target without tokens.
    """
    every = outcome_of(checkpoint, before)  # its last token is what the model would write after the target
    target = replace(every, answers=every.answers[:-1], rows=every.rows[:-1])
    if not target.answers:
        return ""
    old, new = (percent(outcome_value(target, before, trace), 1) for trace in (before, after))
    return f"Target’s tokens, on average: {old} → {new}"


def verdict_of(checkpoint: Checkpoint, trace: Trace, *, typed: bool = False) -> str:
    """What the model says, as a sentence: "Verdict: positive 93.9 %."; "" where it says nothing.

    typed: whether the text of the decoder beside an encoder is one that somebody typed.
    """
    if trace.encoder is not None and trace.decoder is not None:
        said = weight_sentences.quoted(weight_sentences.shortened(output_of(checkpoint, trace)))
        return f"{'Target' if typed else 'Output'}: {said}{full_stop(said)}"
    prediction = prediction_of(checkpoint, trace)
    if prediction is None:
        return ""
    return f"{'Verdict' if checkpoint.config.labels else prediction[0]}: {prediction[1]}."


def output_of(checkpoint: Checkpoint, trace: Trace) -> str:
    """The text of the decoder beside an encoder, in one line; "" where its tokens have none."""
    assert trace.decoder is not None
    return " ".join(checkpoint.tokenizer.decode(trace.decoder.ids.tolist()).split())
