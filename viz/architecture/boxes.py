"""What stands in the map of a model, from the bottom to the top: boxes with their shapes and parameters.

Everything is read off the config and the lengths of a text. Where norms stand, what positions act on and which table
the output shares is what the model's own parts do; a test compares the order with a real pass.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from model import Config
from model.edits.checks import SIDES, sizes_of, sublayers
from model.measures.learn.sizes.parameters import SUBLAYER_PARTS, Part, parts_of
from model.trace import Trace
from viz.tokens import list_of, visible

NORM_NAMES = {"layer": "LayerNorm", "rms": "RMSNorm"}
ADDED = {
    "sinusoidal": "sines and cosines",
    "sinusoidal-halves": "sines and cosines",
    "learned": "a learned vector each",
    "counted": "a learned vector each",
}
IN_ATTENTION = {
    "rotary": ("Rotary positions", "rotate queries and keys"),
    "relative": ("Relative positions", "one bias table, all layers"),
    "alibi": ("ALiBi positions", "lower scores by distance"),
}
ACTIVATIONS = {"relu": "ReLU", "gelu": "GELU", "gelu-tanh": "GELU", "silu": "SiLU"}
POOLINGS = {"mean": "mean of all tokens", "first-tanh": "first token, tanh", "first-relu": "first token, ReLU"}
MOST_LABELS = 3


@dataclass(frozen=True, kw_only=True)
class Lengths:
    """How many tokens each stack reads; None: not known, and a letter stands for it."""

    encoder: int | None = None
    decoder: int | None = None

    @classmethod
    def of(cls, trace: Trace) -> "Lengths":
        """Those of a trace."""
        encoder, decoder = (None if stack is None else len(stack.ids) for stack in (trace.encoder, trace.decoder))
        return cls(encoder=encoder, decoder=decoder)

    def symbol(self, stack: str) -> str:
        """ "19", or "n" for the text that is read and "m" for the one that is written."""
        length = getattr(self, stack)
        return f"{length:,}" if length is not None else "m" if stack == "decoder" else "n"


@dataclass(frozen=True, kw_only=True)
class Box:
    """One box.

    name: by which it is lit and linked, "encoder.self_attention". kind: which of the looks it has, and what it opens.
    lines: what it does, and with what sizes. parameters: of one copy. shape: of what leaves it, where that is written.
    copies: how many there are, in as many layers; 1 for what all layers share, wherever it is drawn.
    """

    name: str
    kind: str
    title: str
    lines: tuple[str, ...] = ()
    parameters: int = 0
    copies: int = 1
    shape: str = ""

    @property
    def total(self) -> int:
        """The parameters of all copies."""
        return self.parameters * self.copies


@dataclass(frozen=True, kw_only=True)
class Sublayer:
    """What stands between two points of the stream. boxes: in the order of the pass; the last adds to the stream.

    parallel: whether all sublayers of the layer read the same stream.
    """

    name: str
    boxes: tuple[Box, ...]
    parallel: bool = False


@dataclass(frozen=True, kw_only=True)
class Column:
    """One stack: what comes before its layers, one layer, how often there is one, and what comes after."""

    stack: str
    tokens: str
    width: int
    before: tuple[Box, ...]
    layer: tuple[Sublayer, ...]
    layers: int
    after: tuple[Box, ...]

    @property
    def layer_boxes(self) -> tuple[Box, ...]:
        """The boxes of one layer."""
        return tuple(box for sublayer in self.layer for box in sublayer.boxes)

    @property
    def boxes(self) -> tuple[Box, ...]:
        """All, in the order of the pass."""
        return (*self.before, *self.layer_boxes, *self.after)

    @property
    def each_layer(self) -> int:
        """The parameters of one layer, without what all layers share."""
        return sum(box.parameters for box in self.layer_boxes if box.copies == self.layers)


@dataclass(frozen=True, kw_only=True)
class ModelMap:
    """The stacks from left to right; the last one ends in the model's answer."""

    columns: tuple[Column, ...]

    @property
    def boxes(self) -> tuple[Box, ...]:
        """All, in the order of the pass."""
        return tuple(box for column in self.columns for box in column.boxes)

    @property
    def parameters(self) -> int:
        """All parameters; what is shared counts once."""
        return sum(box.total for box in self.boxes)


def map_of(config: Config, lengths: Lengths | None = None) -> ModelMap:
    """The map of a model that reads texts of these lengths."""
    lengths = lengths or Lengths()
    counts = {(part.stack, part.name): part for part in parts_of(config)}
    columns = [StackBoxes(config, stack, counts, lengths).column() for stack in config.stacks]
    last = config.stacks[-1]
    head = tuple(answer_boxes(config, counts, lengths.symbol(last)))
    return ModelMap(columns=(*columns[:-1], replace(columns[-1], after=(*columns[-1].after, *head))))


class StackBoxes:
    """The boxes of one stack."""

    def __init__(self, config: Config, stack: str, counts: Mapping[tuple[str, str], Part], lengths: Lengths) -> None:
        sizes = sizes_of(config, stack)
        assert sizes is not None
        self.sizes, self.stack, self.counts = sizes, stack, counts
        self.shares_table = stack != config.stacks[0] and config.share_embeddings
        self.queries, self.memory = lengths.symbol(stack), lengths.symbol("encoder")
        self.stream = f"{self.queries} × {sizes.width:,}"

    def column(self) -> Column:
        """All of them."""
        return Column(
            stack=self.stack,
            tokens=self.queries,
            width=self.sizes.width,
            before=tuple(self.before()),
            layer=tuple(self.sublayer(name) for name in sublayers(self.sizes, self.stack)),
            layers=self.sizes.layers,
            after=tuple(self.after()),
        )

    def box(self, name: str, kind: str, title: str, *lines: str, part: str = "", shape: str = "") -> Box:
        """One box with the parameters of a part, that of its name where no other is told."""
        own = self.counts.get((self.stack, part or name))
        counts = {"parameters": own.each, "copies": own.copies} if own else {}
        return Box(name=f"{self.stack}.{name}", kind=kind, title=title, lines=lines, shape=shape, **counts)

    def before(self) -> Iterator[Box]:
        """From the ids to what enters the first layer."""
        scaled = f"× √{self.sizes.width:,}" if self.sizes.scale_embeddings else ""
        table = (
            "the encoder's table" if self.shares_table else f"table {self.sizes.vocabulary:,} × {self.sizes.width:,}"
        )
        yield self.box("embedding", "embedding", "Token embedding", *filter(None, (table, scaled)), shape=self.stream)
        if self.sizes.segments:
            yield self.box("segments", "positions", "+ Segment embedding", f"{self.sizes.segments} kinds of text")
        if self.sizes.positions in ADDED:
            yield self.box("positions", "positions", "+ Positions", ADDED[self.sizes.positions], shape=self.stream)
        if self.sizes.embedding_norm:
            yield self.norm("embedding_norm", shape=self.stream)

    def norm(self, name: str, *, shape: str = "") -> Box:
        return self.box(name, "norm", NORM_NAMES[self.sizes.norm], shape=shape)

    def sublayer(self, sublayer: str) -> Sublayer:
        """A sublayer with its norms and the place where it adds to the stream."""
        name, order = SUBLAYER_PARTS[sublayer], self.sizes.norm_order
        own = self.feed_forward() if sublayer == "feed-forward" else self.attention(name)
        norm_before, norm_after = f"{name}.norm_before", f"{name}.norm_after"
        before = [self.norm(norm_before)] if "before" in SIDES[order] else []
        if order == "post":
            norm = NORM_NAMES[self.sizes.norm]
            end = [self.box(f"{name}.add", "add", f"Add & {norm}", part=norm_after)]
        else:
            after = [self.norm(norm_after)] if "after" in SIDES[order] else []
            end = [*after, self.box(f"{name}.add", "add", "Add")]
        boxes = (*before, *own, *end)
        return Sublayer(name=name, boxes=boxes, parallel=order == "parallel")

    def attention(self, name: str) -> list[Box]:
        """An attention, and under it what positions do in it."""
        sizes, is_cross = self.sizes, name == "cross_attention"
        title = "Cross-attention" if is_cross else "Masked self-attention" if self.is_masked else "Self-attention"
        keys = self.memory if is_cross else self.queries
        groups = f"{sizes.kv_heads:,} of keys and values" if sizes.kv_heads not in (None, sizes.heads) else ""
        window = "" if is_cross else self.window()
        lines = (f"{sizes.heads:,} heads, {self.queries} × {keys} weights", groups, window)
        box = self.box(name, "attention", title, *filter(None, lines))
        if is_cross or sizes.positions not in IN_ATTENTION:
            return [box]
        title, line = IN_ATTENTION[sizes.positions]
        return [self.box("positions", "inner_positions", title, line), box]

    @property
    def is_masked(self) -> bool:
        return self.stack == "decoder"

    def window(self) -> str:
        """Which layers see no further than their window."""
        layers = self.sizes.windowed_layers
        if not layers:
            return ""
        those = "all layers" if len(layers) == self.sizes.layers else f"layer {list_of(layers)}"
        return f"window of {self.sizes.window:,} in {those}"

    def feed_forward(self) -> list[Box]:
        sizes = self.sizes
        activation = f"gated {ACTIVATIONS[sizes.activation]}" if sizes.gated else ACTIVATIONS[sizes.activation]
        inner = f"{sizes.width:,} → {sizes.hidden:,} → {sizes.width:,}"
        return [self.box("feed_forward", "feed_forward", "Feed-forward", inner, activation)]

    def after(self) -> Iterator[Box]:
        """After the last layer."""
        if self.sizes.norm_order != "post":
            yield self.norm("norm", shape=self.stream)


def answer_boxes(config: Config, counts: Mapping[tuple[str, str], Part], tokens: str) -> Iterator[Box]:
    """From the last state to what the model says."""
    stack, width = config.stacks[-1], f"{config.width:,}"

    def box(name: str, kind: str, title: str, *lines: str, shape: str = "") -> Box:
        part = counts.get((stack, name))
        return Box(name=name, kind=kind, title=title, lines=lines, shape=shape, parameters=part.each if part else 0)

    if config.labels or config.pooling.startswith("first"):
        yield box("pooling", "output", "Pooling", POOLINGS[config.pooling], shape=width)
    if config.labels:
        yield box("classifier", "output", "Classifier", labels_in_words(config.labels), shape=f"{len(config.labels):,}")
        yield box("probabilities", "softmax", "Softmax")
    if config.word_head:
        yield box("word_head", "output", "Head for masked words", f"{width} → {width}", shape=f"{tokens} × {width}")
    if config.has_decoder or config.word_head:
        table = "the embedding's own table" if config.tie_embeddings else f"table {config.vocabulary:,} × {width}"
        shape = f"{tokens} × {config.vocabulary:,}"
        yield box("projection", "output", "Projection to the vocabulary", table, shape=shape)
        yield box("probabilities", "softmax", "Softmax")


def labels_in_words(labels: Sequence[str]) -> str:
    """ "negative or positive", "5 labels"."""
    if len(labels) > MOST_LABELS:
        return f"{len(labels):,} labels"
    return " or ".join(visible(label) for label in labels)
