"""The position-wise feed-forward layer."""

from jaxtyping import Float
from torch import Tensor, nn

from model.trace import FeedForwardTrace

ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "gelu": nn.GELU}


class FeedForward(nn.Module):
    """activation(x W₁ + b₁) W₂ + b₂ at every position: "Attention Is All You Need", section 3.3."""

    def __init__(self, width: int, hidden: int, activation: str) -> None:
        super().__init__()
        self.inner = nn.Linear(width, hidden)
        self.activation = ACTIVATIONS[activation]()
        self.outer = nn.Linear(hidden, width)

    def forward(self, x: Float[Tensor, "*batch position width"]) -> FeedForwardTrace:
        """Both layers, each position on its own."""
        hidden = self.activation(self.inner(x))
        return FeedForwardTrace(input=x, hidden=hidden, output=self.outer(hidden))
