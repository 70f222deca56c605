"""What residual connections and norms do for a stack: how alike its tokens become, what a norm leaves of a vector."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from model.edits import NO_EDITS, Edits
from model.measures.experiments.gradient_depth import Fresh, fresh_model, without_residuals
from model.trace import BlockTrace, StackTrace

DEEP = 24  # layers of the fresh stack
READ = 32  # tokens that it reads at most
SAME = 1e-4  # of the tokens' length: no sum of 32-bit numbers tells them apart much better
RATIOS = (0.75, 0.25, 0.1)  # where "as far", "about half as far" and "a little" end


def token_spread(stream: Float[Tensor, "position width"]) -> float:
    """How far the tokens' vectors are from their mean: ‖X − 1·mean(X)‖ / ‖X‖ (Frobenius); 0 where all are the same.

    The residual of Dong, Cordonnier and Loukas 2021, "Attention is not all you need: pure attention loses rank doubly
    exponentially with depth", section 2, in another norm.
    """
    numbers = stream.double()
    return float((numbers - numbers.mean(dim=0)).norm() / numbers.norm())


def spread_by_layer(stack: StackTrace) -> Float[np.ndarray, " step"]:
    """The spread of what enters the first layer, and after every layer."""
    return np.array([token_spread(stack.embedding.total), *(token_spread(block.stream_out) for block in stack.blocks)])


def fresh_spread(ids: Sequence[int], *, residuals: bool, seed: int = 1) -> Float[np.ndarray, " step"]:
    """The same in a decoder of 24 layers that nobody trained, over at most 32 of these tokens."""
    fresh = Fresh(norm_order="pre", layers=DEEP, residuals=residuals, seed=seed)
    numbers = {token: place for place, token in enumerate(dict.fromkeys(ids[:READ]))}
    model = fresh_model(fresh, len(numbers)).eval()
    edits: Edits = NO_EDITS if residuals else without_residuals(DEEP)
    with torch.no_grad():
        trace = model(torch.tensor([numbers[token] for token in ids[:READ]]), edits=edits)
    return spread_by_layer(trace.decoder)


def range_of(shares: Sequence[float]) -> tuple[float, float]:
    """The smallest and the largest of some probabilities."""
    return min(shares), max(shares)


def range_left(before: tuple[float, float], after: tuple[float, float]) -> float:
    """What is left of a range, as a share of its width."""
    width = before[1] - before[0]
    return (after[1] - after[0]) / width if width else 1.0


def step_of_ratio(ratio: float) -> int:
    """0: more than three quarters; 1: more than a quarter; 2: more than a tenth; 3: less."""
    return sum(ratio <= limit for limit in RATIOS)


@dataclass(frozen=True, kw_only=True)
class NormSteps:
    """One vector on its way through a norm.

    centred: without its mean; None for a norm that keeps it (RMSNorm). scaled: divided by ``deviation``. result: times
    γ, plus β where there is one. doubled: how far the result moves where the vector is doubled, as a share of it.
    """

    before: Float[np.ndarray, " width"]
    mean: float
    deviation: float
    centred: Float[np.ndarray, " width"] | None
    scaled: Float[np.ndarray, " width"]
    result: Float[np.ndarray, " width"]
    doubled: float


def norm_steps(vector: Float[Tensor, " width"], norm: nn.LayerNorm | nn.RMSNorm) -> NormSteps:
    """LayerNorm (Ba et al. 2016, equation 4) or RMSNorm (Zhang and Sennrich 2019) of one vector, step by step."""
    numbers = vector.detach().double().cpu().numpy()
    scale = np.asarray(norm.weight.detach().double().cpu())
    shift = getattr(norm, "bias", None)
    centres = isinstance(norm, nn.LayerNorm)
    mean = float(numbers.mean()) if centres else 0.0
    epsilon = norm.eps if norm.eps is not None else float(torch.finfo(vector.dtype).eps)

    def normed(of: np.ndarray) -> tuple[np.ndarray, float]:
        centred = of - of.mean() if centres else of
        deviation = float(np.sqrt(np.mean(centred**2) + epsilon))
        return centred / deviation, deviation

    scaled, deviation = normed(numbers)
    moved = np.linalg.norm((normed(2 * numbers)[0] - scaled) * scale)
    added = 0.0 if shift is None else np.asarray(shift.detach().double().cpu())
    result = scaled * scale + added
    return NormSteps(
        before=numbers,
        mean=mean,
        deviation=deviation,
        centred=numbers - mean if centres else None,
        scaled=scaled,
        result=result,
        doubled=float(moved / np.linalg.norm(result)),
    )


def into_first_norm(block: BlockTrace, norm_order: str) -> Float[Tensor, "position width"]:
    """What the first norm of a layer reads: its stream or, in post-norm, the sum with what attention adds."""
    return block.stream_in + block.self_attention.output if norm_order == "post" else block.stream_in
