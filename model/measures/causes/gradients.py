"""What the answer's logit depends on by its gradient: each attention weight, and the vector of each token.

The gradient of a weight says how the logit would change if it were larger, the gradient times the weight what the
weight contributes to first order (Barkan et al. 2021, "Grad-SAM", section 2). Integrated gradients share out the
difference between the text and a text of zero vectors among the tokens, without a remainder (Sundararajan et al. 2017,
"Axiomatic Attribution for Deep Networks", sections 2 and 3).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from model.attention import causal_mask, full_mask
from model.checkpoint import Checkpoint
from model.edits import NO_EDITS, Edits
from model.edits.sites import SublayerSite
from model.measures.causes.answers import answer_logits
from model.measures.causes.resumed_pass import attention_at, attention_sites
from model.measures.outcome import Outcome, outcome_of
from model.trace import StackTrace, Trace
from model.transformer import Transformer

AT_ONCE = 16  # steps of an integral in one batch
PIECE = 64  # steps by one rule: to find the places of a longer rule takes the cube of their number
SHORTEST, FIRST = 1e-30, 4  # of the text's vectors, where a path by orders of magnitude begins; steps before that
Path = tuple[Float[np.ndarray, " step"], Float[np.ndarray, " step"]]
CLOSE, LEAST_ERROR = 0.01, 1e-3  # what the parts may miss of the whole


@dataclass(frozen=True, kw_only=True)
class TokenAttribution:
    """What each token of the text contributes to the answer's logit, by integrated gradients.

    tokens: for each position; they sum to ``difference`` but for the error of the integral, which ``error`` is.
    difference: the logit of the text minus that of zero vectors in the place of all its tokens, positions kept.
    """

    tokens: Float[Tensor, " position"]
    difference: float

    @property
    def error(self) -> float:
        """By how much the parts miss the whole."""
        return abs(float(self.tokens.double().sum()) - self.difference)


def weight_gradients(
    checkpoint: Checkpoint, trace: Trace, edits: Edits = NO_EDITS
) -> Mapping[SublayerSite, Float[Tensor, "head query key"]]:
    """The gradient of the answer's mean logit by every attention weight, layer by layer, as float32 on the CPU.

    trace: of this checkpoint, with ``edits``. ValueError where the model gives no answer. Times the weights it is
    "gradient × attention".
    """
    model, outcome = checkpoint.model, answered(checkpoint, trace)
    vectors = [stack.embedding.token[None].to(model.embedding.weight.device) for stack in stacks_of(trace)]
    with torch.enable_grad():
        passes = passes_of(model, trace, [one.requires_grad_() for one in vectors], edits)
        weights = {site: attention_at(passes, site).weights for site in attention_sites(passes)}
        logit = mean_logit(model, outcome, passes.output_stack.final)[0]
        found = torch.autograd.grad(logit, list(weights.values()), allow_unused=True)
    return {
        site: torch.zeros_like(one[0]).cpu() if gradient is None else gradient[0].float().cpu()
        for (site, one), gradient in zip(weights.items(), found, strict=True)
    }


def integrated_gradients(checkpoint: Checkpoint, trace: Trace) -> TokenAttribution:
    """What each token of the text that was read contributes to the answer's mean logit.

    The path runs from zero vectors to those of the tokens; positions and segments stay, and so does what a decoder
    beside an encoder reads. The integral takes more steps until its parts sum to the whole within 1 % or 0.001, or it
    has taken the most; ``error`` says what is left. ValueError where the model gives no answer.
    """
    *_, found = (attribution for attribution in attribution_steps(checkpoint, trace) if attribution is not None)
    return found


def attribution_steps(checkpoint: Checkpoint, trace: Trace) -> Iterator[TokenAttribution | None]:
    """The same step by step, for whoever shows how far it is, or stops: None, and after each integral what it gives.

    The last is the result.
    """
    model, outcome = checkpoint.model, answered(checkpoint, trace)
    tokens = trace.text_stack.embedding.token.to(model.embedding.weight.device)
    with torch.no_grad():
        ends = logits_of_tokens(model, trace, outcome, torch.stack([torch.zeros_like(tokens), tokens])).double()
    difference = float(ends[1] - ends[0])
    for places, shares in paths():
        parts = torch.zeros(len(tokens), dtype=torch.float64)
        for part in integral_parts(model, trace, outcome, tokens, places, shares):
            parts += part
            yield None
        found = TokenAttribution(tokens=parts.float(), difference=difference)
        yield found
        if found.error <= max(CLOSE * abs(difference), LEAST_ERROR) / 2:
            return


def integral_parts(
    model: Transformer,
    trace: Trace,
    outcome: Outcome,
    tokens: Float[Tensor, "position width"],
    places: Float[np.ndarray, " step"],
    shares: Float[np.ndarray, " step"],
) -> Iterator[Float[Tensor, " position"]]:
    """Σ over the width of x · ∫ ∂logit/∂x (α x) dα, as a sum over these places of α, each with its share.

    Some places at a time.
    """
    for start in range(0, len(places), AT_ONCE):
        few = slice(start, start + AT_ONCE)
        alphas = torch.tensor(places[few], device=tokens.device, dtype=tokens.dtype)
        with torch.enable_grad():
            rows = (alphas[:, None, None] * tokens).requires_grad_()
            (gradients,) = torch.autograd.grad(logits_of_tokens(model, trace, outcome, rows).sum(), rows)
        share = torch.tensor(shares[few])
        yield torch.einsum("r,rpw,pw->p", share, gradients.double().cpu(), tokens.double().cpu())


def paths() -> Iterator[Path]:
    """Places from 0 to 1 and their shares, ever more of them."""
    yield from map(shares_by_power, (32, 64))
    yield from map(shares_by_size, (128, 256, 512, 1024, 2048, 4096, 8192))


def shares_by_power(steps: int) -> Path:
    """Places from 0 to 1 and their shares, by Gauss and Legendre over t where α = t⁴: denser near 0."""
    places, shares = np.polynomial.legendre.leggauss(steps)
    at = (places + 1) / 2
    return at**4, shares / 2 * 4 * at**3


def shares_by_size(steps: int) -> Path:
    """The same over the logarithm of α, in equal pieces of 64 places, and a few places before it begins.

    Without position vectors a norm makes the same of a short vector as of a long one, down to its epsilon, and so does
    each that follows: the answer forms over many orders of magnitude.
    """
    pieces = steps // PIECE
    places, shares = np.polynomial.legendre.leggauss(PIECE)
    at = ((places + 1) / 2 + np.arange(pieces)[:, None]).ravel() / pieces  # 0 to 1
    length = -np.log(SHORTEST)
    alphas = np.exp(-length * (1 - at))
    spread = np.tile(shares / 2, pieces) / pieces * length * alphas
    first, first_shares = np.polynomial.legendre.leggauss(FIRST)
    before = SHORTEST * (first + 1) / 2
    return np.concatenate([before, alphas]), np.concatenate([SHORTEST * first_shares / 2, spread])


def answered(checkpoint: Checkpoint, trace: Trace) -> Outcome:
    """The answer that is followed."""
    outcome = outcome_of(checkpoint, trace)
    if outcome.kind == "stream":
        raise ValueError(f"{checkpoint.label} gives no answer for this text, so that there is no gradient of one")
    return outcome


def mean_logit(
    model: Transformer, outcome: Outcome, final: Float[Tensor, "row position width"]
) -> Float[Tensor, " row"]:
    """The logit of the answer in each pass; of several answers their mean."""
    logits = answer_logits(model, outcome, final)
    answers = torch.tensor(outcome.answers, device=logits.device)[None, :, None].expand(len(logits), -1, 1)
    return logits.gather(-1, answers)[..., 0].mean(dim=-1)


def logits_of_tokens(
    model: Transformer, trace: Trace, outcome: Outcome, tokens: Float[Tensor, "row position width"]
) -> Float[Tensor, " row"]:
    """The answer's mean logit with these vectors in the place of the text's tokens."""
    others = [stack.embedding.token.to(tokens).expand(len(tokens), -1, -1) for stack in stacks_of(trace)[1:]]
    return mean_logit(model, outcome, passes_of(model, trace, [tokens, *others]).output_stack.final)


def stacks_of(trace: Trace) -> list[StackTrace]:
    """The stacks that a pass has."""
    return [stack for stack in (trace.encoder, trace.decoder) if stack is not None]


def passes_of(
    model: Transformer, trace: Trace, vectors: Sequence[Float[Tensor, "row _ _"]], edits: Edits = NO_EDITS
) -> Trace:
    """The passes with these vectors in the place of the tokens of each stack; positions and segments as they were.

    What the head says is left out.
    """
    ids = [
        stack.ids.to(rows.device).expand(len(rows), -1) for stack, rows in zip(stacks_of(trace), vectors, strict=True)
    ]
    encoder, memory = None, None
    if model.encoder is not None:
        length, read = ids[0].shape[-1], trace.text_stack
        known = read.segments is not None and model.config.segments > 1
        segments = torch.tensor(read.segments, device=ids[0].device).expand_as(ids[0]) if known else None
        mask = full_mask(length, length, ids[0].device)
        encoder = model.encoder(ids[0], vectors[0], mask, segments=segments, edits=edits)
        memory = encoder.final
    decoder = None
    if model.decoder is not None:
        decoder = model.decoder(
            ids[-1], vectors[-1], causal_mask(ids[-1].shape[-1], ids[-1].device), memory, edits=edits
        )
    return Trace(encoder=encoder, decoder=decoder, pooled=None, logits=None)
