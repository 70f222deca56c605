"""Attention and whole layers against torch's own."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.attention import MultiHeadAttention
from model.block import Block
from model.config import Config
from model.measures.evidence.agreement import Comparison, Skipped
from model.measures.evidence.checked_pass import ON_WEIGHTS, Pass
from model.trace import AttentionTrace, BlockTrace

CAPPED = "The scores of this model are capped before the softmax; torch's kernel has no place for that."
CHANGED = "What is switched off or changed here acts inside attention, where torch's kernel has no place for it."
EDITED = "Parts of the formula are switched off or changed here; torch's layer has all of them."


def fused_attention(one: Pass) -> Iterator[Comparison | Skipped]:
    """Every head's context against the kernel, given the same queries, keys and values."""
    if one.checkpoint.config.score_cap is not None:
        yield Skipped(check="fused", reason=CAPPED)
    elif one.edited(*ON_WEIGHTS, "averaged", "muted", "muted_layers"):
        yield Skipped(check="fused", reason=CHANGED)
    else:
        for place, trace in one.attentions():
            seeing = trace.mask.any(dim=-1)  # a query that sees nothing is NaN in the kernel
            ours, expected = trace.context[:, seeing], kernel(trace)[:, seeing]
            axes = ("head", "query", "coordinate")
            yield Comparison(check="fused", ours=ours, expected=expected, place=place, axes=axes)


def kernel(trace: AttentionTrace) -> Tensor:
    """Torch's scaled dot-product attention: (head, query, head_width)."""
    group = trace.query.shape[0] // trace.key.shape[0]
    key, value = (shared.repeat_interleave(group, dim=0)[None] for shared in (trace.key, trace.value))
    mask = trace.mask if trace.bias is None else trace.bias.masked_fill(~trace.mask, -torch.inf)
    return F.scaled_dot_product_attention(trace.query[None], key, value, mask, scale=float(trace.scale))[0]


def layers(one: Pass) -> Iterator[Comparison | Skipped]:
    """Every layer's stream against torch's own layer with the same weights, given the same stream."""
    reason = EDITED if one.edited(*vars(one.edits)) else why_not(one.checkpoint.config)
    if reason is not None:
        yield Skipped(check="layers", reason=reason)
        return
    memory = None if one.trace.encoder is None else one.trace.encoder.final
    for name, stack in one.stacks.items():
        sizes = one.checkpoint.config.of_decoder() if name == "decoder" else one.checkpoint.config
        modules: Any = getattr(one.checkpoint.model, name).blocks
        for layer, block in enumerate(stack.blocks):
            with torch.no_grad():
                expected = through(torch_layer(modules[layer], sizes), block, memory)
            place: dict[str, str | int] = {"stack": name, "layer": layer}
            axes = ("position", "coordinate")
            yield Comparison(check="layers", ours=block.stream_out, expected=expected, place=place, axes=axes)


def why_not(config: Config) -> str | None:
    """The part of this architecture that torch's layer has not; None where it has all of them."""
    sizes = [config, config.of_decoder()] if config.is_encoder_decoder else [config]
    missing = {
        "RMS norms": config.norm != "layer",
        "norms before and after a sublayer": config.norm_order == "both",
        "sublayers side by side": config.norm_order == "parallel",
        f"the activation {config.activation}": config.activation not in ("relu", "gelu"),
        "a gate in the feed-forward layer": config.gated,
        f"{config.positions} positions inside attention": config.positions in ("rotary", "relative", "alibi"),
        "keys that heads share": config.kv_heads not in (None, config.heads),
        "heads of a width of their own": any(one.head_width * one.heads != one.width for one in sizes),
        "another scale than 1/√d_k": config.score_scale is not None or config.score_scale_by_layer,
        "capped scores": config.score_cap is not None,
        "normed queries and keys": config.query_key_norm,
    }
    parts = [part for part, there in missing.items() if there]
    return f"This model has what torch's layer has not: {', '.join(parts)}." if parts else None


def through(layer: Any, block: BlockTrace, memory: Tensor | None) -> Tensor:
    """What a layer of torch makes of the stream: (position, width). Its masks are True where ours are False."""
    hidden = ~block.self_attention.mask
    if block.cross_attention is None:
        return layer(block.stream_in[None], src_mask=hidden)[0]
    assert memory is not None
    return layer(block.stream_in[None], memory[None], tgt_mask=hidden, memory_mask=~block.cross_attention.mask)[0]


def torch_layer(ours: Block, config: Config) -> nn.Module:
    """Torch's own layer with the weights of our block, in float32 on the CPU; a bias that ours has not is 0."""
    cross = ours.cross_attention is not None
    layer_class = nn.TransformerDecoderLayer if cross else nn.TransformerEncoderLayer
    theirs: Any = layer_class(
        config.width,
        config.heads,
        config.hidden,
        dropout=0.0,
        activation=config.activation,
        layer_norm_eps=config.norm_epsilon,
        batch_first=True,
        norm_first=config.norm_order == "pre",
    ).eval()
    copy_attention(theirs.self_attn, ours.self_attention)
    norms: list[Any] = [ours.self_residual.norm, ours.feed_forward_residual.norm]
    if ours.cross_attention is not None and ours.cross_residual is not None:
        copy_attention(theirs.multihead_attn, ours.cross_attention)
        norms.insert(1, ours.cross_residual.norm)
    pairs = {theirs.linear1: ours.feed_forward.inner, theirs.linear2: ours.feed_forward.outer}
    pairs |= {getattr(theirs, f"norm{number}"): norm for number, norm in enumerate(norms, start=1)}
    for into, given in pairs.items():
        copy(into.weight, given.weight)
        copy(into.bias, given.bias)
    return theirs


def copy_attention(theirs: nn.MultiheadAttention, ours: MultiHeadAttention) -> None:
    """Queries, keys and values have one matrix in torch."""
    for place, given in enumerate((ours.query, ours.key, ours.value)):
        rows = slice(place * theirs.embed_dim, (place + 1) * theirs.embed_dim)
        copy(theirs.in_proj_weight[rows], given.weight)
        copy(theirs.in_proj_bias[rows], given.bias)
    copy(theirs.out_proj.weight, ours.output.weight)
    copy(theirs.out_proj.bias, ours.output.bias)


def copy(into: Tensor, given: Tensor | None) -> None:
    """The numbers of a parameter; 0 where there is none."""
    with torch.no_grad():
        into.copy_(torch.zeros_like(into) if given is None else given)
