"""What turns an encoder's last state into an answer: pooling before a classifier, or a guess at masked words."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from model.config import Config
from model.feed_forward import ACTIVATIONS
from model.linear import Linear
from model.norms import make_norm


class MeanPooling(nn.Module):
    """The mean over the real tokens; no parameters."""

    def __init__(self, config: Config) -> None:
        super().__init__()

    def forward(
        self, x: Float[Tensor, "*batch position width"], padding_mask: Bool[Tensor, "*batch position"] | None
    ) -> Float[Tensor, "*batch width"]:
        """What the classifier reads."""
        return masked_mean(x, padding_mask)


class FirstPooling(nn.Module):
    """A dense layer on the first token, which stands for the whole text: Devlin et al. 2018 (BERT), section 3."""

    activation: type[nn.Module] = nn.Tanh

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.dense = Linear(config.width, config.width)

    def forward(
        self, x: Float[Tensor, "*batch position width"], padding_mask: Bool[Tensor, "*batch position"] | None
    ) -> Float[Tensor, "*batch width"]:
        """What the classifier reads."""
        return self.activation()(self.dense(x[..., 0, :]))


class RectifiedFirstPooling(FirstPooling):
    """The same with a rectifier: DistilBERT."""

    activation = nn.ReLU


POOLINGS: dict[str, type[MeanPooling] | type[FirstPooling]] = {
    "mean": MeanPooling,
    "first-tanh": FirstPooling,
    "first-relu": RectifiedFirstPooling,
}


class MaskedLMHead(nn.Module):
    """norm(activation(x W + b)), which is then projected to the vocabulary: BERT's head for masked words."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.dense = Linear(config.width, config.width)
        self.activation = ACTIVATIONS[config.activation]()
        self.norm = make_norm(config)

    def forward(self, x: Float[Tensor, "*batch position width"]) -> Float[Tensor, "*batch position width"]:
        return self.norm(self.activation(self.dense(x)))


def masked_mean(
    x: Float[Tensor, "*batch position width"], padding_mask: Bool[Tensor, "*batch position"] | None
) -> Float[Tensor, "*batch width"]:
    """The mean over positions, padding left out; 0 where there is no real token at all."""
    if padding_mask is None:
        return x.mean(dim=-2)
    kept = padding_mask[..., None].to(x)
    return (x * kept).sum(dim=-2) / kept.sum(dim=-2).clamp(min=1)
