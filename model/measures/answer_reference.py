"""What a model says, computed again in NumPy from the stored weights: the end of the path of ``numpy_reference``."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from model.config import Config
from model.edits import NO_EDITS, Edits
from model.measures.numpy_reference import ACTIVATIONS, Numbers, softmax
from model.measures.weight_answer import Answer
from model.trace import Trace
from model.transformer import Transformer

Vectors = Float[np.ndarray, "position width"]


@dataclass(frozen=True, kw_only=True)
class RecheckedAnswer:
    """The end of the way; of the stack that the weight is in, the streams, of the answer the rest.

    read, logits, probabilities: None where the model has no head.
    """

    last_stream: Vectors  # as the last layer leaves it
    final: Vectors  # after the last norm
    read: Float[np.ndarray, " width"] | None  # by the classifier or the projection
    logits: Float[np.ndarray, " answer"] | None
    probabilities: Float[np.ndarray, " answer"] | None


def recheck_answer(
    model: Transformer, trace: Trace, stack: str, answer: Answer, edits: Edits = NO_EDITS
) -> RecheckedAnswer:
    """The answer of the pass over the trace's ids with these edits, from the first layer on."""
    numbers, last, final = Numbers(model, edits), dict[str, Vectors](), dict[str, Vectors]()
    memory = None
    for name in model.config.stacks:
        x = numbers.entering(name, trace)
        for layer in numbers.layers(name, x, memory):
            x = layer.stream_out
        last[name], final[name] = x, numbers.finished(name, x)
        memory = final[name]
    answering = slice(None) if answer.position is None else slice(answer.position, answer.position + 1)
    read = vector_read(numbers, final[name][answering])
    logits = None if read is None else head_logits(numbers, read)
    return RecheckedAnswer(
        last_stream=last[stack],
        final=final[stack],
        read=None if read is None else read.reshape(-1),
        logits=None if logits is None else logits.reshape(-1),
        probabilities=None if logits is None else softmax(logits.reshape(1, 1, -1)).reshape(-1),
    )


def pooled_of(numbers: Numbers, final: Vectors) -> Float[np.ndarray, " width"] | None:
    """The one vector that a text is made into; None where the model makes none."""
    config: Config = numbers.config
    if config.pooling.startswith("first"):
        dense = numbers.linear("pooling.dense", final[:1])[0]
        return np.tanh(dense) if config.pooling == "first-tanh" else np.maximum(dense, 0)
    return final.mean(axis=0) if config.labels and config.pooling == "mean" else None


def vector_read(numbers: Numbers, final: Vectors) -> np.ndarray | None:
    """What the head reads: the pooled vector of a classifier, or one for each position; None where there is no head."""
    config: Config = numbers.config
    if config.labels:
        return pooled_of(numbers, final)
    if config.word_head:
        hidden = ACTIVATIONS[config.activation](numbers.linear("word_head.dense", final))
        return numbers.normed("word_head.norm", hidden, None)
    return final if config.has_decoder else None


def head_logits(numbers: Numbers, read: np.ndarray) -> np.ndarray:
    """The logits of what the head reads: (label,) or (position, vocabulary)."""
    config: Config = numbers.config
    if config.labels:
        return numbers.linear("classifier", read[None])[0]
    names = ("projection.weight", "target_embedding.weight", "embedding.weight")
    table = next(name for name in names if name in numbers.stored)
    logits = (read * config.output_scale) @ numbers.get(table).T
    logits = logits + (numbers.get("vocabulary_bias") if "vocabulary_bias" in numbers.stored else 0.0)
    return logits if config.logit_cap is None else config.logit_cap * np.tanh(logits / config.logit_cap)


def logits_of(numbers: Numbers, final: Vectors) -> np.ndarray | None:
    """What the head says: (label,) or (position, vocabulary); None where there is none."""
    read = vector_read(numbers, final)
    return None if read is None else head_logits(numbers, read)
