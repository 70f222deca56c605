"""The Transformer: token table, stacks of blocks, and the head that says something."""

import math

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from model.attention import Mask, MemoryMask, causal_mask, full_mask, padding_mask
from model.block import Block
from model.config import Config
from model.edits import Edits
from model.positions import POSITIONS
from model.trace import BlockTrace, EmbeddingTrace, StackTrace, Trace

NO_EDITS = Edits()


class Stack(nn.Module):
    """An encoder or a decoder: positions added to token vectors, then blocks, then, in pre-norm, a last norm."""

    def __init__(self, config: Config, name: str, *, cross: bool = False) -> None:
        super().__init__()
        self.name = name
        self.positions = POSITIONS[config.positions](config.max_length, config.width)
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(Block(config, cross=cross) for _ in range(config.layers))
        pre = config.norm_order == "pre"
        self.norm = nn.LayerNorm(config.width, eps=config.norm_epsilon) if pre else nn.Identity()

    def forward(
        self,
        ids: Int[Tensor, "*batch position"],
        tokens: Float[Tensor, "*batch position width"],
        mask: Mask,
        memory: Float[Tensor, "*batch memory width"] | None = None,
        memory_mask: MemoryMask | None = None,
        edits: Edits = NO_EDITS,
    ) -> StackTrace:
        """``tokens`` are the vectors of ``ids``; ``memory`` is the encoder's output, in a decoder that has one."""
        embedding = self.embed(tokens)
        x, blocks = self.dropout(embedding.total), list[BlockTrace]()
        for layer, block in enumerate(self.blocks):
            blocks.append(block(x, mask, memory, memory_mask, edits, self.name, layer))
            x = blocks[-1].stream_out
        return StackTrace(ids=ids, embedding=embedding, blocks=tuple(blocks), final=self.norm(x))

    def embed(self, tokens: Float[Tensor, "*batch position width"]) -> EmbeddingTrace:
        """Token vectors and what the position scheme adds to them."""
        position = self.positions(tokens)
        if position is None:
            return EmbeddingTrace(token=tokens, position=None, total=tokens)
        return EmbeddingTrace(token=tokens, position=position.expand_as(tokens), total=tokens + position)


class Transformer(nn.Module):
    """Encoder-only, decoder-only or encoder-decoder, from the same parts.

    Every method takes ids with any number of leading batch axes, or none. ``real`` is True at real tokens and
    False at padding; leave it out where there is no padding.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        both = config.architecture == "encoder-decoder"
        self.embedding = nn.Embedding(config.vocabulary, config.width)
        self.target_embedding = (
            None
            if config.tie_embeddings or not both
            else nn.Embedding.from_pretrained(torch.empty(config.vocabulary, config.width), freeze=False)
        )
        self.encoder = Stack(config, "encoder") if config.architecture != "decoder" else None
        self.decoder = Stack(config, "decoder", cross=both) if config.architecture != "encoder" else None
        untied = self.decoder is not None and not config.tie_embeddings
        self.projection = nn.Linear(config.width, config.vocabulary, bias=False) if untied else None
        self.classifier = nn.Linear(config.width, len(config.labels)) if config.labels else None
        self.apply(self._initialise)

    def _initialise(self, module: nn.Module) -> None:
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        if isinstance(module, nn.Embedding):  # unit variance once multiplied by √width
            nn.init.normal_(module.weight, std=self.config.width**-0.5 if self.config.scale_embeddings else 0.02)

    def parameter_count(self) -> int:
        """How many numbers are learned; a shared matrix counts once."""
        return sum(parameter.numel() for parameter in self.parameters())

    def forward(
        self,
        ids: Int[Tensor, "*batch position"],
        *,
        real: Bool[Tensor, "*batch position"] | None = None,
        target_ids: Int[Tensor, "*batch target"] | None = None,
        target_real: Bool[Tensor, "*batch target"] | None = None,
        edits: Edits = NO_EDITS,
        logits: bool = True,
    ) -> Trace:
        """One pass, recorded. ``target_ids`` (encoder-decoder only) is the decoder's input.

        ``logits=False`` leaves out the projection to the vocabulary, the costliest single step of a small model.
        """
        if self.encoder is None:
            decoder = self.decode(ids, real, edits=edits)
            return Trace(
                encoder=None, decoder=decoder, pooled=None, logits=self.predict(decoder.final) if logits else None
            )
        encoder = self.encode(ids, real, edits=edits)
        if self.decoder is None:
            return self._classified(encoder, real, logits)
        if target_ids is None:
            raise ValueError("target_ids: found None, expected the decoder's input ids")
        decoder = self.decode(target_ids, target_real, encoder.final, real, edits=edits)
        return Trace(
            encoder=encoder, decoder=decoder, pooled=None, logits=self.predict(decoder.final) if logits else None
        )

    def _classified(self, encoder: StackTrace, real: Tensor | None, logits: bool) -> Trace:
        if self.classifier is None:
            return Trace(encoder=encoder, decoder=None, pooled=None, logits=None)
        pooled = mean_over_real(encoder.final, real)
        return Trace(encoder=encoder, decoder=None, pooled=pooled, logits=self.classifier(pooled) if logits else None)

    def encode(
        self,
        ids: Int[Tensor, "*batch position"],
        real: Bool[Tensor, "*batch position"] | None = None,
        *,
        edits: Edits = NO_EDITS,
    ) -> StackTrace:
        """The encoder's pass: every position sees every real one."""
        assert self.encoder is not None
        mask = full_mask(ids.shape[-1], ids.shape[-1], ids.device)
        return self.encoder(ids, self.vectors(ids, self.embedding), restrict(mask, real), edits=edits)

    def decode(
        self,
        ids: Int[Tensor, "*batch position"],
        real: Bool[Tensor, "*batch position"] | None = None,
        memory: Float[Tensor, "*batch key width"] | None = None,
        memory_real: Bool[Tensor, "*batch key"] | None = None,
        *,
        edits: Edits = NO_EDITS,
    ) -> StackTrace:
        """The decoder's pass: a position sees itself, those before it, and the memory where there is one."""
        assert self.decoder is not None
        mask = restrict(causal_mask(ids.shape[-1], ids.device), real)
        tokens = self.vectors(ids, self.target_embedding or self.embedding)
        if memory is None:
            return self.decoder(ids, tokens, mask, edits=edits)
        memory_mask = restrict(full_mask(ids.shape[-1], memory.shape[-2], ids.device), memory_real)
        return self.decoder(ids, tokens, mask, memory, memory_mask, edits=edits)

    def vectors(
        self, ids: Int[Tensor, "*batch position"], table: nn.Embedding
    ) -> Float[Tensor, "*batch position width"]:
        """Token vectors, × √width where the architecture scales them (section 3.4 of the paper)."""
        return table(ids) * (math.sqrt(self.config.width) if self.config.scale_embeddings else 1.0)

    def predict(self, final: Float[Tensor, "*batch position width"]) -> Float[Tensor, "*batch position vocabulary"]:
        """The projection of a decoder's final state to the vocabulary: the token table itself where it is tied."""
        table = self.embedding if self.projection is None else self.projection
        return F.linear(final, table.weight)


def restrict(mask: Bool[Tensor, "query key"], real: Bool[Tensor, "*batch key"] | None) -> Mask:
    """The mask without the keys that are padding."""
    return mask if real is None else mask & padding_mask(real)


def mean_over_real(
    x: Float[Tensor, "*batch position width"], real: Bool[Tensor, "*batch position"] | None
) -> Float[Tensor, "*batch width"]:
    """The mean over positions, padding left out; 0 where there is no real token at all."""
    if real is None:
        return x.mean(dim=-2)
    kept = real[..., None].to(x)
    return (x * kept).sum(dim=-2) / kept.sum(dim=-2).clamp(min=1)
