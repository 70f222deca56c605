"""Which parts a Transformer is made of, and their sizes. It lives as JSON beside the weights."""

import dataclasses
from dataclasses import dataclass
from typing import Any

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
OPTIONAL_SIZES = (
    "decoder_heads", "decoder_hidden", "kv_heads", "head_size", "window", "rotary_width", "rotary_original_length",
    "relative_buckets", "relative_distance",
)  # fmt: skip
POSITIVE_NUMBERS = (
    "score_scale", "score_cap", "rotary_base", "rotary_window_base", "rotary_factor", "rotary_low", "rotary_high",
    "output_scale", "logit_cap",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Config:
    """Sizes and parts of one Transformer.

    Raises ValueError, as "field: found …, expected …", where a value is of the wrong type or out of range.
    """

    architecture: str  # one of ARCHITECTURES
    vocabulary: int
    width: int
    heads: int
    layers: int  # in each stack
    hidden: int  # inner width of the feed-forward layers
    max_length: int  # positions that a stack accepts

    # a decoder that differs from its encoder; None: it does not
    decoder_layers: int | None = None
    decoder_heads: int | None = None
    decoder_hidden: int | None = None

    # attention
    kv_heads: int | None = None  # heads of keys and values, shared by groups of query heads; None: one each
    head_size: int | None = None  # None: width / heads
    score_scale: float | None = None  # what q·k is multiplied by; None: 1/√head_width
    score_scale_by_layer: bool = False  # beside that by 1 / (layer + 1), as GPT-2's scale_attn_by_inverse_layer_idx
    score_cap: float | None = None  # scores are cap · tanh(score / cap)
    query_key_norm: bool = False  # an RMS norm over each head's queries and keys
    projection_bias: bool = True  # of queries, keys and values
    output_bias: bool = True
    attention_dropout: float = 0.0  # on the attention weights
    window: int | None = None  # how many positions, itself included, a token of a windowed layer sees
    windowed_layers: tuple[int, ...] = ()

    # positions
    positions: str = "sinusoidal"
    position_offset: int = 0  # row of the learned table that the first token gets
    rotary_base: float = 10_000.0
    rotary_window_base: float | None = None  # in windowed layers; None: the same
    rotary_width: int | None = None  # how much of a head turns; None: all
    rotary_scaling: str = "none"  # in layers without a window
    rotary_factor: float = 1.0
    rotary_low: float = 1.0  # of "llama3", as are the next two
    rotary_high: float = 4.0
    rotary_original_length: int = 8192
    relative_buckets: int = 32
    relative_distance: int = 128

    # norms and feed-forward
    norm: str = "layer"
    norm_order: str = "post"
    norm_epsilon: float = 1e-5
    embedding_norm: bool = False
    activation: str = "relu"
    gated: bool = False
    hidden_bias: bool = True  # of the feed-forward layers
    dropout: float = 0.1  # on the embeddings and on every sublayer's output

    # embeddings and what is read off the last state
    segments: int = 0  # kinds of text that a token may belong to; 0: the model does not tell them apart
    scale_embeddings: bool = True  # token vectors × √width
    share_embeddings: bool = True  # source and target have one token table
    tie_embeddings: bool = True  # the projection to the vocabulary is the token table
    word_head: bool = False  # an encoder that predicts masked words
    vocabulary_bias: bool = False  # of the projection to the vocabulary
    output_scale: float = 1.0  # of the state that is projected to the vocabulary
    logit_cap: float | None = None
    pooling: str = "mean"
    labels: tuple[str, ...] = ()  # an encoder's classes; none: no classifier

    pad_id: int = 0
    start_id: int | None = None  # what a decoder's text starts with
    end_id: int | None = None  # what ends it

    def __post_init__(self) -> None:
        self._check_types()
        self._check_choices()
        self._check_ranges()
        self._check_together()

    def _check_types(self) -> None:
        kinds: dict[str, Any] = {
            "str": str,
            "int": int,
            "float": (int, float),
            "bool": bool,
            "int | None": (int, type(None)),
            "float | None": (int, float, type(None)),
        }
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name == "labels":
                right = isinstance(value, tuple) and all(type(label) is str and label for label in value)
                expect(right, "labels", value, "a list of non-empty strings")
                continue
            if field.name == "windowed_layers":
                right = isinstance(value, tuple) and all(type(layer) is int for layer in value)
                expect(right, "windowed_layers", value, "a list of layers")
                continue
            name = field.type.__name__ if isinstance(field.type, type) else str(field.type)
            right = isinstance(value, kinds[name]) and (isinstance(value, bool) == (name == "bool"))
            expect(right, field.name, value, f"a value of type {name}")

    def _check_choices(self) -> None:
        choices = {
            "architecture": ARCHITECTURES,
            "positions": POSITIONS,
            "norm": NORMS,
            "norm_order": NORM_ORDERS,
            "activation": ACTIVATIONS,
            "pooling": POOLINGS,
            "rotary_scaling": ROTARY_SCALINGS,
        }
        for name, allowed in choices.items():
            expect(getattr(self, name) in allowed, name, getattr(self, name), "one of " + ", ".join(allowed))

    def _check_ranges(self) -> None:
        for name in ("vocabulary", "width", "heads", "hidden", "max_length"):
            value = getattr(self, name)
            expect(1 <= value <= LARGEST_SIZE, name, value, f"1 to {LARGEST_SIZE:,}")
        for name in OPTIONAL_SIZES:
            value = getattr(self, name)
            expect(value is None or 1 <= value <= LARGEST_SIZE, name, value, f"nothing, or 1 to {LARGEST_SIZE:,}")
        for name in ("position_offset", "segments"):
            expect(0 <= getattr(self, name) <= LARGEST_SIZE, name, getattr(self, name), f"0 to {LARGEST_SIZE:,}")
        for name in ("layers", "decoder_layers"):
            value = getattr(self, name)
            expect(value is None or 1 <= value <= LARGEST_LAYERS, name, value, f"1 to {LARGEST_LAYERS}")
        for name in ("dropout", "attention_dropout"):
            expect(0 <= getattr(self, name) < 1, name, getattr(self, name), "at least 0 and below 1")
        expect(0 < self.norm_epsilon <= 0.1, "norm_epsilon", self.norm_epsilon, "above 0 and at most 0.1")
        for name in POSITIVE_NUMBERS:
            value = getattr(self, name)
            right = value is None or LEAST_NUMBER <= value <= LARGEST_NUMBER
            expect(right, name, value, f"{LEAST_NUMBER:g} to {LARGEST_NUMBER:g}")
        for name in ("pad_id", "start_id", "end_id"):
            value = getattr(self, name)
            expect(value is None or 0 <= value < self.vocabulary, name, value, f"an id below {self.vocabulary}")

    def _check_together(self) -> None:
        if self.head_size is None:
            for name in ("heads", "decoder_heads"):
                value = getattr(self, name)
                expect(value is None or self.width % value == 0, name, value, f"a divisor of width {self.width}")
        if self.kv_heads is not None:
            expect(self.heads % self.kv_heads == 0, "kv_heads", self.kv_heads, f"a divisor of {self.heads} heads")
        if self.positions == "rotary":
            turned, high = self.rotary_width or self.head_width, self.rotary_high
            right = turned % 2 == 0 and turned <= self.head_width
            expect(right, "rotary_width", turned, f"an even number up to the head's width {self.head_width}")
            expect(high > self.rotary_low, "rotary_high", high, f"above rotary_low {self.rotary_low}")
        if self.positions == "relative":
            buckets, distance = self.relative_buckets, self.relative_distance
            expect(buckets % 4 == 0, "relative_buckets", buckets, "a multiple of 4")
            expect(distance > buckets // 2, "relative_distance", distance, f"more than half of {buckets} buckets")
        if self.windowed_layers:
            expect(self.window is not None, "window", None, "a size, for there are windowed_layers")
        self._check_heads()

    def _check_heads(self) -> None:
        expect(len(set(self.labels)) == len(self.labels), "labels", self.labels, "labels that differ")
        expect(len(self.labels) != 1, "labels", self.labels, "none, or two and more")
        if self.has_decoder:
            expect(not self.labels, "labels", self.labels, f"none in architecture {self.architecture}")
            expect(not self.word_head, "word_head", self.word_head, f"false in architecture {self.architecture}")
        expect(not (self.labels and self.word_head), "word_head", self.word_head, "false beside labels")
        expect(not self.labels or self.pooling != "none", "pooling", self.pooling, "another, for there are labels")
        if self.is_encoder_decoder:
            for name in ("start_id", "end_id"):
                expect(getattr(self, name) is not None, name, None, "an id in architecture encoder-decoder")

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

    @property
    def head_width(self) -> int:
        """What one head sees of the stream."""
        return self.width // self.heads if self.head_size is None else self.head_size

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
        known = {field.name: field for field in dataclasses.fields(cls)}
        for name in values:
            expect(name in known, name, values[name], "no such field")
        for name, field in known.items():
            needed = field.default is dataclasses.MISSING
            expect(name in values or not needed, name, "nothing", "a value")
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


def expect(right: bool, field: str, found: object, expected: str) -> None:
    """ValueError "field: found …, expected …" unless it is right."""
    if not right:
        raise ValueError(f"{printable(field)}: found {printable(found)!r}, expected {expected}")
