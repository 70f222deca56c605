"""What each head of one sentence does with its weights: one number per layer and head."""

import math
import unicodedata
from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

OF_ONE_TEXT = ("distance", "self", "previous", "next")  # they compare a query's position with a key's


def head_statistics(
    weights: Float[Tensor, "layer head query key"] | Float[np.ndarray, "layer head query key"],
    special: Sequence[bool] | None,
    punctuation: Sequence[bool] | None,
    *,
    cross: bool = False,
) -> dict[str, Float[np.ndarray, "layer head"]]:
    """Name → one float64 per layer and head, in this order:

    - "entropy": bits, −Σ w·log₂ w of a row, the mean over the queries that see something;
    - "distance": tokens, Σ w·|query − key| / Σ w;
    - "self", "previous", "next": Σ w where key − query is 0, −1, 1, as a share of Σ w;
    - "first", "special", "punctuation": Σ w on these keys, as a share of Σ w.

    ``special`` and ``punctuation`` have one entry per key, or are None where they are not known; their statistic is
    then left out. So are those that need query and key to be positions of one text, where ``cross`` says that they are
    not, or their numbers differ. A head without any weight is NaN. ValueError for shapes that do not fit.
    """
    groups = {"special": special, "punctuation": punctuation}
    flag_lists = {name: list(flags) for name, flags in groups.items() if flags is not None}
    _check(tuple(weights.shape), flag_lists)
    # One layer at a time: in float64, 12 × 12 heads of 512 tokens would take 300 MB.
    layers = [_of_layer(torch.from_numpy(np.array(layer, np.float64)), flag_lists) for layer in _arrays(weights)]
    one_text = not cross and weights.shape[-2] == weights.shape[-1]
    names = [name for name in layers[0] if one_text or name not in OF_ONE_TEXT]
    return {name: np.stack([layer[name].numpy() for layer in layers]) for name in names}


def is_punctuation(token: str) -> bool:
    """Whether a token is punctuation or symbols alone (Unicode categories P and S), but for its word-piece marks.

    The marks are "##" before a piece (BERT), "▁" and "Ġ" for a space, and the space itself.
    """
    piece = token.strip(" ▁Ġ")
    piece = piece.removeprefix("##") or piece  # alone it is no mark: GPT-2 has "##" for a heading
    return bool(piece) and all(unicodedata.category(character)[0] in "PS" for character in piece)


def _check(shape: tuple[int, ...], groups: dict[str, list[bool]]) -> None:
    if len(shape) != 4 or 0 in shape:
        raise ValueError(f"weights of shape {shape}, wanted (layer, head, query, key), none of them 0")
    for name, flags in groups.items():
        if len(flags) != shape[-1]:
            raise ValueError(f"{len(flags)} entries of {name}, wanted one for each of the {shape[-1]} keys")


def _arrays(
    weights: Float[Tensor, "layer head query key"] | Float[np.ndarray, "layer head query key"],
) -> Float[np.ndarray, "layer head query key"]:
    return weights.numpy() if isinstance(weights, Tensor) else weights


def _of_layer(
    weights: Float[Tensor, "head query key"], groups: dict[str, list[bool]]
) -> dict[str, Float[Tensor, " head"]]:
    on_keys = weights.sum(dim=1)  # (head, key)
    total = on_keys.sum(dim=1)
    queries, keys = (torch.arange(count) for count in weights.shape[1:])
    sums = {"distance": (weights * (queries[:, None] - keys).abs()).sum(dim=(1, 2))}
    for name, offset in (("self", 0), ("previous", -1), ("next", 1)):
        sums[name] = weights.diagonal(offset, dim1=1, dim2=2).sum(dim=1)
    sums["first"] = on_keys[:, 0]
    for name, flags in groups.items():
        sums[name] = on_keys[:, torch.tensor(flags)].sum(dim=1)
    return {"entropy": _entropy(weights)} | {name: part / total for name, part in sums.items()}


def _entropy(weights: Float[Tensor, "head query key"]) -> Float[Tensor, " head"]:
    bits = torch.special.entr(weights).sum(dim=2) / math.log(2)
    seeing = (weights.sum(dim=2) > 0).sum(dim=1)  # a row of zeros has no entropy: it adds 0 and is not counted
    return bits.sum(dim=1) / seeing


def most_attended(weights: Sequence[Float[np.ndarray, "head query key"]]) -> int:
    """The key with the largest Σ w over all layers, heads and queries; of equals the first. ``weights``: by layer."""
    return int(np.argmax(sum(layer.sum(axis=(0, 1), dtype=np.float64) for layer in weights)))


def most_attended_by_head(weights: Float[np.ndarray, "query key"], special: Sequence[bool] | None = None) -> int:
    """The key with the largest Σ w over the queries of one head; of equals the first. Special tokens come last."""
    received = weights.sum(axis=0)
    keys = range(len(received))
    return max(keys, key=lambda key: (not (special and special[key]), float(received[key])))
