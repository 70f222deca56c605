"""The formula of one model, term by term: what its config names stands in it, what it lacks does not.

In a notation ``_`` lowers and ``^`` raises what follows, one character or several in braces: "W_Q", "K^T",
"A_{12}". x is the stream of the only stack, or of an encoder; y that of a decoder beside one.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from model import Config
from model.edits.checks import sizes_of
from viz.text.card_tables import NORMS
from viz.tokens import counted

ADDED = ("sinusoidal", "sinusoidal-halves", "learned", "counted")  # positions that are vectors
BIASES = ("relative", "alibi")  # positions that are numbers added to the scores
OF_STACK = {"encoder": ("encoder", "self"), "decoder": ("decoder", "self"), "cross": ("decoder", "cross")}
POOLED = {"mean": ("mean(", ")"), "first-tanh": ("tanh(", "_1 W_P)"), "first-relu": ("relu(", "_1 W_P)")}


@dataclass(frozen=True, kw_only=True)
class FormulaTerm:
    """A piece of the formula.

    name: what it is, in words. part: the name of the experiment that takes it out; "": none does.
    steps: those of the way to one weight that compute it.
    """

    notation: str
    name: str = ""
    part: str = ""
    steps: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Line:
    """One equation, and what it does, in a few words."""

    words: str
    terms: tuple[FormulaTerm, ...]
    attention: str = ""  # "encoder", "decoder" or "cross", where it is a part of that attention


@dataclass(frozen=True, kw_only=True)
class EquationGroup:
    """Equations that are computed together. stack: whose they are; "": of all."""

    words: str
    lines: tuple[Line, ...]
    stack: str = ""


@dataclass(frozen=True, kw_only=True)
class Site:
    """The attention, layer and head that parts of one place are taken out of; all counted from 0."""

    attention: str = "encoder"  # "encoder", "decoder" or "cross"
    layer: int = 0
    head: int = 0


def formula(config: Config, site: Site) -> tuple[EquationGroup, ...]:
    """The whole model, from the words to what it says."""
    stacks = config.stacks
    letters = dict(zip(stacks, "xy", strict=False))
    both = len(stacks) > 1
    entered = "Words and positions" if config.positions in ADDED else "Words"
    groups = [EquationGroup(words=f"{entered} enter", lines=(entry(config, ", ".join(letters.values())),))]
    for stack, x in letters.items():
        layers = sizes_of(config, stack)
        assert layers is not None
        count = "the layer" if layers.layers == 1 else f"each of {layers.layers} layers"
        words = f"{stack.capitalize()}, {count}" if both else count.capitalize()
        groups.append(EquationGroup(words=words, lines=tuple(block(config, stack, x, site)), stack=stack))
    last_line = answer(config, letters[stacks[-1]])
    return (*groups, EquationGroup(words="Output", lines=(last_line,))) if last_line else tuple(groups)


def plain(*notations: str) -> tuple[FormulaTerm, ...]:
    """Terms that are only read."""
    return tuple(FormulaTerm(notation=notation) for notation in notations)


def norm_notation(config: Config, *inside: FormulaTerm, step: str = "") -> tuple[FormulaTerm, ...]:
    """The norm of what stands inside, by the name that its kind has."""
    name = FormulaTerm(notation=NORMS[config.norm], name="norms", part="norm", steps=(step,) if step else ())
    return (name, *plain("("), *inside, *plain(")"))


def sublayer_input(config: Config, x: str, step: str = "") -> tuple[FormulaTerm, ...]:
    """What a sublayer reads of the stream: itself where norms stand after the sublayers."""
    return plain(x) if config.norm_order == "post" else norm_notation(config, *plain(x), step=step)


def entry(config: Config, x: str) -> Line:
    """What enters the first layer."""
    table = "√d E[word]" if config.scale_embeddings else "E[word]"
    terms = [FormulaTerm(notation=table, steps=("embedding",))]
    if config.positions in ADDED:
        terms.append(FormulaTerm(notation="+ P", name="positions", part="positions", steps=("position",)))
    if config.segments:
        terms.append(FormulaTerm(notation="+ S", name="segment"))
    whole = norm_notation(config, *terms, step="position") if config.embedding_norm else tuple(terms)
    return Line(words="each token is a vector", terms=(*plain(f"{x} ="), *whole))


def block(config: Config, stack: str, x: str, site: Site) -> Iterator[Line]:
    """The lines of one layer."""
    sizes = sizes_of(config, stack)
    assert sizes is not None
    yield from attention(sizes, stack, "self", x, x, site)
    if config.norm_order == "parallel":
        return
    if stack == "decoder" and config.is_encoder_decoder:
        yield from attention(sizes, stack, "cross", x, "x", site)
    update = (*plain("FFN("), *sublayer_input(config, x), *plain(")"))
    terms = sum_notation(config, x, plain(f"{x} +"), update, "feed-forward")
    yield Line(words="each token on its own", terms=of_step(terms, "feed-forward", "layers"))


def attention(config: Config, stack: str, kind: str, x: str, memory: str, site: Site) -> Iterator[Line]:
    """Queries and keys, weights, and what they bring; ``memory`` is the stream that keys and values are of."""
    name = next(name for name, place in OF_STACK.items() if place == (stack, kind))
    here, looks = (
        site.attention == name,
        "which token looks at which" if kind == "self" else "which token looks at the source",
    )
    projected, weighed = tuple(projections(config, x, memory)), tuple(weights(config, stack, kind))
    if config.is_encoder_decoder:  # eleven lines would not fit a screen
        yield Line(words=looks, terms=(*projected, *plain(","), *weighed), attention=name)
    else:
        yield Line(words="queries, keys, values", terms=projected, attention=name)
        yield Line(words=looks, terms=weighed, attention=name)
    kept = FormulaTerm(notation=f"{x} +", steps=("residual",))
    if here:
        kept = replace(kept, name=f"residual, layer {counted(site.layer)}", part="residual")
    update = tuple(heads(config, site if here else None))
    if config.norm_order == "parallel":
        fed = of_step((*plain("+ FFN("), *sublayer_input(config, x), *plain(")")), "feed-forward", "layers")
        update = (*update, *fed)
        terms, words = (*plain(f"{x} ←"), kept, *update), "the result is added, and each token on its own"
    else:
        terms, words = sum_notation(config, x, (kept,), update, "residual"), "the result is added"
    yield Line(words=words, terms=terms, attention=name)


def of_step(terms: tuple[FormulaTerm, ...], *steps: str) -> tuple[FormulaTerm, ...]:
    """The same terms as those of these steps."""
    return tuple(replace(term, steps=steps) for term in terms)


def sum_notation(
    config: Config, x: str, kept: tuple[FormulaTerm, ...], update: tuple[FormulaTerm, ...], step: str
) -> tuple[FormulaTerm, ...]:
    """The stream with an update, normed where the config has it."""
    if config.norm_order == "post":
        return (*plain(f"{x} ←"), *norm_notation(config, *kept, *update, step=step))
    update = norm_notation(config, *update, step=step) if config.norm_order == "both" else update
    return (*plain(f"{x} ←"), *kept, *update)


def projections(config: Config, x: str, memory: str) -> Iterator[FormulaTerm]:
    """Query, key and value of every head."""
    final = config.norm_order != "post" and memory != x  # the memory has been through its stack's last norm
    of_memory = norm_notation(config, *plain(memory)) if final else plain(memory)
    letters = {"Q": sublayer_input(config, x, "norm"), "K": of_memory, "V": of_memory}
    if x == memory:
        z = "z" if config.norm_order != "post" else x
        if z != x:
            yield from (*plain("z ="), *letters["Q"], *plain(","))
        letters = dict.fromkeys("QKV", plain(z))
    for letter, source in letters.items():
        turned = config.positions == "rotary" and letter != "V"
        unit = config.query_key_norm and letter != "V"
        yield FormulaTerm(notation=f"{letter} =")
        if turned:
            yield FormulaTerm(notation="R", name="rotation by position", part="positions", steps=("projection",))
        yield from plain("RMS(") if unit else ()
        yield from source
        yield FormulaTerm(notation=f"W_{letter}", steps=("value",) if letter == "V" else ("projection",))
        yield from plain(")") if unit else ()
        yield from plain(",") if letter != "V" else ()


def weights(config: Config, stack: str, kind: str) -> Iterator[FormulaTerm]:
    """softmax of the scores, head by head."""
    yield FormulaTerm(notation="A =")
    yield FormulaTerm(notation="softmax", name="where to look", part="uniform", steps=("softmax",))
    yield FormulaTerm(notation="(")
    if config.score_cap is not None:
        yield FormulaTerm(notation="cap(", steps=("mask",))
    scale = scale_of(config)
    yield FormulaTerm(notation="Q K^T", steps=("product",) if scale else ("product", "scale"))
    yield from scale
    if kind == "self" and config.positions in BIASES:
        yield FormulaTerm(notation="+ B", name="bias by distance", part="positions", steps=("mask",))
    if config.score_cap is not None:
        yield FormulaTerm(notation=")")
    yield from mask(config, stack, kind)
    yield FormulaTerm(notation=")")


def scale_of(config: Config) -> tuple[FormulaTerm, ...]:
    """What q·k is multiplied by; nothing where that is 1. "layer" is the layer's number, counted from 1."""
    root = config.head_width**-0.5
    scale = root if config.score_scale is None else config.score_scale
    by_layer = config.score_scale_by_layer
    if scale == 1:
        notation = "/ layer" if by_layer else ""
    elif math.isclose(scale, root, rel_tol=1e-6):
        notation = "/ (√d_k · layer)" if by_layer else "/ √d_k"
    else:
        notation = f"· {scale:.3g} / layer" if by_layer else f"· {scale:.3g}"
    if not notation:
        return ()
    return (FormulaTerm(notation=notation, name="scale", part="scale", steps=("scale",)),)


def mask(config: Config, stack: str, kind: str) -> Iterator[FormulaTerm]:
    """The mask of a decoder, or of an encoder whose layers see a window."""
    if kind == "self" and stack == "decoder":
        yield FormulaTerm(notation="+ M", name="causal mask", part="unmask", steps=("mask",))
    elif kind == "self" and config.windowed_layers:
        yield FormulaTerm(notation="+ M", name="window", steps=("mask",))


def heads(config: Config, site: Site | None) -> Iterator[FormulaTerm]:
    """The heads' contexts side by side, and the projection that joins them; of the site, its head stands alone."""
    last = config.heads
    yield FormulaTerm(notation="[", steps=("heads",))
    if site is None or last == 1:
        inner = "A V" if last == 1 else f"A_1V_1 … A_{{{last}}}V_{{{last}}}"
        name, part = ("", "") if site is None else (f"attention of layer {counted(site.layer)}", "mute")
        yield FormulaTerm(notation=inner, name=name, part=part, steps=("value",))
    else:
        number, name = counted(site.head), f"head {counted(site.head)}, layer {counted(site.layer)}"
        yield from plain("…") if site.head else ()
        yield FormulaTerm(notation=f"A_{{{number}}}V_{{{number}}}", name=name, part="mute", steps=("value",))
        yield from plain(f"… A_{{{last}}}V_{{{last}}}") if site.head < last - 1 else ()
    yield FormulaTerm(notation="]", steps=("heads",))
    yield FormulaTerm(notation="W_O", steps=("output",))


def answer(config: Config, x: str) -> Line | None:
    """What the head reads and says; None where there is none."""
    final, softmax, close = (
        sublayer_input(config, x, "last-norm"),
        FormulaTerm(notation="softmax(", steps=("answer",)),
        plain(")"),
    )
    if config.labels:
        before, after = (pooling_notation(notation) for notation in POOLED.get(config.pooling, ("", "_1")))
        matrix = FormulaTerm(notation="W", steps=("logits",))
        terms = (*plain("verdict ="), softmax, *before, *final, *after, matrix, *close)
        return Line(words=f"one of {len(config.labels)} labels", terms=terms)
    table = FormulaTerm(notation="E^T" if config.tie_embeddings else "W", steps=("logits",))
    if config.has_decoder:
        return Line(words="one of all tokens", terms=(*plain("next token ="), softmax, *final, table, *close))
    if config.word_head:
        words = (*pooling_notation("H("), *final, *pooling_notation(")"))
        return Line(words="one of all tokens", terms=(*plain("masked word ="), softmax, *words, table, *close))
    return None


def pooling_notation(notation: str) -> tuple[FormulaTerm, ...]:
    """What makes the vector that the head reads; nothing where the notation is empty."""
    return (FormulaTerm(notation=notation, steps=("pooling",)),) if notation else ()
