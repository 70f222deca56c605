"""Tiny seeded models, a tiny tokenizer, and torch's own layers with our weights copied into them.

Models are typed Any: what an architecture lacks is None, and a test knows which architecture it made.
"""

from functools import cache
from typing import Any

import torch
from torch import nn

from model import Checkpoint, Config
from model.attention import MultiHeadAttention
from model.block import Block
from model.linear import HALF
from model.tokenizer import Tokenizer
from model.transformer import Transformer

ARCHITECTURES = ("encoder", "decoder", "encoder-decoder")
TEXT = "The dog bit the man."
WORDS = ["the dog bit the man .", "a cat saw the old dog !", "it was not good , not bad at all ."]


@cache
def tokenizer() -> Tokenizer:
    """Word pieces of a few words; letters that it never saw are unknown."""
    return Tokenizer.train_word_pieces(iter(WORDS * 3), size=80)


def config(architecture: str = "encoder", **changes: Any) -> Config:
    """Two layers of four heads, sixteen wide, no dropout."""
    special: dict[str, Any] = {"start_id": 2, "end_id": 3} if architecture == "encoder-decoder" else {}
    sizes: dict[str, Any] = {"vocabulary": 80, "width": 16, "heads": 4, "layers": 2, "hidden": 24, "max_length": 32}
    fields: dict[str, Any] = {"architecture": architecture, "dropout": 0.0} | sizes | special | changes
    return Config(**fields)


def randomised(module: nn.Module, seed: int = 0) -> Any:
    """The module with noise on every parameter, so that no bias is 0 and no norm does nothing."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.2)
    return module


def transformer(architecture: str = "encoder", seed: int = 0, **changes: Any) -> Any:
    """A seeded model in evaluation mode."""
    torch.manual_seed(seed)
    return randomised(Transformer(config(architecture, **changes)), seed).eval()


def checkpoint(architecture: str = "encoder", seed: int = 0, **changes: Any) -> Any:
    """A seeded model with the tiny tokenizer, on the CPU."""
    return Checkpoint("tiny", transformer(architecture, seed, **changes), tokenizer(), {}, torch.device("cpu"))


def stored_in(module: nn.Module, dtype: torch.dtype) -> Any:
    """The module in this precision; of halves only the matrices, as a large checkpoint is kept."""
    for parameter in module.parameters():
        if parameter.ndim > 1 or dtype not in HALF:
            parameter.data = parameter.data.to(dtype)
    return module


def ids(*shape: int, seed: int = 0) -> torch.Tensor:
    """Random ids of the tiny vocabulary."""
    return torch.randint(0, 80, shape, generator=torch.Generator().manual_seed(seed))


def normal(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Unit-normal numbers."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def padding_mask(*lengths: int) -> torch.Tensor:
    """Which positions are no padding, for sentences of these lengths in one batch: (batch, position)."""
    return torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]


def copy_attention(theirs: nn.MultiheadAttention, ours: MultiHeadAttention) -> None:
    """Give torch's attention our weights."""
    projections = [ours.query, ours.key, ours.value]
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([projection.weight for projection in projections]))
        theirs.in_proj_bias.copy_(torch.cat([projection.bias for projection in projections]))
    theirs.out_proj.load_state_dict(ours.output.state_dict())


def torch_layer(ours: Block, config: Config) -> Any:
    """Torch's own layer with the weights of our block."""
    pre = config.norm_order == "pre"
    options: dict[str, Any] = {"activation": config.activation, "norm_first": pre, "dropout": 0.0, "batch_first": True}
    kind = nn.TransformerEncoderLayer if ours.cross_attention is None else nn.TransformerDecoderLayer
    layer: Any = kind(config.width, config.heads, config.hidden, layer_norm_eps=config.norm_epsilon, **options)
    copy_attention(layer.self_attn, ours.self_attention)
    norms: list[nn.Module] = [ours.self_residual.norm, ours.feed_forward_residual.norm]
    if ours.cross_attention is not None and ours.cross_residual is not None:
        copy_attention(layer.multihead_attn, ours.cross_attention)
        norms.insert(1, ours.cross_residual.norm)
    for number, norm in enumerate(norms, start=1):
        getattr(layer, f"norm{number}").load_state_dict(norm.state_dict())
    layer.linear1.load_state_dict(ours.feed_forward.inner.state_dict())
    layer.linear2.load_state_dict(ours.feed_forward.outer.state_dict())
    return layer
