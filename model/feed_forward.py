"""The position-wise feed-forward layer."""

from collections.abc import Callable
from functools import partial

from jaxtyping import Float
from torch import Tensor, nn

from model.config import Config
from model.linear import Linear
from model.trace import FeedForwardTrace

ACTIVATIONS: dict[str, Callable[[], nn.Module]] = {
    "relu": nn.ReLU,
    "gelu": nn.GELU,
    "gelu-tanh": partial(nn.GELU, approximate="tanh"),
    "silu": nn.SiLU,
}


class FeedForward(nn.Module):
    """activation(x W₁ + b₁) W₂ + b₂ at every position: "Attention Is All You Need", section 3.3."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.inner = Linear(config.width, config.hidden, bias=config.hidden_bias)
        self.activation = ACTIVATIONS[config.activation]()
        self.outer = Linear(config.hidden, config.width, bias=config.hidden_bias)

    def forward(self, x: Float[Tensor, "*batch position width"]) -> FeedForwardTrace:
        """Both layers, each position on its own."""
        hidden = self.activation(self.inner(x))
        return FeedForwardTrace(input=x, hidden=hidden, output=self.outer(hidden))


class GatedFeedForward(FeedForward):
    """(activation(x W₁) ⊙ x V) W₂: Shazeer 2020, "GLU Variants Improve Transformer", equation 6."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.gated = Linear(config.width, config.hidden, bias=config.hidden_bias)

    def forward(self, x: Float[Tensor, "*batch position width"]) -> FeedForwardTrace:
        """The hidden values are those after the gate: what the outer layer reads."""
        hidden = self.activation(self.inner(x)) * self.gated(x)
        return FeedForwardTrace(input=x, hidden=hidden, output=self.outer(hidden))


def feed_forward(config: Config) -> FeedForward:
    """The feed-forward layer that the config names."""
    return (GatedFeedForward if config.gated else FeedForward)(config)
