"""The Transformer: token table, stacks of blocks, and the head that says something."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from model.attention import MaskAndBias, causal_mask, full_mask, identity, restrict, window_mask
from model.block import Block, make_block
from model.cache import Cache
from model.config import Config
from model.edits import NO_EDITS, AnyEdits, Edits
from model.edits.interventions import StackInterventions, mask_after, normed, without
from model.edits.lowering import StackPass, lower
from model.linear import Embedding, Linear, product, widened
from model.norms import make_norm
from model.output_heads import POOLINGS, MaskedLMHead
from model.positions import POSITIONS
from model.trace import BlockTrace, EmbeddingTrace, StackTrace, Trace


@dataclass(frozen=True, kw_only=True)
class BesideStream:
    """What the blocks of a stack read beside the stream. ``narrow`` is of the layers that have a window."""

    wide: MaskAndBias
    narrow: MaskAndBias
    memory: Float[Tensor, "*batch memory width"] | None = None
    memory_mask: MaskAndBias | None = None
    interventions: StackInterventions
    past: Cache | None = None


class Stack(nn.Module):
    """An encoder or a decoder: positions added to token vectors, then blocks, then, unless post-norm, a last norm."""

    def __init__(self, config: Config, name: str, *, cross: bool = False) -> None:
        super().__init__()
        self.name, self.window = name, config.window
        self.windowed = frozenset(config.windowed_layers)
        self.positions = POSITIONS[config.positions](config, causal=name == "decoder")
        self.segments = Embedding(config.segments, config.width) if config.segments else None
        self.norm_embedding = make_norm(config) if config.embedding_norm else nn.Identity()
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(make_block(config, layer, cross=cross) for layer in range(config.layers))
        self.norm = nn.Identity() if config.norm_order == "post" else make_norm(config)

    def forward(
        self,
        ids: Int[Tensor, "*batch position"],
        tokens: Float[Tensor, "*batch position width"],
        mask: Bool[Tensor, "query key"],
        memory: Float[Tensor, "*batch memory width"] | None = None,
        *,
        padding_mask: Bool[Tensor, "*batch key"] | None = None,
        memory_padding_mask: Bool[Tensor, "*batch memory"] | None = None,
        segments: Int[Tensor, "*batch position"] | None = None,
        edits: AnyEdits = NO_EDITS,
        past: Cache | None = None,
    ) -> StackTrace:
        """``tokens`` are the vectors of ``ids``; ``mask`` says which keys a query may see, padding aside.

        ``memory`` is the encoder's output, in a decoder that has one. ``past`` holds the tokens before these and the
        memory, which is then not given again; ``padding_mask`` is of the tokens in it, too.
        """
        memory_length = past.memory_length if past is not None else None if memory is None else memory.shape[-2]
        interventions = self.interventions(edits, tokens, mask.shape[-1], memory_length, padding_mask)
        embedding = self.embed(ids, tokens, segments, interventions)
        wide, narrow = self.masks_and_biases(tokens, mask, padding_mask, interventions)
        memory_mask = self.memory_mask(tokens, memory_length, memory_padding_mask, interventions)
        beside = BesideStream(
            wide=wide, narrow=narrow, memory=memory, memory_mask=memory_mask, interventions=interventions, past=past
        )
        blocks = tuple(self.through(self.dropout(embedding.total), beside))
        final = normed(self.norm, blocks[-1].stream_out, interventions.final_norm)
        return StackTrace(ids=ids, embedding=embedding, blocks=blocks, final=final)

    def through(
        self, x: Float[Tensor, "*batch position width"], beside: BesideStream, first: int = 0
    ) -> Iterator[BlockTrace]:
        """The stream through the blocks, from one of them on."""
        for layer in range(first, len(self.blocks)):
            seen = beside.narrow if layer in self.windowed else beside.wide
            past = None if beside.past is None else beside.past.blocks[layer]
            changed = beside.interventions.layers[layer]
            block = self.blocks[layer](x, seen, beside.memory, beside.memory_mask, changed, past)
            yield block
            x = block.stream_out

    def interventions(
        self,
        edits: AnyEdits,
        tokens: Float[Tensor, "*batch position width"],
        length: int,
        memory_length: int | None = None,
        padding_mask: Bool[Tensor, "*batch key"] | None = None,
    ) -> StackInterventions:
        """What the edits become in this stack when it reads ``tokens``, the last of ``length`` positions."""
        attentions = [cast(Block, block).self_attention for block in self.blocks]
        read = StackPass(
            stack=self.name,
            heads=attentions[0].heads,
            scales=tuple(attention.scale for attention in attentions),
            length=length,
            past_length=length - tokens.shape[-2],
            memory_length=memory_length or 0,
            padding_mask=padding_mask,
            like=tokens,
        )
        return lower(edits, read)

    def embed(
        self,
        ids: Int[Tensor, "*batch position"],
        tokens: Float[Tensor, "*batch position width"],
        segments: Int[Tensor, "*batch position"] | None,
        interventions: StackInterventions,
    ) -> EmbeddingTrace:
        """Token vectors, what the position scheme and the segments add to them, and the sum, normed where it is."""
        position, segment, total = self.positions(ids, tokens, interventions.position_ids), None, tokens
        if self.segments is not None:
            segment = widened(self.segments(torch.zeros_like(ids) if segments is None else segments))
            total = total + segment
        if position is not None:
            position = without(position.expand_as(tokens), interventions.unpositioned)
            total = total + position
        total = normed(self.norm_embedding, total, interventions.embedding_norm)
        return EmbeddingTrace(token=tokens, position=position, segment=segment, total=total)

    def masks_and_biases(
        self,
        tokens: Float[Tensor, "*batch position width"],
        mask: Bool[Tensor, "query key"],
        padding_mask: Bool[Tensor, "*batch key"] | None,
        interventions: StackInterventions,
    ) -> tuple[MaskAndBias, MaskAndBias]:
        """What self-attention sees in layers without a window, and in those with one."""
        queries, keys = mask.shape
        ids, unpositioned = interventions.position_ids, interventions.unpositioned
        bias = self.positions.bias(tokens, ids, interventions.past_position_ids)
        if bias is not None and unpositioned is not None:
            bias = without(bias, unpositioned[..., None])
        wide = MaskAndBias(
            mask=restrict(mask_after(mask, interventions.self_mask), padding_mask),
            bias=bias,
            rotate=self.positions.rotate(tokens, ids, windowed=False) or identity,
        )
        if not self.windowed:
            return wide, wide
        if self.window is not None:
            mask = mask & window_mask(queries, self.window, tokens.device, before=keys - queries)
        narrow = restrict(mask_after(mask, interventions.self_mask), padding_mask)
        rotate = self.positions.rotate(tokens, ids, windowed=True) or identity
        return wide, replace(wide, mask=narrow, rotate=rotate)

    def memory_mask(
        self,
        tokens: Float[Tensor, "*batch position width"],
        memory_length: int | None,
        memory_padding_mask: Bool[Tensor, "*batch memory"] | None,
        interventions: StackInterventions,
    ) -> MaskAndBias | None:
        """What cross-attention sees: the whole memory but for its padding."""
        if memory_length is None:
            return None
        mask = mask_after(full_mask(tokens.shape[-2], memory_length, tokens.device), interventions.cross_mask)
        return MaskAndBias(mask=restrict(mask, memory_padding_mask))


class Transformer(nn.Module):
    """Encoder-only, decoder-only or encoder-decoder, from the same parts.

    Every method takes ids with any number of leading batch axes, or none. ``padding_mask`` is True at real tokens and
    False at padding; leave it out where there is no padding. ``edits`` are for all sentences, or a sequence of one for
    each row of ids that have a single batch axis.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        both = config.is_encoder_decoder
        self.embedding = Embedding(config.vocabulary, config.width)
        self.target_embedding = (
            None
            if config.share_embeddings or not both
            else nn.Embedding.from_pretrained(torch.empty(config.vocabulary, config.width), freeze=False)
        )
        self.encoder = Stack(config, "encoder") if config.has_encoder else None
        self.decoder = Stack(config.of_decoder(), "decoder", cross=both) if config.has_decoder else None
        predicts = self.decoder is not None or config.word_head
        self.word_head = MaskedLMHead(config) if config.word_head else None
        self.projection = (
            Linear(config.width, config.vocabulary, bias=False) if predicts and not config.tie_embeddings else None
        )
        self.vocabulary_bias = nn.Parameter(torch.zeros(config.vocabulary)) if config.vocabulary_bias else None
        self.pooling = POOLINGS[config.pooling](config) if config.labels or config.pooling.startswith("first") else None
        self.classifier = Linear(config.width, len(config.labels)) if config.labels else None
        if not self.embedding.weight.is_meta:
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
        padding_mask: Bool[Tensor, "*batch position"] | None = None,
        segments: Int[Tensor, "*batch position"] | None = None,
        target_ids: Int[Tensor, "*batch target"] | None = None,
        target_padding_mask: Bool[Tensor, "*batch target"] | None = None,
        edits: AnyEdits = NO_EDITS,
        logits: bool = True,
    ) -> Trace:
        """One pass, recorded. ``target_ids`` (encoder-decoder only) is the decoder's input.

        ``logits=False`` leaves out the projection to the vocabulary, the costliest single step of a small model.
        """
        if self.encoder is None:
            decoder = self.decode(ids, padding_mask, edits=edits)
            return Trace(
                encoder=None, decoder=decoder, pooled=None, logits=self.predict(decoder.final) if logits else None
            )
        encoder = self.encode(ids, padding_mask, segments=segments, edits=edits)
        if self.decoder is None:
            pooled = None if self.pooling is None else self.pooling(encoder.final, padding_mask)
            return Trace(
                encoder=encoder, decoder=None, pooled=pooled, logits=self.answer(encoder, pooled) if logits else None
            )
        if target_ids is None:
            raise ValueError("target_ids: found None, expected the decoder's input ids")
        decoder = self.decode(target_ids, target_padding_mask, encoder.final, padding_mask, edits=edits)
        return Trace(
            encoder=encoder, decoder=decoder, pooled=None, logits=self.predict(decoder.final) if logits else None
        )

    def answer(
        self, encoder: StackTrace, pooled: Float[Tensor, "*batch width"] | None
    ) -> Float[Tensor, "*batch label"] | Float[Tensor, "*batch position vocabulary"] | None:
        """What an encoder's head says: labels, words in place of masked ones, or nothing."""
        if self.classifier is not None:
            return self.classifier(pooled)
        return self.predict(self.word_head(encoder.final)) if self.word_head is not None else None

    def encode(
        self,
        ids: Int[Tensor, "*batch position"],
        padding_mask: Bool[Tensor, "*batch position"] | None = None,
        *,
        segments: Int[Tensor, "*batch position"] | None = None,
        edits: AnyEdits = NO_EDITS,
    ) -> StackTrace:
        """The encoder's pass: every position sees every real one."""
        assert self.encoder is not None
        check_rows(edits, ids)
        mask = full_mask(ids.shape[-1], ids.shape[-1], ids.device)
        return self.encoder(
            ids, self.vectors(ids, self.embedding), mask, padding_mask=padding_mask, segments=segments, edits=edits
        )

    def decode(
        self,
        ids: Int[Tensor, "*batch position"],
        padding_mask: Bool[Tensor, "*batch key"] | None = None,
        memory: Float[Tensor, "*batch memory width"] | None = None,
        memory_padding_mask: Bool[Tensor, "*batch memory"] | None = None,
        *,
        edits: AnyEdits = NO_EDITS,
        past: Cache | None = None,
    ) -> StackTrace:
        """The decoder's pass: a position sees itself, those before it, and the memory where there is one.

        ``past``, what an earlier pass left (``Cache.of``), holds the positions before those of ``ids`` and the memory,
        which is then None; ``padding_mask`` is of its positions, too. The trace's keys and values are all that were
        seen. Edits that ``incremental`` (model/edits/checks.py) refuses do otherwise with it than in one whole pass.
        """
        assert self.decoder is not None
        check_rows(edits, ids)
        mask = causal_mask(ids.shape[-1], ids.device, before=0 if past is None else past.length)
        tokens = self.vectors(ids, self.target_embedding or self.embedding)
        paddings = {"padding_mask": padding_mask, "memory_padding_mask": memory_padding_mask}
        return self.decoder(ids, tokens, mask, memory, **paddings, edits=edits, past=past)

    def vectors(
        self, ids: Int[Tensor, "*batch position"], table: nn.Embedding
    ) -> Float[Tensor, "*batch position width"]:
        """Token vectors, × √width where the architecture scales them (section 3.4 of the paper)."""
        return widened(table(ids)) * (math.sqrt(self.config.width) if self.config.scale_embeddings else 1.0)

    def predict(self, final: Float[Tensor, "*batch position width"]) -> Float[Tensor, "*batch position vocabulary"]:
        """The projection of a final state to the vocabulary: the token table itself where it is tied."""
        table = self.projection or self.target_embedding or self.embedding
        state = final * self.config.output_scale
        logits = product(state, table.weight.to(state.dtype), self.vocabulary_bias)
        cap = self.config.logit_cap
        return logits if cap is None else cap * (logits / cap).tanh()


def check_rows(edits: AnyEdits, ids: Int[Tensor, "*batch position"]) -> None:
    """ValueError unless edits that are one for each sentence meet as many sentences, along the one batch axis."""
    if not isinstance(edits, Edits) and (ids.ndim, len(edits)) != (2, len(ids)):
        raise ValueError(f"edits: found {len(edits)}, expected one for each row of ids of shape {tuple(ids.shape)}")
