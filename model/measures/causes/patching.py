"""What one text's answer becomes with a part of another text's pass in it: which part carries what tells them apart.

Activation patching: Vig et al. 2020, "Investigating Gender Bias in Language Models Using Causal Mediation Analysis";
Meng et al. 2022, "Locating and Editing Factual Associations in GPT", section 2. The texts are aligned: for each
position of the one, the position of the other whose part is put there, or none.
"""

from collections.abc import Mapping, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from model.checkpoint import Checkpoint
from model.edits.sites import SublayerSite
from model.measures.causes.ablation import Ablation, one_head_each, said, said_before
from model.measures.causes.answers import Said, joined, said_of
from model.measures.causes.resumed_pass import attention_at, attention_sites, final_of_streams, stack_at
from model.measures.outcome import outcome_of
from model.scores import for_every_head
from model.trace import Trace

Places = Sequence[int | None]  # for each position of a text, that of the other text


def same_places(trace: Trace, donor: Trace) -> Places:
    """The alignment of two texts of one length: every position with itself. ValueError where the lengths differ."""
    length, other = len(trace.text_stack.ids), len(donor.text_stack.ids)
    if length != other:
        raise ValueError(f"texts of {length} and {other} tokens: say which position of the one is which of the other")
    return range(length)


def head_patching(checkpoint: Checkpoint, trace: Trace, donor: Trace, places: Places | None = None) -> Ablation:
    """The answer with the context of each head from the donor's pass, head by head. places None: ``same_places``.

    Of a decoder beside an encoder, and of cross-attention, every position keeps its place: both passes have to have
    read the same target. ValueError where they have not.
    """
    outcome = outcome_of(checkpoint, trace)
    after = {site: heads_patched(checkpoint, trace, donor, site, places) for site in attention_sites(trace)}
    return Ablation(outcome=outcome, before=said_before(checkpoint, trace, outcome), after=after)


def heads_patched(
    checkpoint: Checkpoint, trace: Trace, donor: Trace, site: SublayerSite, places: Places | None = None
) -> Said:
    """The same of one attention, for whoever shows how far it is, or stops."""
    own = attention_at(trace, site).context
    given = patched(own, attention_at(donor, site).context, places_in(trace, donor, site, places))
    return said(checkpoint, trace, outcome_of(checkpoint, trace), site, one_head_each(own, given))


def weight_patching(checkpoint: Checkpoint, trace: Trace, donor: Trace) -> Ablation:
    """The answer with each head's attention weights from the donor's pass, and its own values.

    ValueError unless both passes have the same lengths.
    """
    outcome = outcome_of(checkpoint, trace)
    after = {site: weights_patched(checkpoint, trace, donor, site) for site in attention_sites(trace)}
    return Ablation(outcome=outcome, before=said_before(checkpoint, trace, outcome), after=after)


def weights_patched(checkpoint: Checkpoint, trace: Trace, donor: Trace, site: SublayerSite) -> Said:
    """The same of one attention."""
    own, other = attention_at(trace, site), attention_at(donor, site)
    if own.weights.shape != other.weights.shape:
        raise ValueError(f"weights of shapes {tuple(own.weights.shape)} and {tuple(other.weights.shape)}")
    given = other.weights @ for_every_head(own.value, len(own.weights))
    return said(checkpoint, trace, outcome_of(checkpoint, trace), site, one_head_each(own.context, given))


def stream_patching(
    checkpoint: Checkpoint, trace: Trace, donor: Trace, places: Places | None = None
) -> Mapping[str, Said]:
    """The answer with the stream of one position, as it enters a layer, from the donor: by stack, (layer, position).

    A position that has no place in the donor keeps its own stream, and so the answer stays.
    """
    found = {}
    for name in (name for name in ("encoder", "decoder") if getattr(trace, name) is not None):
        sites = [SublayerSite(name, layer, "self") for layer in range(len(getattr(trace, name).blocks))]
        layers = joined(streams_patched(checkpoint, trace, donor, site, places) for site in sites)
        found[name] = layers.reshaped(len(sites), -1)
    return found


def streams_patched(
    checkpoint: Checkpoint, trace: Trace, donor: Trace, site: SublayerSite, places: Places | None = None
) -> Said:
    """The same of the layer of one attention, position by position."""
    own, other = (stack_at(one, site).blocks[site.layer].stream_in for one in (trace, donor))
    given = patched(own[None], other[None], places_in(trace, donor, site, places))[0]
    chosen = torch.eye(len(own), dtype=torch.bool)[..., None]
    states = final_of_streams(checkpoint.model, trace, site, torch.where(chosen, given, own))
    outcome = outcome_of(checkpoint, trace)
    return joined(said_of(checkpoint.model, outcome, trace, state) for state in states)


def places_in(trace: Trace, donor: Trace, site: SublayerSite, places: Places | None) -> Places:
    """The alignment of the positions that an attention's queries are."""
    if trace.encoder is not None and site.stack == "decoder":
        length, other = (len(stack_at(one, site).ids) for one in (trace, donor))
        if length != other:
            raise ValueError(f"targets of {length} and {other} tokens: let both passes read the same target")
        return range(length)
    return same_places(trace, donor) if places is None else places


def patched(
    own: Float[Tensor, "head query size"], other: Float[Tensor, "head other size"], places: Places
) -> Float[Tensor, "head query size"]:
    """Each position from its place in the other pass, where it has one. ValueError for a place that is not there."""
    if len(places) != own.shape[1] or any(place is not None and not 0 <= place < other.shape[1] for place in places):
        raise ValueError(f"places {list(places)} for {own.shape[1]} positions, in a text of {other.shape[1]}")
    given = own.clone()
    for position, place in enumerate(places):
        if place is not None:
            given[:, position] = other[:, place]
    return given
