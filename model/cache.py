"""Keys and values that a decoder computed before: passed into its next pass, and read off what that pass returns."""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from model.trace import AttentionTrace, StackTrace


@dataclass(frozen=True, kw_only=True)
class KeysValues:
    """What one attention can look at without computing it again."""

    key: Float[Tensor, "*batch kv_head key head_width"]  # rotated by its position, where positions rotate
    value: Float[Tensor, "*batch kv_head key head_width"]

    @classmethod
    def of(cls, attention: AttentionTrace) -> "KeysValues":
        """All that an attention looked at."""
        return cls(key=attention.key, value=attention.value)

    def rows(self, chosen: Int[Tensor, "row"]) -> "KeysValues":
        """Those of these rows of the batch, which may be the same one several times."""
        return KeysValues(key=self.key.index_select(0, chosen), value=self.value.index_select(0, chosen))

    def followed_by(self, new: "KeysValues") -> "KeysValues":
        """These and, at the positions after them, new ones."""
        key, value = torch.cat([self.key, new.key], dim=-2), torch.cat([self.value, new.value], dim=-2)
        return KeysValues(key=key, value=value)


@dataclass(frozen=True, kw_only=True)
class BlockCache:
    """One layer: the tokens read so far, and the memory, which stays the same."""

    self_attention: KeysValues
    cross_attention: KeysValues | None


@dataclass(frozen=True, kw_only=True)
class Cache:
    """A decoder's layers after it has read ``length`` tokens."""

    blocks: tuple[BlockCache, ...]

    @classmethod
    def of(cls, decoder: StackTrace) -> "Cache":
        """What a pass leaves to the next one; the pass may itself have gone on from a cache."""
        return cls(
            blocks=tuple(
                BlockCache(
                    self_attention=KeysValues.of(block.self_attention),
                    cross_attention=None if block.cross_attention is None else KeysValues.of(block.cross_attention),
                )
                for block in decoder.blocks
            )
        )

    @property
    def length(self) -> int:
        """How many tokens have been read."""
        return self.blocks[0].self_attention.key.shape[-2]

    @property
    def memory_length(self) -> int | None:
        """How many positions the memory has; None without a memory."""
        cross = self.blocks[0].cross_attention
        return None if cross is None else cross.key.shape[-2]

    def reordered(self, chosen: Int[Tensor, "row"]) -> "Cache":
        """The rows of the batch in another order, some of them several times, each still of the same sentence.

        So the memory's keys and values, which are the sentence's, stay where they are.
        """
        return Cache(
            blocks=tuple(replace(block, self_attention=block.self_attention.rows(chosen)) for block in self.blocks)
        )
