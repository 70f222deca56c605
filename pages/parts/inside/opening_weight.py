"""Which weight Inside a head is about until somebody chooses one: the largest of the head that does most with the text.

What is found is shown and not chosen: another text has another. Only a choice stands in the session and the address.
"""

from collections.abc import Mapping
from typing import Any

from model import Checkpoint
from model.measures.head_kinds import Finding
from model.measures.one_weight import WeightSite, strongest_giver
from pages.parts.explore.explorer_panel import ShownAttention, name_of
from pages.parts.explore.heads_worth_a_look import notable_heads
from pages.parts.inside.settings import WalkSettings
from pages.parts.passes import edits_of
from pages.parts.shared_cache import checkpoint_named
from pages.parts.state.page_fields import CODEC
from pages.parts.state.selection import Selection
from pages.parts.state.session import changed_selection, choices, choose, current
from viz.explorer.attention_kinds import Kind

PLACE = frozenset({"attention", "layer", "head", "off", "query", "key"})
LARGEST_MODEL = 20_000_000  # parameters; of a larger one all heads are not measured before the page is seen


def is_found() -> bool:
    """Whether nobody has chosen a place yet, not even the first head of the first layer.

    It goes by what the address says: a place that is chosen and the default is no more in it than one that is not.
    """
    chosen = choices()
    places = {name: chosen[name] for name in PLACE & chosen.keys()}
    return all(place == CODEC.defaults[name] for name, place in places.items()) and current().of(WalkSettings).opening


def is_small(checkpoint: Checkpoint) -> bool:
    """Whether all heads are measured before the page is seen: it takes eight more passes."""
    return checkpoint.model.parameter_count() <= LARGEST_MODEL


def opening_selection(selection: Selection, kinds: Mapping[str, Kind]) -> Selection:
    """The selection, at the place that is found where none is chosen."""
    checkpoint = checkpoint_named(selection.checkpoint)
    if not is_found() or not is_small(checkpoint):
        return selection
    attention = ShownAttention(selection, kinds, name_of(selection, edits_of(selection, checkpoint)))
    first = notable_heads(attention.name, attention.kind.name, attention).first
    if first is None:
        return selection
    query, key = pair_of(first, attention.kind)
    return changed_selection(selection, layer=first.layer, head=first.head, query=query, key=key)


def pair_of(finding: Finding, kind: Kind) -> tuple[int | None, int | None]:
    """The query and key that a finding is about; of one about a key alone, the query that gives most to it."""
    query = finding.query
    if query is None and finding.key is not None:
        special = [place for place, added in enumerate(kind.queries.special or ()) if added]
        left_out = {*special, finding.key} if kind.queries is kind.keys else set(special)
        query = strongest_giver(kind.weights[finding.layer][finding.head], finding.key, left_out)
    return query, finding.key


def take_place(name: str, place: int, site: WeightSite) -> None:
    """Another layer, head, query or key than those of a site on the screen, which are chosen too if they were found."""
    there = {"layer": site.layer, "head": site.head}
    kept = there if is_found() else {}
    after = there | {name: place}
    choose(kept | {name: place}, opening=bool(after["layer"] or after["head"]))


def take_weight(site: WeightSite, query: int, key: int) -> None:
    """Another query and key of the head on the screen, which is chosen too if it was found."""
    choose(place_to_keep(site) | {"query": query, "key": key})


def place_to_keep(site: WeightSite) -> dict[str, Any]:
    """What makes the site on the screen chosen, if it was only found: what is changed next may have another found."""
    return {name: getattr(site, name) for name in ("layer", "head", "query", "key")} if is_found() else {}
