"""Which parts a Transformer is made of, and their sizes. It lives as JSON beside the weights."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from model.errors import printable

ARCHITECTURES = ("encoder", "decoder", "encoder-decoder")
POSITIONS = ("sinusoidal", "learned", "none")
NORM_ORDERS = ("post", "pre")
ACTIVATIONS = ("relu", "gelu")

# Far above any model that fits this project's memory budget; they keep a hostile file from costing time.
LARGEST_SIZE = 1_000_000
LARGEST_LAYERS = 256


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
    positions: str = "sinusoidal"
    norm_order: str = "post"
    norm_epsilon: float = 1e-5
    activation: str = "relu"
    dropout: float = 0.1  # on the embeddings and on every sublayer's output
    attention_dropout: float = 0.0  # on the attention weights
    scale_embeddings: bool = True  # token vectors × √width
    tie_embeddings: bool = True  # source, target and output projection share one matrix
    labels: tuple[str, ...] = ()  # an encoder's classes; none: no head
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
        }
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name == "labels":
                right = isinstance(value, tuple) and all(type(label) is str and label for label in value)
                expect(right, "labels", value, "a list of non-empty strings")
                continue
            name = field.type.__name__ if isinstance(field.type, type) else str(field.type)
            right = isinstance(value, kinds[name]) and (isinstance(value, bool) == (name == "bool"))
            expect(right, field.name, value, f"a value of type {name}")

    def _check_choices(self) -> None:
        choices = {
            "architecture": ARCHITECTURES,
            "positions": POSITIONS,
            "norm_order": NORM_ORDERS,
            "activation": ACTIVATIONS,
        }
        for name, allowed in choices.items():
            expect(getattr(self, name) in allowed, name, getattr(self, name), "one of " + ", ".join(allowed))

    def _check_ranges(self) -> None:
        for name in ("vocabulary", "width", "heads", "hidden", "max_length"):
            value = getattr(self, name)
            expect(1 <= value <= LARGEST_SIZE, name, value, f"1 to {LARGEST_SIZE:,}")
        expect(1 <= self.layers <= LARGEST_LAYERS, "layers", self.layers, f"1 to {LARGEST_LAYERS}")
        for name in ("dropout", "attention_dropout"):
            expect(0 <= getattr(self, name) < 1, name, getattr(self, name), "at least 0 and below 1")
        expect(0 < self.norm_epsilon <= 0.1, "norm_epsilon", self.norm_epsilon, "above 0 and at most 0.1")
        for name in ("pad_id", "start_id", "end_id"):
            value = getattr(self, name)
            expect(value is None or 0 <= value < self.vocabulary, name, value, f"an id below {self.vocabulary}")

    def _check_together(self) -> None:
        expect(self.width % self.heads == 0, "heads", self.heads, f"a divisor of width {self.width}")
        expect(len(set(self.labels)) == len(self.labels), "labels", self.labels, "labels that differ")
        expect(len(self.labels) != 1, "labels", self.labels, "none, or two and more")
        if self.architecture != "encoder":
            expect(not self.labels, "labels", self.labels, f"none in architecture {self.architecture}")
        if self.architecture == "encoder-decoder":
            for name in ("start_id", "end_id"):
                expect(getattr(self, name) is not None, name, None, "an id in architecture encoder-decoder")

    @property
    def head_width(self) -> int:
        """What one head sees of the stream."""
        return self.width // self.heads

    def to_json(self) -> dict[str, Any]:
        """The fields as plain JSON values."""
        return dataclasses.asdict(self) | {"labels": list(self.labels)}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Config":
        """The config that ``to_json`` wrote. ValueError for a field that is unknown, missing or wrong."""
        known = {field.name: field for field in dataclasses.fields(cls)}
        for name in values:
            expect(name in known, name, values[name], "no such field")
        for name, field in known.items():
            needed = field.default is dataclasses.MISSING
            expect(name in values or not needed, name, "nothing", "a value")
        labels = values.get("labels", [])
        return cls(**values | {"labels": tuple(labels) if isinstance(labels, list) else labels})

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
