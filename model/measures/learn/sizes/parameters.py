"""How many numbers each part of a Transformer learns, from its config alone: no weight is read or allocated.

A part is a list of matrices and vectors by the symbols of their sizes. Its number and its formula come from the same
list, so that neither can be right without the other.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

from model.config import Config
from model.edits.checks import SIDES, sizes_of, sublayers
from model.positions import POSITIONS as SCHEMES
from model.positions import LearnedPositions, RelativePositions

Shape = tuple[str, ...]  # of one weight, in symbols: ("d", "d_ff")

SUBLAYER_PARTS = {"self": "self_attention", "cross": "cross_attention", "feed-forward": "feed_forward"}
# What belongs together when a model's parameters are looked at as a whole.
GROUPS = ("embedding", "positions", "self_attention", "cross_attention", "feed_forward", "norms", "output")
GROUP_OF = {"segments": "positions", "norm": "norms", "embedding_norm": "norms"} | dict.fromkeys(
    ("pooling", "classifier", "word_head", "projection"), "output"
)
NORM_SHAPES: dict[str, tuple[Shape, ...]] = {"layer": (("d",), ("d",)), "rms": (("d",),)}  # γ and β; γ alone


@dataclass(frozen=True, kw_only=True)
class Part:
    """One kind of part of a model, and how often it is there.

    name: "embedding", "self_attention" …; of a norm with the part that it belongs to, "self_attention.norm_before".
    stack: "encoder" or "decoder"; "" for what belongs to neither. symbols: what each symbol of ``shapes`` stands for.
    """

    name: str
    stack: str
    shapes: tuple[Shape, ...]
    symbols: Mapping[str, int]
    copies: int = 1

    @property
    def each(self) -> int:
        """The parameters of one copy."""
        return sum(prod(self.symbols[symbol] for symbol in shape) for shape in self.shapes)

    @property
    def total(self) -> int:
        """The parameters of all copies."""
        return self.each * self.copies

    @property
    def monomials(self) -> dict[Shape, int]:
        """The products that ``each`` is the sum of, with how often each occurs: {("d", "d"): 4, ("d",): 4}."""
        counts = Counter(tuple(sorted(shape)) for shape in self.shapes)
        return dict(sorted(counts.items(), key=lambda item: (-len(item[0]), item[0])))


@dataclass(frozen=True, kw_only=True)
class ParameterGroup:
    """The parts of one stack that belong together. name: one of GROUPS."""

    name: str
    stack: str
    parts: tuple[Part, ...]

    @property
    def total(self) -> int:
        """The parameters of all its parts."""
        return sum(part.total for part in self.parts)

    @property
    def monomials(self) -> dict[int, dict[Shape, int]]:
        """The products that ``total`` is the sum of, by the number of copies that they stand in."""
        products: dict[int, Counter[Shape]] = {}
        for part in self.parts:
            products.setdefault(part.copies, Counter()).update(part.monomials)
        return {copies: dict(counts) for copies, counts in sorted(products.items(), reverse=True)}


def groups_of(config: Config) -> tuple[ParameterGroup, ...]:
    """All parameters in a few groups, those of the encoder first."""
    grouped: dict[tuple[str, str], list[Part]] = {}
    for part in parts_of(config):
        name = "norms" if ".norm_" in part.name else GROUP_OF.get(part.name, part.name)
        grouped.setdefault((part.stack, name), []).append(part)
    order = sorted(grouped, key=lambda place: (config.stacks.index(place[0]), GROUPS.index(place[1])))
    return tuple(ParameterGroup(name=name, stack=stack, parts=tuple(grouped[stack, name])) for stack, name in order)


def parameter_count(config: Config) -> int:
    """All parameters; what is shared counts once. The same as ``Transformer.parameter_count``, without the weights."""
    return sum(part.total for part in parts_of(config))


def parts_of(config: Config) -> tuple[Part, ...]:
    """All parts with parameters, in the order of the pass."""
    parts = [Part(name="embedding", stack=config.stacks[0], shapes=(("V", "d"),), symbols=symbols_of(config))]
    for stack in config.stacks:
        sizes = sizes_of(config, stack)
        assert sizes is not None
        if stack == "decoder" and config.is_encoder_decoder and not config.share_embeddings:
            parts.append(Part(name="embedding", stack=stack, shapes=(("V", "d"),), symbols=symbols_of(sizes)))
        parts.extend(parts_of_stack(sizes, stack))
    parts.extend(head_parts(config))
    return tuple(part for part in parts if part.shapes)


def symbols_of(sizes: Config) -> dict[str, int]:
    """What the symbols stand for, in one stack. d_q and d_kv: all heads of queries, or of keys, side by side."""
    own_width = sizes.heads * sizes.head_width
    return {
        "V": sizes.vocabulary,
        "d": sizes.width,
        "d_ff": sizes.hidden,
        "d_q": own_width,
        "d_kv": (sizes.kv_heads or sizes.heads) * sizes.head_width,
        "d_k": sizes.head_width,
        "h": sizes.heads,
        "n_max": sizes.max_length + sizes.position_offset,
        "s": sizes.segments,
        "b": sizes.relative_buckets or 0,
        "c": len(sizes.labels),
    }


def parts_of_stack(sizes: Config, stack: str) -> Iterator[Part]:
    """Those of an encoder or a decoder, without its token table. sizes: with this stack's own."""
    symbols = symbols_of(sizes)
    norm = NORM_SHAPES[sizes.norm]
    yield Part(name="positions", stack=stack, shapes=position_shapes(sizes), symbols=symbols)
    yield Part(name="segments", stack=stack, shapes=(("s", "d"),) if sizes.segments else (), symbols=symbols)
    yield Part(name="embedding_norm", stack=stack, shapes=norm if sizes.embedding_norm else (), symbols=symbols)
    for sublayer in sublayers(sizes, stack):
        name = SUBLAYER_PARTS[sublayer]
        shapes = feed_forward_shapes(sizes) if sublayer == "feed-forward" else attention_shapes(sizes)
        yield Part(name=name, stack=stack, shapes=shapes, symbols=symbols, copies=sizes.layers)
        for side in SIDES[sizes.norm_order]:
            part = f"{name}.norm_{side}"
            yield Part(name=part, stack=stack, shapes=norm, symbols=symbols, copies=sizes.layers)
    yield Part(name="norm", stack=stack, shapes=() if sizes.norm_order == "post" else norm, symbols=symbols)


def position_shapes(sizes: Config) -> tuple[Shape, ...]:
    """The table of a learned scheme; the others have none."""
    scheme = SCHEMES[sizes.positions]
    if issubclass(scheme, LearnedPositions):
        return (("n_max", "d"),)
    return (("b", "h"),) if issubclass(scheme, RelativePositions) else ()


def attention_shapes(sizes: Config) -> tuple[Shape, ...]:
    """W_Q, W_K, W_V and W_O with their biases, and the norms of queries and keys.

    Where all heads together are as wide as the stream, as in the paper, the symbols are d alone.
    """
    symbols = symbols_of(sizes)
    query, key = ("d" if symbols[symbol] == sizes.width else symbol for symbol in ("d_q", "d_kv"))
    matrices: tuple[Shape, ...] = (("d", query), ("d", key), ("d", key), (query, "d"))
    biases: tuple[Shape, ...] = ((query,), (key,), (key,)) if sizes.projection_bias else ()
    output: tuple[Shape, ...] = (("d",),) if sizes.output_bias else ()
    return (*matrices, *biases, *output, *((("d_k",), ("d_k",)) if sizes.query_key_norm else ()))


def feed_forward_shapes(sizes: Config) -> tuple[Shape, ...]:
    """W₁ and W₂ with their biases; a gate is a second W₁."""
    inner: tuple[Shape, ...] = (("d", "d_ff"), ("d_ff",)) if sizes.hidden_bias else (("d", "d_ff"),)
    outer: tuple[Shape, ...] = (("d_ff", "d"), ("d",)) if sizes.hidden_bias else (("d_ff", "d"),)
    return inner * (2 if sizes.gated else 1) + outer


def head_parts(config: Config) -> Iterator[Part]:
    """What turns the last state into an answer."""
    symbols, dense = symbols_of(config), (("d", "d"), ("d",))
    stack = config.stacks[-1]
    predicts = config.has_decoder or config.word_head
    pools = config.pooling.startswith("first")
    yield Part(name="pooling", stack=stack, shapes=dense if pools else (), symbols=symbols)
    classifier: tuple[Shape, ...] = (("d", "c"), ("c",)) if config.labels else ()
    yield Part(name="classifier", stack=stack, shapes=classifier, symbols=symbols)
    word_head = (*dense, *NORM_SHAPES[config.norm]) if config.word_head else ()
    yield Part(name="word_head", stack=stack, shapes=word_head, symbols=symbols)
    table: tuple[Shape, ...] = (("V", "d"),) if predicts and not config.tie_embeddings else ()
    bias: tuple[Shape, ...] = (("V",),) if config.vocabulary_bias else ()
    yield Part(name="projection", stack=stack, shapes=table + bias, symbols=symbols)
