"""The edit of one weight that changes the answer most, beside a whole pass with every edit of one weight."""

import numpy as np
import pytest

from model import Checkpoint, Edits, HeadSite, SublayerSite
from model.measures.causes import strongest_weight
from model.measures.causes.resumed_pass import attention_at
from model.measures.causes.strongest_weight import strongest_of_attention, strongest_of_head
from model.measures.edited_weights import overwrites
from model.measures.outcome import answers_otherwise, outcome_of, outcome_value
from model.trace import Trace
from tests import tiny

MODELS = {
    "label": ("encoder", tiny.checkpoint("encoder", labels=("no", "yes"))),
    "next": ("decoder", tiny.checkpoint("decoder")),
    "stream": ("encoder", tiny.checkpoint("encoder")),
}
CLOSE = 1e-5


def change(checkpoint: Checkpoint, before: Trace, edits: Edits) -> float:
    """Of what is followed, by a whole pass."""
    outcome, after = outcome_of(checkpoint, before), checkpoint.trace_again(before, edits)
    own = 0.0 if outcome.kind == "stream" else outcome_value(outcome, before, before)
    return abs(outcome_value(outcome, before, after) - own)


def single_edits(before: Trace, site: HeadSite, others: Edits) -> dict[tuple[int, int], Edits]:
    """For every weight of a head the edit that makes it all of its row; none of a row without a choice."""
    base = attention_at(before, SublayerSite(site.stack, site.layer, site.attention)).weights[site.head].numpy()
    edits = {}
    for query, key in np.argwhere(base > 0).tolist():
        if (base[query] > 0).sum() > 1:
            wanted = np.array(base, np.float64)
            wanted[query] = np.eye(len(wanted))[key]
            edits[query, key] = Edits(muted=others.muted, overwritten=overwrites(site, base, wanted))
    return edits


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("is_alone", [True, False], ids=["alone", "beside a muted head"])
def test_no_other_weight_of_the_head_changes_the_answer_more(kind, is_alone):
    stack, checkpoint = MODELS[kind]
    others = Edits() if is_alone else Edits(muted=frozenset([HeadSite(stack, 0, 1)]))
    before, site = checkpoint.trace(tiny.TEXT, edits=others), HeadSite(stack, 1, 0)
    outcome = outcome_of(checkpoint, before)
    assert outcome.kind == kind
    found = strongest_of_head(checkpoint, before, site, edits=others)
    assert found is not None
    edits = single_edits(before, site, others)
    changes = {cell: change(checkpoint, before, each) for cell, each in edits.items()}
    assert found.change == pytest.approx(max(changes.values()), abs=CLOSE)
    assert changes[found.query, found.key] == pytest.approx(found.change, abs=CLOSE)
    after = checkpoint.trace_again(before, edits[found.query, found.key])
    assert found.after == pytest.approx(outcome_value(outcome, before, after), abs=CLOSE)
    assert found.turned == (kind != "stream" and answers_otherwise(outcome, after))


def test_the_heads_that_matter_most_are_tried_first_until_a_change_is_plain_to_see(monkeypatch):
    stack, checkpoint = MODELS["stream"]
    before = checkpoint.trace(tiny.TEXT)
    sites = [HeadSite(stack, layer, head) for layer in range(2) for head in range(4)]
    order = sorted(sites, key=lambda site: -change(checkpoint, before, Edits(muted=frozenset([site]))))
    found = {site: strongest_of_head(checkpoint, before, site) for site in sites}
    changes = {site: each.change for site, each in found.items() if each is not None}
    monkeypatch.setattr(strongest_weight, "PLAIN_TO_SEE", 0.0)
    assert strongest_of_attention(checkpoint, before, stack, "self") == found[order[0]]
    monkeypatch.setattr(strongest_weight, "PLAIN_TO_SEE", max(changes.values()) + 1)
    assert (
        strongest_of_attention(checkpoint, before, stack, "self") == found[max(changes, key=lambda site: changes[site])]
    )
    monkeypatch.setattr(strongest_weight, "MOST_HEADS", 1)
    assert strongest_of_attention(checkpoint, before, stack, "self") == found[order[0]]


def test_a_text_of_one_token_has_no_weight_to_edit():
    stack, checkpoint = MODELS["next"]
    trace = checkpoint.trace("the")
    assert len(trace.text_stack.ids) == 1
    assert strongest_of_attention(checkpoint, trace, stack, "self") is None
