"""What each head, each attention and each single weight does for the answer: the answer without it.

Ablation with zero, with the head's own mean over the positions, and with its mean over other texts: Michel et al. 2019,
"Are Sixteen Heads Really Better than One?"; for why the last disturbs a model least, Wang et al. 2022,
"Interpretability in the Wild", section 3. The context of a head is replaced before the output projection, whose bias,
which belongs to no head, stays.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from model.checkpoint import Checkpoint
from model.edits import NO_EDITS, Edits
from model.edits.sites import HeadSite, SublayerSite
from model.measures.causes.answers import Said, joined, said_of
from model.measures.causes.resumed_pass import (
    Contexts,
    attention_at,
    attention_sites,
    final_of_contexts,
    final_of_texts,
    final_states,
    rows_at_once,
)
from model.measures.outcome import Outcome, outcome_of
from model.scores import for_every_head
from model.trace import AttentionTrace, Trace
from model.transformer import Transformer

MeanContexts = Mapping[SublayerSite, Float[Tensor, "head head_width"]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Ablation:
    """The answer of a pass, and the same without each part.

    before: one pass. after: for every attention, an array over its heads, or over nothing where the whole attention
    is muted. ``attentions`` names the sites in the order of the pass.
    """

    outcome: Outcome
    before: Said
    after: Mapping[SublayerSite, Said]


def head_ablation(
    checkpoint: Checkpoint,
    trace: Trace,
    *,
    baseline: str = "zero",
    reference: MeanContexts | None = None,
    edits: Edits = NO_EDITS,
) -> Ablation:
    """The answer without each head of each attention.

    baseline: what stands in the place of a head's context: "zero", "mean" (its mean over the positions of the text) or
    "reference" (its mean over other texts, ``mean_contexts``). trace: of this checkpoint, with ``edits``. ValueError
    for another baseline, or for "reference" without one.
    """
    check_baseline(baseline, reference)
    heads = each_attention(checkpoint, trace, baseline=baseline, reference=reference, edits=edits)
    outcome = outcome_of(checkpoint, trace)
    return Ablation(outcome=outcome, before=said_before(checkpoint, trace, outcome), after=dict(heads))


def each_attention(
    checkpoint: Checkpoint,
    trace: Trace,
    sites: Sequence[SublayerSite] | None = None,
    *,
    baseline: str = "zero",
    reference: MeanContexts | None = None,
    edits: Edits = NO_EDITS,
) -> Iterator[tuple[SublayerSite, Said]]:
    """The same, an attention after the other, of all (None) or of these, for whoever shows how far it is, or stops."""
    outcome = outcome_of(checkpoint, trace)
    for site in attention_sites(trace) if sites is None else sites:
        context = attention_at(trace, site).context
        instead = torch.zeros_like(context)
        if baseline == "mean":
            instead = context.mean(dim=-2, keepdim=True).expand_as(context)
        if reference is not None:
            instead = reference[site][:, None].expand_as(context)
        yield site, said(checkpoint, trace, outcome, site, one_head_each(context, instead), edits)


@torch.no_grad()
def cumulative_ablation(
    checkpoint: Checkpoint,
    trace: Trace,
    heads: Sequence[HeadSite],
    counts: Sequence[int] | None = None,
    *,
    baseline: str = "zero",
    reference: MeanContexts | None = None,
    edits: Edits = NO_EDITS,
) -> Said:
    """The answer with the first so many of these heads muted; ``counts`` None: with none, one, two … and all of them.

    baseline: what stands in the place of each, as in ``head_ablation``; "mean" is that of the pass with the others
    muted. trace: of this checkpoint, with ``edits``. ValueError for another baseline, or for "reference" without one.
    """
    check_baseline(baseline, reference)
    model, outcome = checkpoint.model, outcome_of(checkpoint, trace)
    counts = range(len(heads) + 1) if counts is None else counts
    parts, rows = [], rows_at_once(model, trace)
    for start in range(0, len(counts), rows):
        muted = [heads[:count] for count in counts[start : start + rows]]
        if reference is None:
            final = final_without(model, trace, muted, baseline, edits)
        else:
            final = final_of_contexts(model, trace, held_contexts(trace, muted, reference), edits)
        parts.append(said_of(model, outcome, trace, final))
    return joined(parts)


def final_without(
    model: Transformer, trace: Trace, muted: Sequence[Sequence[HeadSite]], baseline: str, edits: Edits
) -> Float[Tensor, "row _ width"]:
    """What the head would read with each of these sets of heads muted, by zero or by their means."""
    field, source = "muted" if baseline == "zero" else "averaged", trace.text_stack
    each = [replace(edits, **{field: getattr(edits, field) | frozenset(heads)}) for heads in muted]
    ids = source.ids.expand(len(each), -1)
    segments = None if source.segments is None else torch.tensor(source.segments).expand_as(ids)
    return final_of_texts(model, trace, ids, segments, each)


def held_contexts(
    trace: Trace, muted: Sequence[Sequence[HeadSite]], reference: MeanContexts
) -> dict[SublayerSite, Contexts]:
    """For each of these sets of heads their means over other texts, at every position; NaN for all other heads."""
    held = {}
    for site in attention_sites(trace):
        context = attention_at(trace, site).context
        held[site] = context.new_full((len(muted), *context.shape), torch.nan)
        for row, heads in enumerate(muted):
            for head in heads:
                if (head.stack, head.layer, head.attention) == (site.stack, site.layer, site.sublayer):
                    held[site][row, head.head] = reference[site][head.head].to(context)
    return held


def check_baseline(baseline: str, reference: MeanContexts | None) -> None:
    """ValueError for a baseline that there is not, or without the means that it needs."""
    if baseline not in ("zero", "mean", "reference") or (baseline == "reference") != (reference is not None):
        raise ValueError(f"baseline: found {baseline!r} and {'a' if reference else 'no'} reference")


def attention_ablation(checkpoint: Checkpoint, trace: Trace, *, edits: Edits = NO_EDITS) -> Ablation:
    """The answer without each whole attention: all its heads muted, the bias of its output projection left."""
    outcome, after = outcome_of(checkpoint, trace), {}
    for site in attention_sites(trace):
        muted = torch.zeros_like(attention_at(trace, site).context)[None]
        after[site] = said(checkpoint, trace, outcome, site, muted, edits).reshaped()
    return Ablation(outcome=outcome, before=said_before(checkpoint, trace, outcome), after=after)


def weight_ablation(
    checkpoint: Checkpoint,
    trace: Trace,
    site: HeadSite,
    cells: Int[Tensor, "cell 2"],
    *,
    edits: Edits = NO_EDITS,
) -> Said:
    """The answer without each of these weights (query, key) of one head: set to 0, the others of its row unchanged."""
    place = SublayerSite(site.stack, site.layer, site.attention)
    attention, outcome = attention_at(trace, place), outcome_of(checkpoint, trace)
    batches = (weights_removed(attention, site.head, part) for part in cells.split(64))
    return joined(said(checkpoint, trace, outcome, place, contexts, edits) for contexts in batches)


def mean_contexts(checkpoint: Checkpoint, traces: Iterable[Trace]) -> MeanContexts:
    """The mean of every head's context over all positions of some passes, to be put in its place. ValueError for none.

    One trace at a time is held.
    """
    sums, counts = dict[SublayerSite, Tensor](), dict[SublayerSite, int]()
    for trace in traces:
        for site in attention_sites(trace):
            context = attention_at(trace, site).context.double()
            sums[site] = sums.get(site, torch.zeros(())) + context.sum(dim=-2)
            counts[site] = counts.get(site, 0) + context.shape[-2]
    if not sums:
        raise ValueError(f"no pass of {checkpoint.label} to take a mean over")
    return {site: (total / counts[site]).float() for site, total in sums.items()}


def one_head_each(
    context: Float[Tensor, "head query head_width"], instead: Float[Tensor, "head query head_width"]
) -> Contexts:
    """A row for each head, in which that head's context is replaced."""
    chosen = torch.eye(len(context), dtype=torch.bool)[..., None, None]
    return torch.where(chosen, instead, context)


def weights_removed(attention: AttentionTrace, head: int, cells: Int[Tensor, "cell 2"]) -> Contexts:
    """A row for each cell, in which the head's context lacks what that weight brought."""
    value = for_every_head(attention.value, attention.query.shape[-3])[head]
    queries, keys = cells.T
    contexts = attention.context.repeat(len(cells), 1, 1, 1)
    brought = attention.weights[head, queries, keys, None] * value[keys]
    contexts[torch.arange(len(cells)), head, queries] -= brought
    return contexts


def said(
    checkpoint: Checkpoint,
    trace: Trace,
    outcome: Outcome,
    site: SublayerSite,
    contexts: Contexts,
    edits: Edits = NO_EDITS,
) -> Said:
    """What the passes say in which one attention has these contexts."""
    states = final_states(checkpoint.model, trace, site, contexts, edits)
    return joined(said_of(checkpoint.model, outcome, trace, state) for state in states)


def said_before(checkpoint: Checkpoint, trace: Trace, outcome: Outcome) -> Said:
    """What the pass itself says."""
    final = trace.output_stack.final[None].to(checkpoint.model.embedding.weight.device)
    return said_of(checkpoint.model, outcome, trace, final).reshaped()
