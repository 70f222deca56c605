"""Attention that another program computed: weights and tokens, out of a file or from memory, checked before use.

One attention is ``weights`` (layer, head, query, key) with ``tokens``, one for each query; ``keys`` names the keys
where they are other tokens, as in cross-attention. Several stand under the names that Headlight's own NPZ files have:
``encoder_weights`` with ``encoder_tokens``, ``decoder_weights`` with ``decoder_tokens``, and ``cross_weights``, from
the decoder's tokens to the encoder's. A ``mask`` (``encoder_mask`` …), (query, key), is True where a query may see a
key.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float

from model.errors import CheckpointError, InputError, printable
from model.loading.array_files import LARGEST_FILE, read_arrays, refuse, safetensors_header

MOST_TOKENS, LONGEST_TOKEN = 512, 200
MOST_LAYERS, MOST_HEADS, MOST_WEIGHTS = 128, 256, 16_000_000
TOLERANCE = 0.01  # of a row's sum: the rows of half precision lie within it
LARGEST_WEIGHT = 1.003  # what rounding to half precision can make of 1
SIDES = {"encoder": ("encoder", "encoder"), "decoder": ("decoder", "decoder"), "cross": ("decoder", "encoder")}
WEIGHTS = ("weights", *(f"{attention}_weights" for attention in SIDES))
MASKS = ("mask", *(f"{attention}_mask" for attention in SIDES))
NAMES = (*WEIGHTS, *MASKS, "tokens", "keys", "encoder_tokens", "decoder_tokens")
# What tokenizers add, by the names that are usual: a file does not say which tokens these are.
SPECIAL = frozenset({
    "[CLS]", "[SEP]", "[PAD]", "[START]", "[END]", "<s>", "</s>", "<pad>", "<bos>", "<eos>", "<|endoftext|>",
    "<|begin_of_text|>", "<|end_of_text|>", "<|im_start|>", "<|im_end|>",
})  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False)
class StoredAttention:
    """One attention. queries, keys: the tokens of both sides, the same tuple where they are one text."""

    weights: Float[np.ndarray, "layer head query key"]
    queries: tuple[str, ...]
    keys: tuple[str, ...]
    mask: Bool[np.ndarray, "query key"] | None = None

    @property
    def one_text(self) -> bool:
        return self.queries is self.keys

    @property
    def causal(self) -> bool:
        """Whether queries and keys are one text of which no query gives anything to a later key."""
        return self.one_text and not any(np.triu(layer.max(axis=0), 1).any() for layer in self.weights)

    def visible(self) -> Bool[np.ndarray, "query key"]:
        """Which keys a query may see: as the mask says; without one all, or the earlier ones where it is causal."""
        if self.mask is not None:
            return self.mask
        everything = np.ones(self.weights.shape[2:], bool)
        return np.tril(everything) if self.causal else everything


@dataclass(frozen=True, kw_only=True, eq=False)
class AttentionArrays:
    """The attentions by name, "encoder", "decoder" or "cross"; notes: sentences on what is odd and shown all the same.

    One of one text counts as the decoder's where it is causal, and as the encoder's where not.
    """

    attentions: Mapping[str, StoredAttention]
    notes: tuple[str, ...] = field(default=())

    @property
    def nbytes(self) -> int:
        """The memory that the weights take."""
        return sum(each.weights.nbytes for each in self.attentions.values())


def read_attention(file: str | Path | bytes) -> AttentionArrays:
    """The attention in an NPZ or safetensors file, or in the bytes of one. InputError, one sentence, for any other.

    At most 32 MB, 512 tokens and 16 million weights. Notes say which rows do not add up to 1.
    """
    arrays = read_arrays(file if isinstance(file, bytes) else content_of(Path(file)), NAMES)
    if not arrays.keys() & set(WEIGHTS):
        refuse("The file has no array called weights; save weights (layer, head, query, key) and tokens")
    size = sum(array.size for name, array in arrays.items() if name in WEIGHTS)
    if size > MOST_WEIGHTS:
        refuse(f"The file holds {size:,} weights; at most {MOST_WEIGHTS:,} are read")
    return checked(one_attention(arrays) if "weights" in arrays else several(arrays), limited=True)


def names_attention(content: bytes) -> bool:
    """Whether these are the bytes of a safetensors file with an array that is named as attention weights are here."""
    if content[8:9] != b"{":
        return False
    try:
        header, _ = safetensors_header(content)
    except (CheckpointError, InputError):
        return False
    return not header.keys().isdisjoint(WEIGHTS)


def content_of(path: Path) -> bytes:
    """A regular file of bounded size."""
    name = printable(path.name, 60)
    try:
        if not path.is_file():
            refuse(f"{name} is not there, or no regular file")
        if path.stat().st_size > LARGEST_FILE:
            refuse(f"{name} has {path.stat().st_size:,} bytes; at most {LARGEST_FILE:,} are read")
        return path.read_bytes()
    except OSError:
        refuse(f"{name} cannot be read")


def attention_of(weights: Any, tokens: Sequence[str], keys: Sequence[str] | None = None) -> AttentionArrays:
    """Attention in memory: (layer, head, query, key), or one array a layer, as ``output_attentions`` gives them.

    Arrays of numpy or torch; a layer may have a batch axis of 1 in front. InputError as for a file, without its limits
    of size.
    """
    arrays = {"weights": stacked(weights), "tokens": np.array(list(tokens), np.str_)}
    if keys is not None:
        arrays["keys"] = np.array(list(keys), np.str_)
    return checked(one_attention(arrays), limited=False)


def stacked(weights: Any) -> np.ndarray:
    """One array of whatever holds the weights."""
    if not isinstance(weights, list | tuple):
        return as_array(weights)
    layers = [as_array(layer) for layer in weights]
    layers = [layer[0] if layer.ndim == 4 and len(layer) == 1 else layer for layer in layers]
    if len({layer.shape for layer in layers}) > 1:
        refuse("The layers have weights of different shapes; the explorer shows layers of one shape")
    return np.stack(layers) if layers else np.zeros((0, 0, 0, 0), np.float32)


def as_array(weights: Any) -> np.ndarray:
    """A tensor on whatever device, or anything that numpy takes, as an array."""
    if isinstance(weights, torch.Tensor):
        return weights.detach().cpu().float().numpy() if weights.is_floating_point() else weights.cpu().numpy()
    return np.asarray(weights)


def one_attention(arrays: Mapping[str, np.ndarray]) -> dict[str, StoredAttention]:
    """``weights``, ``tokens`` and, where they are others, ``keys``; under the name of what it is."""
    if "tokens" not in arrays:
        refuse("The file has weights and no tokens; save tokens, one text for each query, beside them")
    queries = tokens_of("tokens", arrays["tokens"])
    keys = tokens_of("keys", arrays["keys"]) if "keys" in arrays else queries
    stored = attention("weights", arrays["weights"], queries, keys, arrays.get("mask"))
    return {"cross" if "keys" in arrays else "decoder" if stored.causal else "encoder": stored}


def several(arrays: Mapping[str, np.ndarray]) -> dict[str, StoredAttention]:
    """Those of an encoder, of a decoder, and between them."""
    texts = {side: name for side in ("encoder", "decoder") if (name := f"{side}_tokens") in arrays}
    tokens = {side: tokens_of(name, arrays[name]) for side, name in texts.items()}
    attentions = {}
    for name, (queries, keys) in SIDES.items():
        if (weights := arrays.get(f"{name}_weights")) is None:
            continue
        for side in (queries, keys):
            if side not in tokens:
                refuse(f"The file has {name}_weights and no {side}_tokens; save them too")
        mask = arrays.get(f"{name}_mask")
        attentions[name] = attention(f"{name}_weights", weights, tokens[queries], tokens[keys], mask)
    return attentions


def tokens_of(name: str, array: np.ndarray) -> tuple[str, ...]:
    """A row of texts that can be shown: none too long, no half of a surrogate pair."""
    if array.ndim != 1 or array.dtype.kind != "U":
        refuse(f"{name} must be a list of texts, in NPZ numpy.array(list_of_str); found {described(array)}")
    try:
        tokens = tuple(map(str, array.tolist()))
    except ValueError:  # a number that is no character's
        refuse(f"{name} has a text with characters that do not exist")
    for place, token in enumerate(tokens, start=1):
        if len(token) > LONGEST_TOKEN:
            refuse(f"{name}: number {place} has {len(token):,} characters; at most {LONGEST_TOKEN} are shown")
        if any("\ud800" <= character <= "\udfff" for character in token):
            refuse(f"{name}: number {place} has half of a surrogate pair, which is no text")
    return tokens


def described(array: np.ndarray) -> str:
    """ "float32 of shape (3, 4)"."""
    return f"{array.dtype.name} of shape {array.shape}"


def attention(
    name: str, weights: np.ndarray, queries: tuple[str, ...], keys: tuple[str, ...], mask: np.ndarray | None
) -> StoredAttention:
    """One attention, in float32, whose shapes fit and whose every number can be a weight."""
    if weights.ndim != 4:
        refuse(f"{name} needs the four axes (layer, head, query, key); found {described(weights)}")
    if weights.dtype.kind != "f":
        refuse(f"{name} must be floats (layer, head, query, key); found {described(weights)}")
    if 0 in weights.shape:
        refuse(f"{name} has the shape {weights.shape}: there is nothing to show")
    for axis, (tokens, side) in enumerate(((queries, "queries"), (keys, "keys")), start=2):
        if weights.shape[axis] != len(tokens):
            refuse(f"{name} has {weights.shape[axis]} {side}, but there are {len(tokens)} tokens for them")
    if mask is not None and (mask.shape != weights.shape[2:] or mask.dtype.kind not in "biu"):
        refuse(f"The mask of {name} must be True or False for each (query, key); found {described(mask)}")
    with np.errstate(over="ignore", invalid="ignore"):  # what float32 cannot hold is refused as infinite
        numbers = np.array(weights, np.float32)
    allowed = None if mask is None else mask.astype(bool)
    for layer, layer_weights in enumerate(numbers):
        check_layer(layer_weights, layer, allowed)
    return StoredAttention(weights=numbers, queries=queries, keys=keys, mask=allowed)


def checked(attentions: Mapping[str, StoredAttention], *, limited: bool) -> AttentionArrays:
    """The same with notes on its rows. limited: whether there may be no more than a page can draw."""
    notes = []
    for name, stored in attentions.items():
        if limited:
            check_limits(stored)
        if note := uneven_rows(stored.weights):
            notes.append(note if len(attentions) == 1 else f"{name}: {note}")
    return AttentionArrays(attentions=attentions, notes=tuple(notes))


def check_limits(stored: StoredAttention) -> None:
    """Refuse more than a page can draw."""
    layers, heads = stored.weights.shape[:2]
    for count, most, what in (
        (layers, MOST_LAYERS, "layers"),
        (heads, MOST_HEADS, "heads a layer"),
        (max(len(stored.queries), len(stored.keys)), MOST_TOKENS, "tokens"),
    ):
        if count > most:
            refuse(f"The file has {count:,} {what}; at most {most} are shown")


def check_layer(
    weights: Float[np.ndarray, "head query key"], layer: int, mask: Bool[np.ndarray, "query key"] | None
) -> None:
    """Refuse what no softmax gives, and say where it is."""
    if not np.isfinite(weights).all():
        refuse(f"{place(weights, ~np.isfinite(weights), layer)} is not a finite number")
    if weights.min() < 0 or weights.max() > LARGEST_WEIGHT:
        wrong = (weights < 0) | (weights > LARGEST_WEIGHT)
        refuse(
            f"{place(weights, wrong, layer)} is {weights[wrong][0]:.4g}; weights lie between 0 and 1: save what the "
            "softmax gives, from a model in evaluation mode"
        )
    if mask is not None and (weights * ~mask).any():
        refuse(f"{place(weights, (weights > 0) & ~mask, layer)} is not 0, though the mask hides that key")


def place(weights: Float[np.ndarray, "head query key"], wrong: Bool[np.ndarray, "head query key"], layer: int) -> str:
    """Where the first wrong weight is, counted from 1 as on the screen."""
    head, query, key = (int(axis) + 1 for axis in np.unravel_index(wrong.argmax(), weights.shape))
    return f"The weight of layer {layer + 1}, head {head}, query {query}, key {key} (counted from 1)"


def uneven_rows(weights: Float[np.ndarray, "layer head query key"]) -> str:
    """Which rows add up neither to 1 nor to 0; "" where all do."""
    sums = np.stack([layer.sum(axis=-1, dtype=np.float64) for layer in weights])
    uneven = (sums > 0) & (np.abs(sums - 1) > TOLERANCE)
    if not uneven.any():
        return ""
    layer, head, query = (int(axis) + 1 for axis in np.argwhere(uneven)[0])
    count, where = int(uneven.sum()), f"query {query} in layer {layer}, head {head}"
    total = f"adds up to {sums[uneven][0]:.3g}"
    if count == 1:
        return f"One row does not add up to 1 and is shown as it is: {where}, {total}."
    return (
        f"{count:,} of {uneven.size:,} rows do not add up to 1 and are shown as they are; the first, {where}, {total}."
    )
