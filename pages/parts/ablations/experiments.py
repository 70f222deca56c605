"""Break the formula: what can be taken out of it with one click, why it is there, and what the loss did here."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from model import Config, Edits, HeadSite, HiddenKey, NormSite, Shuffle, SublayerSite
from model.edits.checks import complaints, has_norm, sizes_of, sublayers
from viz.text.experiment_effects import (
    ExperimentRun,
    of_heads,
    of_lengths,
    of_likeness,
    of_masks,
    of_neighbours,
    of_order,
    of_uniform,
    of_widths,
)
from viz.tokens import counted, markdown_text, visible

SEED = 1
ATTENTIONS = {"encoder": ("encoder", "self"), "decoder": ("decoder", "self"), "cross": ("decoder", "cross")}
NO = Edits()
IN_WORDS = {
    "unpositioned": "no positions",
    "shuffled": "shuffled positions",
    "shifted": "shifted positions",
    "unmasked": "no mask",
    "causal": "a causal mask",
    "hidden": "hidden tokens ({})",
    "uniform": "uniform attention (heads: {})",
    "overwritten": "overwritten weights ({})",
    "averaged": "mean-ablated heads ({})",
    "muted": "muted heads ({})",
    "muted_layers": "muted layers ({})",
    "without_residual": "no residual (sublayers: {})",
    "without_norm": "no norm (norms: {})",
}
MOST_APART = 12  # parts of one kind that are said one by one
SUBLAYERS = {"self": "attention", "cross": "cross-attention", "feed-forward": "feed-forward layer"}
EACH_IN_WORDS: dict[str, Callable[..., str]] = {
    "hidden": lambda key: hidden_key_name(key),
    "muted": lambda site: f"head {counted(site.head)} muted in {sublayer_name(site, site.attention)}",
    "muted_layers": lambda site: f"all heads muted in {sublayer_name(site, site.sublayer)}",
    "without_residual": lambda site: f"no residual around {sublayer_name(site, site.sublayer)}",
}
NOTHING = "This experiment does not apply to this checkpoint: "


@dataclass(frozen=True)
class ExperimentPlace:
    """Where an experiment on one layer, head or token acts; all counted from 0."""

    attention: str = "encoder"  # "encoder", "decoder" or "cross"
    layer: int = 0
    head: int = 0
    key: int = 0  # a token that is looked at
    token: str = ""  # what stands there

    @property
    def stack(self) -> str:
        """The stack in which the attention stands."""
        return ATTENTIONS[self.attention][0]

    @property
    def sublayer(self) -> str:
        """ "self", or "cross" for cross-attention."""
        return ATTENTIONS[self.attention][1]


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One click. ``edits`` gives what is changed, or one sentence on why there is nothing to change."""

    name: str
    explained: str
    look_for: str
    edits: Callable[[Config, ExperimentPlace], Edits | str]
    effect: Callable[[ExperimentRun], str]
    instead: str = "mute"  # what to try where a model has no place for it
    on_head: bool = False  # whether it acts on the chosen head alone
    on_key: bool = False  # whether it acts on the chosen token
    part: str = ""  # what is taken out, as in "without …"; "": something is changed instead
    of_text: bool = True  # compared with other parts: without norms layers read what training never gave them
    unmoved: str = ""  # what it means where the prediction stays as it was

    @property
    def on_layer(self) -> bool:
        """Whether it acts on the chosen layer alone."""
        return "{layer}" in self.name

    def part_at(self, place: ExperimentPlace) -> str:
        """What is taken out, with the layer or head."""
        return self.part.format(layer=counted(place.layer), head=counted(place.head))

    def title(self, place: ExperimentPlace) -> str:
        """The name, with the layer, head or token that it acts on. Markdown."""
        key = f"“{markdown_text(visible(place.token))}”" if place.token else f"token {counted(place.key)}"
        return self.name.format(layer=counted(place.layer), head=counted(place.head), key=key)


def edits_for(experiment: Experiment, config: Config, place: ExperimentPlace, kept: Edits = NO) -> Edits | str:
    """The edits of an experiment on a model, with those that are kept, or one plain sentence where it has no place."""
    added = experiment.edits(config, place)
    if isinstance(added, str):
        return NOTHING + added
    edits = together(kept, added)
    missing = next(complaints(edits, config, {}), None)
    return edits if missing is None else f"{NOTHING}it {missing}."


def together(kept: Edits, added: Edits) -> Edits:
    """Two edits in one; a number of the second takes the place of the first's. InputError where they contradict."""
    numbers = {name: value for name in ("scale", "temperature") if (value := getattr(added, name)) != getattr(NO, name)}
    sets = {name: value | getattr(kept, name) for name, value in vars(added).items() if isinstance(value, frozenset)}
    return replace(kept, **sets, **numbers)


def edits_in_words(edits: Edits) -> str:
    """What edits change, in a few words."""
    return ", ".join(
        [*numbers_in_words(edits), *(IN_WORDS[name].format(len(sites)) for name, sites in sets_of(edits).items())]
    )


def numbers_in_words(edits: Edits) -> dict[str, str]:
    """The numbers that edits change, in words, with the name of each."""
    by_text = {} if edits.scale is None else {f"q·k × {edits.scale:g} in place of the model's scale": "scale"}
    return by_text if edits.temperature == 1 else by_text | {f"temperature {edits.temperature:g}": "temperature"}


def sets_of(edits: Edits) -> dict[str, frozenset]:
    """The sets of places that edits change."""
    return {name: value for name, value in vars(edits).items() if isinstance(value, frozenset) and value}


def sublayer_name(site: HeadSite | SublayerSite, sublayer: str) -> str:
    """ "layer 2's attention (encoder)"."""
    return f"layer {counted(site.layer)}'s {SUBLAYERS[sublayer]} ({site.stack})"


def hidden_key_name(key: HiddenKey) -> str:
    """ "no head may look at token 9 (encoder)"."""
    heads = "cross-attention head" if key.attention == "cross" else "head"
    return f"no {heads} may look at token {counted(key.position)} ({key.key_stack})"


def without(edits: Edits, name: str, rest: Any) -> Edits:
    """The edits with a part of one kind left."""
    return replace(edits, **{name: rest})


def kept_parts(edits: Edits) -> Iterator[tuple[str, Edits]]:
    """Each part of edits, in words, with the edits that are left without it; a head or layer is a part of its own."""
    for words, name in numbers_in_words(edits).items():
        yield words, without(edits, name, getattr(NO, name))
    for name, sites in sets_of(edits).items():
        if name in EACH_IN_WORDS and len(sites) <= MOST_APART:
            for site in sorted(sites):
                yield EACH_IN_WORDS[name](site), without(edits, name, sites - {site})
        else:
            yield IN_WORDS[name].format(len(sites)), without(edits, name, frozenset())


def unscaled(config: Config, place: ExperimentPlace) -> Edits | str:
    """q·k as it is, in every attention."""
    if config.score_scale == 1 and not config.score_scale_by_layer:
        return "it never divides q·k by √d_k; its weights were trained to do without."
    return Edits(scale=1.0)


def unmasked(config: Config, place: ExperimentPlace) -> Edits | str:
    """No mask in the decoder."""
    if not config.has_decoder:
        return "its encoder has no mask, because every token sees every other; try the causal mask."
    return Edits(unmasked=frozenset({"decoder"}))


def causal(config: Config, place: ExperimentPlace) -> Edits | str:
    """A causal mask in the encoder."""
    if not config.has_encoder:
        return "its decoder has a causal mask already; try it without the mask."
    return Edits(causal=frozenset({"encoder"}))


def without_norm(config: Config, place: ExperimentPlace) -> Edits | str:
    """No norm in any stack."""
    sites = [
        NormSite(site.stack, site.layer, site.sublayer, side)
        for _, site in every_sublayer(config)
        for side in ("before", "after")
    ]
    sites += [NormSite(stack, None, name) for stack in config.stacks for name in ("embedding", "final")]
    return Edits(without_norm=frozenset(site for site in sites if has_norm(config, site)))


def uniform(config: Config, place: ExperimentPlace) -> Edits | str:
    """Equal weights in every head of every attention."""
    sites = [
        HeadSite(site.stack, site.layer, head, site.sublayer)
        for sizes, site in every_sublayer(config)
        if site.sublayer != "feed-forward"
        for head in range(sizes.heads)
    ]
    return Edits(uniform=frozenset(sites))


def every_sublayer(config: Config) -> Iterator[tuple[Config, SublayerSite]]:
    """Every sublayer of every layer of every stack, with the config that has the sizes of its stack."""
    for stack in config.stacks:
        sizes = sizes_of(config, stack)
        assert sizes is not None
        for layer in range(sizes.layers):
            for sublayer in sublayers(config, stack):
                yield sizes, SublayerSite(stack, layer, sublayer)


EXPERIMENTS: dict[str, Experiment] = {
    "scale": Experiment(
        name="No scaling of the scores",
        explained=(
            "A score is the product q·k divided by √d_k, where d_k is the number of coordinates of a head. The "
            "product is a sum of d_k terms, so it spreads more widely the more terms there are; the division removes "
            "that growth. Here q·k enters the softmax undivided, in every attention of the model."
        ),
        look_for=(
            "Rows with one dark cell and little beside it. From scores that are far apart, the softmax gives nearly "
            "all weight to the largest, and a head can no longer divide its attention by degrees."
        ),
        edits=unscaled,
        instead="spread",
        effect=of_widths,
        part="the scale",
        unmoved="The answer does not depend on how evenly the weights spread: larger scores lead to it too.",
    ),
    "positions": Experiment(
        name="No positions",
        explained=(
            "Attention compares tokens, not positions: its sums have no order. The order comes only from the "
            "positions: vectors that are added to the tokens, rotations of queries and keys, or a bias on the "
            "scores. Here they are left out everywhere; the same token is the same vector wherever it stands."
        ),
        look_for=(
            "Patterns such as “the previous token” that fall apart. Where a text contains a token twice, and no mask "
            "lets one of the two see more than the other, their rows become equal, and so do their columns."
        ),
        edits=lambda config, place: Edits(unpositioned=frozenset(config.stacks)),
        instead="scale",
        effect=of_order,
        part="positions",
        unmoved=(
            "The model gives the same answer here without positions; with positions, another order may still matter."
        ),
    ),
    "shuffle": Experiment(
        name="Shuffled positions",
        explained=(
            "Every token keeps its word but gets another position, like a sentence that is read out in another "
            "order. The positions are those of the text, each used once; only their order differs."
        ),
        look_for=(
            "Diagonals that scatter: a head that looked at its neighbours now looks at the tokens that were given "
            "neighbouring positions. Heads that follow the words themselves stay nearly as they were."
        ),
        edits=lambda config, place: Edits(shuffled=frozenset(Shuffle(stack, SEED) for stack in config.stacks)),
        instead="scale",
        effect=of_neighbours,
        unmoved=(
            "This one shuffle of the positions does not change the answer; another order of the words themselves may."
        ),
    ),
    "unmask": Experiment(
        name="No mask",
        explained=(
            "A decoder writes from left to right, so a token may look only at itself and at earlier tokens: the "
            "causal mask sets the scores of later tokens to −∞. Here the mask is removed, and every token sees the "
            "whole text, including the words that it is supposed to predict."
        ),
        look_for="Weight above the diagonal, where there was none: queries that look at later tokens.",
        edits=unmasked,
        instead="causal",
        effect=of_masks,
        part="the causal mask",
        unmoved="Later tokens tell earlier tokens nothing that this answer needs.",
    ),
    "causal": Experiment(
        name="Causal mask",
        explained=(
            "An encoder reads a text as a whole: every token may look at every other. Here each token sees only "
            "itself and earlier tokens, as in a decoder, although the model was never trained that way."
        ),
        look_for=(
            "Nothing above the diagonal, and first rows that give all their weight to the few tokens that they still "
            "see. The model has to do without information from later words."
        ),
        edits=causal,
        instead="unmask",
        effect=of_masks,
        unmoved="Later tokens add nothing that this answer needs: for each token, the tokens before it are enough.",
    ),
    "residual": Experiment(
        name="No residual around layer {layer}'s attention",
        explained=(
            "The result of attention is added to the stream: the token keeps its vector and receives something in "
            "addition. Here, in the chosen layer, the result of attention replaces the stream, and the token's "
            "earlier vector is lost from there on."
        ),
        look_for=(
            "The layers after the chosen one, whose attention can compare only mixtures of tokens, and the jump of "
            "the distance at that layer."
        ),
        edits=lambda config, place: Edits(
            without_residual=frozenset({SublayerSite(place.stack, place.layer, place.sublayer)})
        ),
        effect=of_likeness,
        part="the residual of layer {layer}",
        unmoved="The earlier vectors of the tokens reach the answer through attention too.",
    ),
    "norm": Experiment(
        name="No norm",
        explained=(
            "A norm scales every vector to one length before a part of the model reads it (or after that part has "
            "added to it). Here every norm passes its input on unchanged, in every layer."
        ),
        look_for=(
            "Vectors that become shorter or longer: products of queries and keys grow with the square of that "
            "length, so attention becomes nearly even, or falls on single tokens."
        ),
        edits=without_norm,
        effect=of_lengths,
        part="norms",
        of_text=False,
        unmoved="The later parts give the same answer from vectors of another length.",
    ),
    "uniform": Experiment(
        name="Uniform attention: no choice of where to look",
        explained=(
            "Every query gives the same weight to all keys that its mask allows, in every head of every layer: "
            "attention becomes a plain average of the text. The model still has the words, the feed-forward layers "
            "and the value projections."
        ),
        look_for=(
            "Whether the prediction changes. If it does not, the model can judge this sentence without choosing "
            "where to look."
        ),
        edits=uniform,
        effect=of_uniform,
        part="a choice of where to look",
        unmoved="This text does not need a choice of where to look: a plain average gives the same answer.",
    ),
    "mute": Experiment(
        name="Mute head {head} of layer {layer}",
        explained=(
            "The context of one head, the weighted sum of its values, is set to zero before the layer's output "
            "projection joins the heads; everything else stays. Choose layer and head below. The result shows what "
            "the head contributes to this text while all others are in place."
        ),
        look_for=(
            "The chosen layer's weights stay as they are, because they are computed before; later layers may change, "
            "and the prediction with them. Most heads change it little."
        ),
        edits=lambda config, place: Edits(
            muted=frozenset({HeadSite(place.stack, place.layer, place.head, place.sublayer)})
        ),
        effect=of_heads,
        on_head=True,
        part="head {head} of layer {layer}",
        unmoved="This text does not need this head: other heads contribute the same, or nothing reads its result.",
    ),
    "hide": Experiment(
        name="Forbid looking at {key}",
        explained=(
            "In one attention, no head of any layer may look at one token, and the token itself may not either: its "
            "score is set to −∞ before the softmax, so the other keys share its weight. The token is still there, "
            "and a part that reads the whole text at the end still reads it. Choose the token below."
        ),
        look_for=(
            "Whether the prediction changes more than when a head that looks at the token is muted. Another head can "
            "replace a muted head; a token that no head may look at is lost to all other tokens."
        ),
        edits=lambda config, place: Edits(hidden=frozenset({HiddenKey(place.stack, place.key, place.sublayer)})),
        effect=of_heads,
        on_key=True,
        unmoved=(
            "No other token needs to look at this one: its information is found elsewhere, or read off it directly."
        ),
    ),
}
