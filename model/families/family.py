"""What a family of foreign checkpoints is to us: how its config reads, and which stored tensor each of ours is."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from model.config import LARGEST_LAYERS, LARGEST_SIZE, Config, expect
from model.errors import CheckpointError, printable

LAYER = re.compile(r"(?<=blocks\.)\d+")


class Fields:
    """The fields of a foreign config.json, read by type and range.

    Every method takes the names of one field, new and old spelling, and uses the first that is there and not null.
    They raise ValueError, as "field: found …, expected …", and where a field without a default is missing.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values

    def find(self, *names: str) -> tuple[str, Any]:
        """The first of these fields that is there, and its value; the first name and None where none is."""
        return next(
            ((name, self.values[name]) for name in names if self.values.get(name) is not None), (names[0], None)
        )

    def size(self, *names: str, default: int | None = None, least: int = 1, largest: int = LARGEST_SIZE) -> int:
        """A whole number, from 1 unless told otherwise."""
        name, value = self.find(*names)
        value = default if value is None else value
        right = type(value) is int and least <= value <= largest
        expect(right, name, value, f"a whole number from {least} to {largest:,}")
        assert type(value) is int
        return value

    def layers(self, *names: str, default: int | None = None) -> int:
        """A number of layers."""
        return self.size(*names, default=default, largest=LARGEST_LAYERS)

    def optional_size(self, *names: str) -> int | None:
        """A whole number from 1, or None."""
        return None if self.find(*names)[1] is None else self.size(*names)

    def number(self, *names: str, default: float | None = None) -> float:
        """A number above 0."""
        name, value = self.find(*names)
        value = default if value is None else value
        right = isinstance(value, int | float) and type(value) is not bool and 0 < value <= 1e12
        expect(right, name, value, "a number above 0 and at most 1e12")
        assert value is not None
        return float(value)

    def optional_number(self, *names: str) -> float | None:
        """A number above 0, or None."""
        return None if self.find(*names)[1] is None else self.number(*names)

    def flag(self, *names: str, default: bool) -> bool:
        """True or false."""
        name, value = self.find(*names)
        value = default if value is None else value
        expect(type(value) is bool, name, value, "true or false")
        return bool(value)

    def choice(self, *names: str, choices: Mapping[str, str], default: str) -> str:
        """What one of the known words means to us."""
        name, value = self.find(*names)
        value = default if value is None else value
        is_choice = isinstance(value, str) and value in choices
        expect(is_choice, name, value, "one of " + ", ".join(sorted(choices)))
        return choices[value]

    def token_id(self, *names: str, vocabulary: int, default: int | None = None) -> int | None:
        """An id below the size of the vocabulary, the first where several are listed, or the default."""
        name, value = self.find(*names)
        value = value[0] if isinstance(value, list) and value else value
        value = default if value is None else value
        right = value is None or (type(value) is int and 0 <= value < vocabulary)
        expect(right, name, value, f"an id below {vocabulary:,}")
        return value

    def only(self, name: str, *allowed: object, why: str = "another is not supported") -> None:
        """Refuse a field that changes the computation in a way that we do not follow; absent or null is fine."""
        value = self.values.get(name)
        right = value is None or any(type(value) is type(one) and value == one for one in allowed)
        expect(right, name, value, f"{' or '.join(str(one) for one in allowed)}: {why}")

    def labels(self) -> tuple[str, ...]:
        """The names in ``id2label`` in the order of their numbers; LABEL_0, LABEL_1 … where there are none."""
        names = self.values.get("id2label")
        if names is None:
            count = self.size("num_labels", default=2, largest=10_000)
            return tuple(f"LABEL_{number}" for number in range(count))
        expected = 'an object like {"0": "label", …}'
        expect(isinstance(names, dict) and len(names) <= 10_000, "id2label", names, expected)
        expect(set(names) == {str(number) for number in range(len(names))}, "id2label", names, expected)
        return tuple(str(names[str(number)]) for number in range(len(names)))


ACTIVATIONS = {
    "relu": "relu",
    "gelu": "gelu",
    "gelu_new": "gelu-tanh",
    "gelu_fast": "gelu-tanh",
    "gelu_pytorch_tanh": "gelu-tanh",
    "silu": "silu",
    "swish": "silu",
}
Change = Callable[[Tensor, Config], Tensor]


def unchanged(tensor: Tensor, config: Config) -> Tensor:
    """A tensor that is stored as we have it."""
    return tensor


@dataclass(frozen=True)
class Source:
    """The stored module that one of ours comes from, and what is done to its weight and its bias."""

    name: str
    change: Change = unchanged


Table = Mapping[str, str | Source]


@dataclass(frozen=True, kw_only=True)
class Family:
    """One kind of foreign checkpoint.

    name: as its papers spell it; none for our own kind.
    config: from the fields of config.json and the names of the stored tensors, without the prefix.
    table: of a config and the stored names, our modules, ``{}`` for the layer, to theirs; a parameter's full name
    stands for itself alone. None: the names are ours.
    prefixes: what may stand before every name. ignored: patterns of names that need not be used. copies: patterns of
    names that need not either, but hold the token table again. renamed: old spellings of a part of a name.
    translates: whether every checkpoint of it is a translator, which no config says. prompt: what its checkpoints
    learned to read before a text, so that they translate it from English; "": nothing.
    """

    name: str
    model_types: tuple[str, ...]
    config: Callable[[Fields, frozenset[str]], Config]
    table: Callable[[Config, frozenset[str]], Table] | None
    prefixes: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    translates: bool = False
    prompt: str = ""

    def bare(self, stored: str) -> str:
        """A stored tensor's name as the table has it."""
        for old, new in self.renamed.items():
            stored = stored.replace(old, new)
        return next((stored[len(prefix) :] for prefix in self.prefixes if stored.startswith(prefix)), stored)

    def sources(self, parameters: list[str], config: Config, stored: list[str], file: str) -> dict[str, Source]:
        """For each of our parameters the stored tensor's own name and what to do to it.

        Raises CheckpointError, naming it, for a tensor that is missing, twice there, or of no use.
        """
        names: dict[str, str] = {}
        for name in stored:
            if names.setdefault(self.bare(name), name) != name:
                raise CheckpointError(f"{file}: {printable(name, 120)}: found twice, with and without its prefix.")
        table = None if self.table is None else self.table(config, frozenset(names))
        sources = {ours: Source(ours) if table is None else locate(ours, table) for ours in parameters}
        for source in sources.values():
            if source.name not in names:
                raise CheckpointError(f"{file}: {printable(source.name, 120)}: found nothing, expected a tensor.")
        unused = set(names) - {source.name for source in sources.values()}
        if useless := sorted(name for name in unused if not self.ignores(name)):
            printed = printable(names[useless[0]], 120)
            raise CheckpointError(f"{file}: {printed}: found a tensor that this kind of model has no use for.")
        return {ours: Source(names[source.name], source.change) for ours, source in sources.items()}

    def ignores(self, name: str) -> bool:
        """Whether a stored tensor that is not used is known not to be needed."""
        return matches(name, (*BUFFERS, *self.ignored, *self.copies))

    def copied(self, sources: Mapping[str, Source], stored: list[str]) -> dict[str, str]:
        """The stored tensors that are not used because they are another one again, and which."""
        used = {source.name for source in sources.values()}
        unused = [name for name in stored if name not in used and matches(self.bare(name), self.copies)]
        return dict.fromkeys(unused, sources["embedding.weight"].name)


def matches(name: str, patterns: tuple[str, ...]) -> bool:
    """Whether one of these patterns is of the whole name."""
    return any(re.fullmatch(pattern, name) for pattern in patterns)


# Buffers that any family may have stored.
BUFFERS = (r"(.*\.)?position_ids", r"(.*\.)?token_type_ids", r"(.*\.)?masked_bias", r"(.*\.)?rotary_emb\.inv_freq")


def locate(ours: str, table: Table) -> Source:
    """Where the table says that one of our parameters comes from."""
    layer = LAYER.search(ours)
    general = LAYER.sub("{}", ours)
    module, _, leaf = general.rpartition(".")
    entry = table.get(general)
    if entry is None:
        entry = table[module]
        source = entry if isinstance(entry, Source) else Source(entry)
        source = Source(f"{source.name}.{leaf}", source.change)
    else:
        source = entry if isinstance(entry, Source) else Source(entry)
    return Source(source.name.format(layer.group() if layer else ""), source.change)


def first_stored(stored: frozenset[str], *names: str) -> str:
    """The first of these tensors that is stored; the last where none is."""
    return next((name for name in names if name in stored), names[-1])


def has_tied_head(stored: frozenset[str], head: str) -> bool:
    """Whether the projection to the vocabulary is the token table: where no matrix of its own is stored."""
    return f"{head}.weight" not in stored
