"""What a model cannot do of the edits that it is asked for, each as one sentence without its subject."""

from collections.abc import Iterator, Mapping

from model.config import Config
from model.edits import Edits, HeadSite, NormSite, SublayerSite

SIDES = {"post": ("after",), "pre": ("before",), "both": ("before", "after"), "parallel": ("before",)}
LEARNED = ("learned", "counted")


def complaints(edits: Edits, config: Config, lengths: Mapping[str, int]) -> Iterator[str]:
    """What is asked of a model of this config that it does not have, as "has no …".

    lengths: how many positions the stacks have; one that is not told is not checked against.
    """
    yield from head_complaints(edits, config)
    yield from sublayer_complaints(edits, config)
    yield from mask_complaints(edits, config)
    yield from hidden_complaints(edits, config, lengths)
    yield from position_complaints(edits, config, lengths)
    yield from weight_complaints(edits, lengths)


def sizes_of(config: Config, stack: str) -> Config | None:
    """The config with the sizes of one stack; None where the architecture does not have it."""
    if stack not in config.stacks:
        return None
    return config.of_decoder() if stack == "decoder" else config


def sublayers(config: Config, stack: str) -> tuple[str, ...]:
    """The sublayers of every layer of a stack."""
    cross = stack == "decoder" and config.is_encoder_decoder
    return ("self", "cross", "feed-forward") if cross else ("self", "feed-forward")


def has_layer(config: Config, stack: str, layer: int | None, sublayer: str) -> bool:
    """Whether a stack is there, has this layer, and the layer this sublayer."""
    sizes = sizes_of(config, stack)
    return (
        sizes is not None and layer is not None and 0 <= layer < sizes.layers and sublayer in sublayers(config, stack)
    )


def head_complaints(edits: Edits, config: Config) -> Iterator[str]:
    """Heads, and attentions as a whole."""
    for site in sorted(
        edits.muted | edits.averaged | edits.uniform | {cell.site for cell in edits.overwritten}, key=str
    ):
        if not has_head(config, site):
            yield f"has no {site.attention} head {site.head} in {site.stack} layer {site.layer}"
    for whole in sorted(edits.muted_layers, key=str):
        if whole.sublayer == "feed-forward" or not has_layer(config, whole.stack, whole.layer, whole.sublayer):
            yield f"has no {whole.sublayer} attention in {whole.stack} layer {whole.layer}"


def has_head(config: Config, site: HeadSite) -> bool:
    sizes, there = sizes_of(config, site.stack), has_layer(config, site.stack, site.layer, site.attention)
    return sizes is not None and there and site.attention != "feed-forward" and 0 <= site.head < sizes.heads


def sublayer_complaints(edits: Edits, config: Config) -> Iterator[str]:
    """Residual connections and norms."""
    for site in sorted(edits.without_residual, key=str):
        if not has_residual(config, site):
            yield f"has no residual connection around {site.sublayer} in {site.stack} layer {site.layer}"
    for norm in sorted(edits.without_norm, key=str):
        if not has_norm(config, norm):
            where = "" if norm.layer is None else f" layer {norm.layer}"
            yield f"has no norm {norm.side} {norm.sublayer} in {norm.stack}{where}".replace("  ", " ")


def has_residual(config: Config, site: SublayerSite) -> bool:
    """Whether a residual connection is there; a parallel block has one for both of its sublayers, at "self"."""
    second = config.norm_order == "parallel" and site.sublayer == "feed-forward"
    return not second and has_layer(config, site.stack, site.layer, site.sublayer)


def has_norm(config: Config, site: NormSite) -> bool:
    if site.layer is not None:
        there = site.side in SIDES[config.norm_order]
        return there and has_layer(config, site.stack, site.layer, site.sublayer)
    own = {"embedding": config.embedding_norm, "final": config.norm_order != "post"}
    return sizes_of(config, site.stack) is not None and not site.side and own.get(site.sublayer, False)


def mask_complaints(edits: Edits, config: Config) -> Iterator[str]:
    """Masks to take away or to impose."""
    for stack in sorted(edits.unmasked | edits.causal):
        if sizes_of(config, stack) is None:
            yield f"has no {stack}"
        elif stack in edits.unmasked and stack == "encoder" and not config.windowed_layers:
            yield "has no mask in its encoder that could be removed"


def hidden_complaints(edits: Edits, config: Config, lengths: Mapping[str, int]) -> Iterator[str]:
    """Keys to hide that no attention looks at."""
    for hidden in sorted(edits.hidden):
        if sizes_of(config, hidden.stack) is None:
            yield f"has no {hidden.stack}"
        elif hidden.attention == "feed-forward" or hidden.attention not in sublayers(config, hidden.stack):
            yield f"has no {hidden.attention} attention in its {hidden.stack}"
        else:
            yield from missing_position("key", hidden.position, hidden.key_stack, lengths)


def position_complaints(edits: Edits, config: Config, lengths: Mapping[str, int]) -> Iterator[str]:
    """Positions to take away or to change."""
    changed = {shuffle.stack for shuffle in edits.shuffled} | {shift.stack for shift in edits.shifted}
    for stack in sorted(edits.unpositioned | changed):
        if sizes_of(config, stack) is None:
            yield f"has no {stack}"
        elif config.positions == "none":
            yield f"has no positions in its {stack}"
    for shift in sorted(edits.shifted):
        last = shift.by + lengths.get(shift.stack, 1) - 1
        if config.positions in LEARNED and not (shift.by >= 0 and last < config.max_length):
            wrong = shift.by if shift.by < 0 else last
            yield f"has no position {wrong}: it learned those from 0 to {config.max_length - 1}"


def room(edits: Edits, config: Config, stack: str) -> int:
    """How many tokens a stack has positions for, once its positions are shifted."""
    return config.max_length - (max(0, edits.shift(stack)) if config.positions in LEARNED else 0)


def weight_complaints(edits: Edits, lengths: Mapping[str, int]) -> Iterator[str]:
    """Weights of positions that are not there."""
    for cell in sorted(edits.overwritten):
        memory = "encoder" if cell.site.attention == "cross" else cell.site.stack
        for kind, position, stack in (("query", cell.query, cell.site.stack), ("key", cell.key, memory)):
            yield from missing_position(kind, position, stack, lengths)


def missing_position(kind: str, position: int, stack: str, lengths: Mapping[str, int]) -> Iterator[str]:
    """A query or key beyond the positions that a stack has, where it is told how many these are."""
    if position >= lengths.get(stack, position + 1):
        yield f"has no {kind} {position} here: the {stack} has positions 0 to {lengths[stack] - 1}"


def incremental(edits: Edits, config: Config) -> bool:
    """Whether a decoder can read token by token, from a cache, what it reads in one pass under these edits.

    Not where earlier tokens depend on later ones (no mask, a mean over the positions) or on how many there are (a
    shuffle), where single weights are named by their place in the whole, and where positions count what came before.
    """
    sees_later = "decoder" in edits.unmasked - edits.causal or edits.seed("decoder") is not None
    sites = edits.averaged | {cell.site for cell in edits.overwritten}
    return not (sees_later or config.positions == "counted" or any(site.stack == "decoder" for site in sites))
