"""What each head, layer and embedding adds directly to the answer's logit: parts that sum to it.

The stream that the model's head reads is a sum of parts (``stream_parts``), and with the norms frozen the way from each
to the logit is linear: direct logit attribution, after Elhage et al. 2021, "A Mathematical Framework for Transformer
Circuits". Where the model answers through a layer with an activation, as BERT does, each unit of that layer is frozen
too, at the share of its input that it lets through (Achtibat et al. 2024, "AttnLRP", section 3.2, the identity rule). A
part's way through later heads and layers is theirs: see ``ablation``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from model.checkpoint import Checkpoint
from model.linear import Linear
from model.measures.causes.stream_parts import Mix, Part, bias_of, by_part, divisor, frozen_stream, undivided_back
from model.measures.outcome import Outcome, outcome_of, rows_of
from model.output_heads import FirstPooling, MaskedLMHead
from model.trace import Trace
from model.transformer import Transformer

Rows = Float[Tensor, "row width"]
EMBEDDING, LAYER, BIASES = (
    ("token", "position", "segment"),
    ("self", "cross", "feed-forward"),
    ("self bias", "cross bias"),
)


@torch.no_grad()
def logit_parts(checkpoint: Checkpoint, trace: Trace, against: int | None = None) -> dict[Part, float]:
    """What every part adds to the answer's logit, of several answers to their mean; they sum to it, before a cap.

    trace: of this checkpoint, without edits. against: another answer, whose logit is taken off; the parts sum to the
    answer's lead over it. ValueError where there is no answer, or where several stand against one.
    """
    model, outcome = checkpoint.model, outcome_of(checkpoint, trace)
    if outcome.kind == "stream":
        raise ValueError(f"{checkpoint.label} gives no answer for this text")
    if against is not None and len(outcome.answers) != 1:
        raise ValueError(f"against: found {against}, but there are {len(outcome.answers)} answers")
    stack = model.decoder if model.decoder is not None else model.encoder
    assert stack is not None
    mix, rows, constant = reading_of(model, outcome, trace.output_stack.final, against)
    stream = frozen_stream(stack, trace.output_stack, model.config.norm_order)
    parts, vectors = by_part(stream.parts, stream.mixed(mix))
    logits = dict(zip(parts, (vectors * rows).sum(dim=-1).mean(dim=-1).tolist(), strict=True))
    return logits | ({Part("head bias"): constant} if constant else {})


@dataclass(frozen=True)
class RunnerUp:
    """The second likeliest answer. margin: by how much its logit is below that of the answer."""

    answer: int
    probability: float
    margin: float


def runner_up_of(checkpoint: Checkpoint, trace: Trace) -> RunnerUp | None:
    """The second likeliest of the answers that the model could give; None where it gives none, or several."""
    outcome, logits = outcome_of(checkpoint, trace), rows_of(trace)
    if logits is None or len(outcome.answers) != 1 or logits.shape[-1] < 2:
        return None
    row = logits[outcome.rows[0]].double()
    (first, second), (_, answer) = row.topk(2)
    return RunnerUp(int(answer), float(row.softmax(dim=-1)[answer]), float(first - second))


def runner_up(checkpoint: Checkpoint, trace: Trace) -> int | None:
    """That answer alone."""
    found = runner_up_of(checkpoint, trace)
    return None if found is None else found.answer


def reading_of(
    model: Transformer, outcome: Outcome, final: Float[Tensor, "position width"], against: int | None = None
) -> tuple[Mix, Rows, float]:
    """Which mixtures of a final state's positions are read, the vector that reads each, and what the biases add.

    The mean over the rows is the answers' mean logit.
    """
    places = torch.eye(len(final), dtype=torch.float64)
    if outcome.kind == "label":
        assert model.classifier is not None
        rows, constant = answer_rows(model.classifier.weight, model.classifier.bias, outcome.answers, against)
        if not isinstance(model.pooling, FirstPooling):
            return torch.full((1, len(final)), 1 / len(final), dtype=torch.float64), rows, constant
        rows, added = through_layer(model.pooling.dense, model.pooling.activation(), rows, final[:1])
        return places[:1], rows, constant + added
    table = model.projection or model.target_embedding or model.embedding
    rows, constant = answer_rows(table.weight, model.vocabulary_bias, outcome.answers, against)
    rows, read = rows * model.config.output_scale, final[list(outcome.rows)]
    if model.word_head is not None:
        rows, added = through_word_head(model.word_head, rows, read)
        constant += added
    return places[list(outcome.rows)], rows, constant


def answer_rows(
    weight: Float[Tensor, "answer width"],
    bias: Float[Tensor, " answer"] | None,
    answers: Sequence[int],
    against: int | None,
) -> tuple[Rows, float]:
    """The rows of a projection that give these answers, without that of another, and the mean of their biases."""
    rows = weight[list(answers)].double().cpu()
    constant = 0.0 if bias is None else float(bias[list(answers)].double().mean())
    if against is not None:
        rows = rows - weight[against].double().cpu()
        constant -= 0.0 if bias is None else float(bias[against])
    return rows, constant


def through_word_head(head: MaskedLMHead, rows: Rows, read: Rows) -> tuple[Rows, float]:
    """The rows that read the stream before a head for masked words, and what its biases add."""
    norm, inner = head.norm, head.activation(projected(head.dense, read))
    bias = bias_of(norm)
    constant = 0.0 if bias is None else float((rows @ bias).mean())
    before_norm = undivided_back(norm, rows) / divisor(norm, inner)
    before, added = through_layer(head.dense, head.activation, before_norm, read)
    return before, constant + added


def through_layer(dense: Linear, activation: Callable[[Tensor], Tensor], rows: Rows, read: Rows) -> tuple[Rows, float]:
    """The rows that read the stream before activation(x W + b), every unit frozen at the share that it lets through."""
    before = projected(dense, read)
    share = torch.where(before == 0, 0.0, activation(before) / before)
    passed = rows * share
    constant = 0.0 if dense.bias is None else float((passed @ dense.bias.double().cpu()).mean())
    return passed @ dense.weight.double().cpu(), constant


def projected(dense: Linear, read: Rows) -> Rows:
    """What a dense layer makes of these states, in float64 on the CPU."""
    states = read.double() @ dense.weight.double().cpu().T
    return states if dense.bias is None else states + dense.bias.double().cpu()


@dataclass(frozen=True)
class LogitStep:
    """Some parts together, and what the sum of all before them is: one bar of a waterfall.

    kind: "embedding", "self", "cross", "feed-forward", "attention biases", "norm bias" or "head bias". layer, head:
    None where it has none. members: the parts with what each adds.
    """

    kind: str
    layer: int | None
    head: int | None
    start: float
    members: tuple[tuple[Part, float], ...]

    @property
    def value(self) -> float:
        """What it adds."""
        return sum(value for _, value in self.members)

    @property
    def end(self) -> float:
        """The sum with it."""
        return self.start + self.value


def logit_steps(parts: Mapping[Part, float], apart: tuple[str, int] | None = None) -> tuple[LogitStep, ...]:
    """The parts of a logit one after the other, as the stream meets them; the last ends at the logit.

    The heads of an attention are one step, but for that which is ``apart`` (kind, layer): there each is one. Biases
    come last, of all layers together.
    """
    groups: dict[tuple[str, int | None, int | None], list[Part]] = {}
    for part in sorted(parts, key=place_of):
        single = (part.kind, part.layer) == apart
        kind = "embedding" if part.kind in EMBEDDING else "attention biases" if part.kind in BIASES else part.kind
        layer = part.layer if part.kind in LAYER else None
        groups.setdefault((kind, layer, part.head if single else None), []).append(part)
    steps, total = [], 0.0
    for (kind, layer, head), members in groups.items():
        step = LogitStep(kind, layer, head, total, tuple((part, parts[part]) for part in members))
        steps.append(step)
        total = step.end
    return tuple(steps)


def place_of(part: Part) -> tuple[int, int, int, int]:
    """Where a part stands in the order of a waterfall."""
    kinds = (*EMBEDDING, *LAYER, *BIASES, "norm bias", "head bias")
    stage = 0 if part.kind in EMBEDDING else 1 if part.kind in LAYER else 2
    layer, head = part.layer or 0, part.head or 0
    return (stage, layer, kinds.index(part.kind), head) if stage == 1 else (stage, kinds.index(part.kind), layer, head)
