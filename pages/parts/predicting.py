"""What a model says of a text, by the kind of its head."""

from model import Checkpoint
from model.trace import Trace
from viz import answer

PREDICTION_HELP = "The class that the model finds most probable for this text, and that probability."
NEXT_HELP = "The token that the model finds most probable after the last one, and that probability."
MASKED_HELP = "The token that the model finds most probable in place of the first mask, and that probability."


def prediction_of(checkpoint: Checkpoint, trace: Trace) -> tuple[str, str, str] | None:
    """Title, value and explanation of what the head says; None where there is no head."""
    if checkpoint.config.labels:
        return "Prediction", answer.outcome(checkpoint.probabilities(trace)), PREDICTION_HELP
    if trace.logits is None or (trace.encoder is not None and trace.decoder is not None):
        return None
    masked = None if trace.encoder is None else checkpoint.tokenizer.first_masked(trace.encoder.ids.tolist())
    if trace.encoder is not None and masked is None:
        return None
    found = checkpoint.likeliest(trace, -1 if masked is None else masked)
    title, explained = ("Next token", NEXT_HELP) if masked is None else ("Masked word", MASKED_HELP)
    return title, answer.outcome(dict([found])), explained
