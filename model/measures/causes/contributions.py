"""What each head, layer and embedding adds directly to the answer's logit: parts that sum to it.

The stream that the model's head reads is a sum of parts (``stream_parts``), and with the norms frozen the way from each
to the logit is linear: direct logit attribution, after Elhage et al. 2021, "A Mathematical Framework for Transformer
Circuits". A part's way through later heads and layers is theirs: see ``ablation``.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from model.checkpoint import Checkpoint
from model.measures.causes.stream_parts import Mix, Part, by_part, frozen_stream
from model.measures.outcome import Outcome, outcome_of
from model.output_heads import MeanPooling
from model.trace import Trace
from model.transformer import Transformer


@torch.no_grad()
def logit_parts(checkpoint: Checkpoint, trace: Trace) -> dict[Part, float]:
    """What every part adds to the answer's logit, of several answers to their mean; they sum to it, before a cap.

    trace: of this checkpoint, without edits. ValueError where the way from the stream to the answer is not linear (a
    head with an activation in it), or where there is no answer.
    """
    model, outcome = checkpoint.model, outcome_of(checkpoint, trace)
    if outcome.kind == "stream":
        raise ValueError(f"{checkpoint.label} gives no answer for this text")
    if model.word_head is not None or (outcome.kind == "label" and not isinstance(model.pooling, MeanPooling)):
        raise ValueError(f"{checkpoint.label} answers by a layer with an activation, which no sum passes through")
    stack = model.decoder if model.decoder is not None else model.encoder
    assert stack is not None
    mix, rows, constant = reading_of(model, outcome, len(trace.output_stack.ids))
    stream = frozen_stream(stack, trace.output_stack, model.config.norm_order)
    parts, vectors = by_part(stream.parts, stream.mixed(mix))
    logits = dict(zip(parts, (vectors * rows).sum(dim=-1).mean(dim=-1).tolist(), strict=True))
    return logits | ({Part("head bias"): constant} if constant else {})


def reading_of(model: Transformer, outcome: Outcome, length: int) -> tuple[Mix, Float[Tensor, "row width"], float]:
    """Which mixtures of a final state's positions are read, the vector that reads each, and what the bias adds.

    The mean over the rows is the answers' mean logit.
    """
    answers = list(outcome.answers)
    if outcome.kind == "label":
        assert model.classifier is not None
        row = model.classifier.weight[answers].double().cpu()
        mean = torch.full((1, length), 1 / length, dtype=torch.float64)
        return mean, row, float(model.classifier.bias[answers].mean())
    table = model.projection or model.target_embedding or model.embedding
    rows = table.weight[answers].double().cpu() * model.config.output_scale
    bias = 0.0 if model.vocabulary_bias is None else float(model.vocabulary_bias[answers].mean())
    return torch.eye(length, dtype=torch.float64)[list(outcome.rows)], rows, bias
