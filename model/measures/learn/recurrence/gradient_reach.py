"""How much of the last state's gradient reaches each token: from token to token in an LSTM, at once by attention."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model.config import Config
from model.transformer import Transformer

PROBES = 8
FORGET_GATE = 1  # of the four gates in nn.LSTM's biases: input, forget, cell, output


@dataclass(frozen=True, kw_only=True)
class GradientReach:
    """Of the last state, the gradient's norm at each token's vector; both models with fresh weights."""

    lstm: tuple[float, ...]
    transformer: tuple[float, ...]

    @property
    def first_to_last(self) -> float:
        """How large the LSTM's gradient at the first token is, beside that at the last."""
        return self.lstm[0] / self.lstm[-1]

    @property
    def transformer_first_to_last(self) -> float:
        return self.transformer[0] / self.transformer[-1]


def gradient_reach(
    config: Config, vectors: Float[Tensor, "position width"], *, forget_bias: float = 0.0, seed: int = 0
) -> GradientReach:
    """Both models over the vectors of a text's tokens: ``nn.LSTM`` of one layer, as wide, and the stack of ``config``.

    forget_bias: what is added to the bias of the LSTM's forget gate (Jozefowicz et al. 2015, section 2.2).
    """
    lstm, transformer = fresh_lstm(config.width, forget_bias, seed), fresh_transformer(config, vectors, seed)
    return GradientReach(
        lstm=tuple(lstm_norms(lstm, vectors)), transformer=tuple(transformer_norms(transformer, len(vectors)))
    )


def fresh_lstm(width: int, forget_bias: float, seed: int) -> nn.LSTM:
    """As ``nn.LSTM`` begins, but for the bias of its forget gate. Other random numbers stay as they were."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        lstm = nn.LSTM(width, width)
    bias = lstm.get_parameter("bias_ih_l0")
    with torch.no_grad():
        bias[FORGET_GATE * width : (FORGET_GATE + 1) * width] += forget_bias
    return lstm


def fresh_transformer(config: Config, vectors: Float[Tensor, "position width"], seed: int) -> Transformer:
    """A model of this config that has not learned anything; row n of its token table is the n-th vector."""
    rows = max(len(vectors), *(1 + (number or 0) for number in (config.pad_id, config.start_id, config.end_id)))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Transformer(replace(config, vocabulary=rows, dropout=0.0, attention_dropout=0.0)).eval()
    with torch.no_grad():
        model.embedding.weight[: len(vectors)] = vectors / vector_scale(config)
    return model


def vector_scale(config: Config) -> float:
    """What a row of the token table is multiplied by."""
    return math.sqrt(config.width) if config.scale_embeddings else 1.0


def lstm_norms(lstm: nn.LSTM, vectors: Float[Tensor, "position width"]) -> list[float]:
    """In float64, for float32 has no numbers as small as those of a long text."""
    read = vectors.detach().double().requires_grad_()
    states, _ = lstm.double()(read)
    return norms(states[-1], read)


def transformer_norms(model: Transformer, length: int) -> list[float]:
    """Of the first ``length`` rows of the token table, read in their order."""
    trace = model(torch.arange(length))
    gradients = norms(trace.text_stack.final[-1], model.embedding.weight)[:length]
    return [norm / vector_scale(model.config) for norm in gradients]


def norms(last: Float[Tensor, " width"], read: Float[Tensor, "row width"]) -> list[float]:
    """For each row that was read, how much the last state changes with it.

    The Frobenius norm of the state's Jacobian, over √width, as estimated by gradients of random projections.
    """
    squares = read.new_zeros(len(read))
    for probe in probes(len(last)):
        (gradient,) = torch.autograd.grad(last, read, probe.to(last.dtype), retain_graph=True)
        squares += gradient.square().sum(dim=-1)
    return (squares / (PROBES * len(last))).sqrt().tolist()


def probes(width: int) -> Sequence[Float[Tensor, " width"]]:
    """Directions in which the last state is read, the same at every call."""
    return list(torch.randn(PROBES, width, generator=torch.Generator().manual_seed(0)))
