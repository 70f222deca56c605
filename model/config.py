"""Which parts a Transformer is made of, and their sizes. It lives as JSON beside the weights."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

from model.errors import printable

ARCHITECTURES = ("encoder", "decoder", "encoder-decoder")
POSITIONS = ("sinusoidal", "sinusoidal-halves", "learned", "counted", "rotary", "relative", "alibi", "none")
NORMS = ("layer", "rms")
NORM_ORDERS = ("post", "pre", "both", "parallel")
ACTIVATIONS = ("relu", "gelu", "gelu-tanh", "silu")
POOLINGS = ("mean", "first-tanh", "first-relu", "none")
ROTARY_SCALINGS = ("none", "linear", "llama3")

# Far above any model that fits this project's memory budget; they keep a hostile file from costing time.
LARGEST_SIZE = 1_000_000
LARGEST_LAYERS = 256
LEAST_NUMBER, LARGEST_NUMBER = 1e-6, 1e12
LISTS = ("labels", "windowed_layers")


class Rule(NamedTuple):
    """What a value must be besides being of its type: the check, and how an error says it."""

    holds: Callable[[Any], bool]
    expected: str


def one_of(names: tuple[str, ...]) -> Rule:
    return Rule(lambda value: value in names, "one of " + ", ".join(names))


def between(least: int | float, largest: int | float, expected: str) -> Rule:
    return Rule(lambda value: least <= value <= largest, expected)


# The types of the fields below. Where several fields break their rules, the type that comes first here is reported.
Architecture = Annotated[str, one_of(ARCHITECTURES)]
PositionScheme = Annotated[str, one_of(POSITIONS)]
Norm = Annotated[str, one_of(NORMS)]
NormOrder = Annotated[str, one_of(NORM_ORDERS)]
Activation = Annotated[str, one_of(ACTIVATIONS)]
Pooling = Annotated[str, one_of(POOLINGS)]
RotaryScaling = Annotated[str, one_of(ROTARY_SCALINGS)]
Size = Annotated[int, between(1, LARGEST_SIZE, f"1 to {LARGEST_SIZE:,}")]
PartSize = Annotated[int, between(1, LARGEST_SIZE, f"nothing, or 1 to {LARGEST_SIZE:,}")]  # of what may be absent
Count = Annotated[int, between(0, LARGEST_SIZE, f"0 to {LARGEST_SIZE:,}")]
Layers = Annotated[int, between(1, LARGEST_LAYERS, f"1 to {LARGEST_LAYERS}")]
Dropout = Annotated[float, Rule(lambda share: 0 <= share < 1, "at least 0 and below 1")]
Epsilon = Annotated[float, Rule(lambda value: 0 < value <= 0.1, "above 0 and at most 0.1")]
Positive = Annotated[float, between(LEAST_NUMBER, LARGEST_NUMBER, f"{LEAST_NUMBER:g} to {LARGEST_NUMBER:g}")]
RULED_TYPES: tuple[Any, ...] = (
    Architecture, PositionScheme, Norm, NormOrder, Activation, Pooling, RotaryScaling, Size, PartSize, Count, Layers,
    Dropout, Epsilon, Positive,
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class SizeFields:
    """Which stacks there are, and how large they are."""

    architecture: Architecture
    vocabulary: Size
    width: Size
    heads: Size
    layers: Layers  # in each stack
    hidden: Size  # inner width of the feed-forward layers
    max_length: Size  # positions that a stack accepts

    @property
    def stacks(self) -> tuple[str, ...]:
        """The stacks that there are, in the order of the pass: "encoder", "decoder", or both."""
        return tuple(self.architecture.split("-"))

    @property
    def has_encoder(self) -> bool:
        """Whether an encoder reads the text."""
        return "encoder" in self.stacks

    @property
    def has_decoder(self) -> bool:
        """Whether tokens are predicted one after the other."""
        return "decoder" in self.stacks

    @property
    def is_encoder_decoder(self) -> bool:
        """Whether a decoder looks at an encoder's output."""
        return self.has_encoder and self.has_decoder


@dataclass(frozen=True, kw_only=True)
class DecoderFields(SizeFields):
    """The sizes of a decoder that differs from its encoder; None: it does not."""

    decoder_layers: Layers | None = None
    decoder_heads: PartSize | None = None
    decoder_hidden: PartSize | None = None


@dataclass(frozen=True, kw_only=True)
class AttentionFields(DecoderFields):
    """How queries, keys and values are made, how they become weights, and how far a layer looks."""

    kv_heads: PartSize | None = None  # heads of keys and values, shared by groups of query heads; None: one each
    head_size: PartSize | None = None  # None: width / heads
    score_scale: Positive | None = None  # what q·k is multiplied by; None: 1/√head_width
    score_scale_by_layer: bool = False  # beside that by 1 / (layer + 1), as GPT-2's scale_attn_by_inverse_layer_idx
    score_cap: Positive | None = None  # scores are cap · tanh(score / cap)
    query_key_norm: bool = False  # an RMS norm over each head's queries and keys
    projection_bias: bool = True  # of queries, keys and values
    output_bias: bool = True
    attention_dropout: Dropout = 0.0  # on the attention weights
    window: PartSize | None = None  # how many positions, itself included, a token of a windowed layer sees
    windowed_layers: tuple[int, ...] = ()

    @property
    def head_width(self) -> int:
        """What one head sees of the stream."""
        return self.width // self.heads if self.head_size is None else self.head_size

    def _check_heads(self) -> None:
        if self.head_size is None:
            for name in ("heads", "decoder_heads"):
                value = getattr(self, name)
                expect(value is None or self.width % value == 0, name, value, f"a divisor of width {self.width}")
        if self.kv_heads is not None:
            expect(self.heads % self.kv_heads == 0, "kv_heads", self.kv_heads, f"a divisor of {self.heads} heads")

    def _check_window(self) -> None:
        if self.windowed_layers:
            expect(self.window is not None, "window", None, "a size, for there are windowed_layers")


@dataclass(frozen=True, kw_only=True)
class PositionFields(AttentionFields):
    """How the model knows where a token stands; the fields of a scheme count for that scheme alone."""

    positions: PositionScheme = "sinusoidal"
    position_offset: Count = 0  # row of the learned table that the first token gets
    rotary_base: Positive = 10_000.0
    rotary_window_base: Positive | None = None  # in windowed layers; None: the same
    rotary_width: PartSize | None = None  # how much of a head is rotated; None: all
    rotary_scaling: RotaryScaling = "none"  # in layers without a window
    rotary_factor: Positive = 1.0
    rotary_low: Positive = 1.0  # of "llama3", as are the next two
    rotary_high: Positive = 4.0
    rotary_original_length: PartSize = 8192
    relative_buckets: PartSize = 32
    relative_distance: PartSize = 128

    def _check_positions(self) -> None:
        if self.positions == "rotary":
            rotated, high = self.rotary_width or self.head_width, self.rotary_high
            right = rotated % 2 == 0 and rotated <= self.head_width
            expect(right, "rotary_width", rotated, f"an even number up to the head's width {self.head_width}")
            expect(high > self.rotary_low, "rotary_high", high, f"above rotary_low {self.rotary_low}")
        if self.positions == "relative":
            buckets, distance = self.relative_buckets, self.relative_distance
            expect(buckets % 4 == 0, "relative_buckets", buckets, "a multiple of 4")
            expect(distance > buckets // 2, "relative_distance", distance, f"more than half of {buckets} buckets")


@dataclass(frozen=True, kw_only=True)
class BlockFields:
    """The norms and the feed-forward layers of a block, and its dropout."""

    norm: Norm = "layer"
    norm_order: NormOrder = "post"
    norm_epsilon: Epsilon = 1e-5
    embedding_norm: bool = False
    activation: Activation = "relu"
    gated: bool = False
    hidden_bias: bool = True  # of the feed-forward layers
    dropout: Dropout = 0.1  # on the embeddings and on every sublayer's output


@dataclass(frozen=True, kw_only=True)
class OutputFields(SizeFields):
    """What a token becomes before the first block, and what is read off the last state."""

    segments: Count = 0  # kinds of text that a token may belong to; 0: the model does not tell them apart
    scale_embeddings: bool = True  # token vectors × √width
    share_embeddings: bool = True  # source and target have one token table
    tie_embeddings: bool = True  # the projection to the vocabulary is the token table
    word_head: bool = False  # an encoder that predicts masked words
    vocabulary_bias: bool = False  # of the projection to the vocabulary
    output_scale: Positive = 1.0  # of the state that is projected to the vocabulary
    logit_cap: Positive | None = None
    pooling: Pooling = "mean"
    labels: tuple[str, ...] = ()  # an encoder's classes; none: no classifier

    def _check_output(self) -> None:
        expect(len(set(self.labels)) == len(self.labels), "labels", self.labels, "labels that differ")
        expect(len(self.labels) != 1, "labels", self.labels, "none, or two and more")
        if self.has_decoder:
            expect(not self.labels, "labels", self.labels, f"none in architecture {self.architecture}")
            expect(not self.word_head, "word_head", self.word_head, f"false in architecture {self.architecture}")
        expect(not (self.labels and self.word_head), "word_head", self.word_head, "false beside labels")
        expect(not self.labels or self.pooling != "none", "pooling", self.pooling, "another, for there are labels")


@dataclass(frozen=True, kw_only=True)
class IdFields(SizeFields):
    """The ids of the special tokens."""

    pad_id: int = 0
    start_id: int | None = None  # what a decoder's text starts with
    end_id: int | None = None  # what ends it

    def _check_ids(self) -> None:
        for name in ("pad_id", "start_id", "end_id"):
            value = getattr(self, name)
            expect(value is None or 0 <= value < self.vocabulary, name, value, f"an id below {self.vocabulary}")

    def _check_start_and_end(self) -> None:
        if self.is_encoder_decoder:
            for name in ("start_id", "end_id"):
                expect(getattr(self, name) is not None, name, None, "an id in architecture encoder-decoder")


# The groups stand from the last to the first, because the fields of a dataclass begin with those of its last base.
@dataclass(frozen=True, kw_only=True)
class Config(IdFields, OutputFields, BlockFields, PositionFields):
    """Sizes and parts of one Transformer: the fields of the groups above, side by side.

    Raises ValueError, as "field: found …, expected …", where a value is of the wrong type or out of range.
    """

    def __post_init__(self) -> None:
        self._check_types()
        self._check_rules()
        self._check_ids()
        self._check_heads()
        self._check_positions()
        self._check_window()
        self._check_output()
        self._check_start_and_end()

    def _check_types(self) -> None:
        for name, hint in field_types().items():
            (check_list if get_origin(hint) is tuple else check_type)(name, getattr(self, name), hint)

    def _check_rules(self) -> None:
        for name, rule in ruled_fields():
            value = getattr(self, name)
            expect(value is None or rule.holds(value), name, value, rule.expected)

    def of_decoder(self) -> "Config":
        """The config with the decoder's own sizes in place of the encoder's."""
        return dataclasses.replace(
            self,
            layers=self.decoder_layers or self.layers,
            heads=self.decoder_heads or self.heads,
            hidden=self.decoder_hidden or self.hidden,
        )

    def to_json(self) -> dict[str, Any]:
        """The fields as plain JSON values."""
        lists = {name: list(getattr(self, name)) for name in LISTS}
        return dataclasses.asdict(self) | lists

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Config":
        """The config that ``to_json`` wrote. ValueError for a field that is unknown, missing or wrong."""
        fields = {field.name: field for field in dataclasses.fields(cls)}
        for name in values:
            expect(name in fields, name, values[name], "no such field")
        for name, field in fields.items():
            required = field.default is dataclasses.MISSING
            expect(name in values or not required, name, "nothing", "a value")
        lists = {name: tuple(values[name]) for name in LISTS if isinstance(values.get(name), list)}
        return cls(**values | lists)

    @classmethod
    def paper_base(cls, vocabulary: int = 37_000, max_length: int = 512) -> "Config":
        """The base model of "Attention Is All You Need", table 3, with its shared vocabulary (section 5.1)."""
        return cls(
            architecture="encoder-decoder",
            vocabulary=vocabulary,
            width=512,
            heads=8,
            layers=6,
            hidden=2048,
            max_length=max_length,
            start_id=1,
            end_id=2,
        )


def expect(right: bool, field: str, value: object, expected: str) -> None:
    """ValueError "field: found …, expected …" unless it is right."""
    if not right:
        raise ValueError(f"{printable(field)}: found {printable(value)!r}, expected {expected}")


def check_type(name: str, value: object, hint: Any) -> None:
    """ValueError unless the value is of its field's type; an int may stand for a float, a bool for nothing else."""
    types = get_args(hint) or (hint,)
    right = isinstance(value, (*types, int) if float in types else types) and isinstance(value, bool) == (bool in types)
    names = ("None" if kind is type(None) else kind.__name__ for kind in types)
    expect(right, name, value, f"a value of type {' | '.join(names)}")


def check_list(name: str, value: object, hint: Any) -> None:
    """ValueError unless the value is a tuple of layers, or of strings none of which is empty."""
    kind = get_args(hint)[0]
    right = isinstance(value, tuple) and all(type(entry) is kind and entry != "" for entry in value)
    expect(right, name, value, "a list of layers" if kind is int else "a list of non-empty strings")


@cache
def field_types() -> dict[str, Any]:
    """The types of the fields without their rules; cached, because resolving them takes longer than every check."""
    return get_type_hints(Config)


@cache
def ruled_fields() -> list[tuple[str, Rule]]:
    """The fields that have a rule, in the order of RULED_TYPES."""
    hints = get_type_hints(Config, include_extras=True)
    return [
        (name, ruled.__metadata__[0])
        for ruled in RULED_TYPES
        for name, hint in hints.items()
        if ruled in (hint, *get_args(hint))
    ]
