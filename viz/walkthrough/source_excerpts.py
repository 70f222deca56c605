"""The lines of our own code that compute a step, read from the source of the functions that run."""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model.attention import join, masked_softmax, scaled_dot_product_attention
from model.measures.one_weight import WeightPath
from model.measures.weight_answer import mean_cross_attention, probabilities_of
from model.output_heads import MeanPooling, masked_mean
from model.positions import LearnedPositions, Positions, SinusoidalPositions, computed_sinusoids
from model.scores import masked_scores
from model.transformer import Stack, Transformer

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Excerpt:
    """Some lines, and where they stand: "model/attention.py, line 52: scaled_dot_product_attention"."""

    place: str
    code: str


def excerpt(function: Callable[..., Any], *, writes: str | None = None, reads: str = "", skips: str = "") -> Excerpt:
    """The statements of a function that set a variable, of these the ones that read another; all where none does.

    skips: a variable without which the function was called; what reads it did not run.

    The docstring is left out. A variable is also set by a method of its own whose name ends in "_", as in torch.
    """
    function = inspect.unwrap(function)
    lines, first = inspect.getsourcelines(function)
    source = textwrap.dedent("".join(lines))
    definition = ast.parse(source).body[0]
    assert isinstance(definition, ast.FunctionDef)
    body = definition.body[1:] if ast.get_docstring(definition) is not None else definition.body
    setting = [statement for statement in simple(body) if writes in written_by(statement)]
    matching = [statement for statement in setting if reads in ["", *names_in(statement)]]
    matching = [statement for statement in matching if skips not in names_in(statement)]
    chosen = matching or body
    rows = source.splitlines()
    code = "\n".join("\n".join(rows[each.lineno - 1 : each.end_lineno]) for each in chosen)
    file = Path(inspect.getsourcefile(function) or "")
    where = file.relative_to(ROOT).as_posix() if file.is_relative_to(ROOT) else file.name
    return Excerpt(f"{where}, line {first + chosen[0].lineno - 1}: {function.__qualname__}", textwrap.dedent(code))


def with_signature(function: Callable[..., Any]) -> Excerpt:
    """All statements of a function under its name and the names of what it takes, without their types."""
    whole, names = excerpt(function), ", ".join(inspect.signature(inspect.unwrap(function)).parameters)
    definition = f"def {function.__name__}({names}):"
    return Excerpt(whole.place, f"{definition}\n{textwrap.indent(whole.code, '    ')}")


def simple(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that hold no others, in the order in which they stand."""
    for statement in body:
        if isinstance(statement, ast.If | ast.With | ast.For):
            yield from simple([*statement.body, *getattr(statement, "orelse", [])])
        else:
            yield statement


def written_by(statement: ast.stmt) -> set[str | None]:
    """The variables that a statement sets."""
    names: set[str | None] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and node.attr.endswith("_") and isinstance(node.value, ast.Name):
            names.add(node.value.id)
    return names


def names_in(statement: ast.stmt) -> set[str]:
    """Every variable that a statement mentions."""
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}


def code_of(path: WeightPath, step: str) -> list[Excerpt]:
    """The lines that computed one step of this path: of the very parts that this model is made of."""
    return [excerpt(function, **choice) for function, choice in _functions(path)[step]]


def _functions(path: WeightPath) -> dict[str, list[tuple[Callable[..., Any], dict[str, str]]]]:
    attend, forward, read = scaled_dot_product_attention, type(path.module).forward, type(path.module).keys_values
    positions, residual = type(getattr(path.model, path.site.stack).positions), type(path.residual)
    block = type(path.modules).forward
    added: list[Any] = [(each, {}) for each in vectors_of(positions)]
    unsegmented = {} if path.model.config.segments else {"skips": "segment"}
    rotation: list[Any] = [(positions.rotate, {})] if path.model.config.positions == "rotary" else []
    adds: list[Any] = [(positions.bias, {}), (masked_scores, {"writes": "scores", "reads": "bias"})]
    biased = adds if path.attention.bias is not None else []
    capped: list[Any] = [(masked_scores, {"writes": "scores", "reads": "cap"})] if path.module.cap is not None else []
    return {
        "embedding": [(type(path.model).vectors, {})],
        "position": [*added, (Stack.embed, {"writes": "total"} | unsegmented)],
        "norm": [(residual.forward, {"writes": "trace"})],
        "projection": [(forward, {"writes": "query"}), (read, {"writes": "key"}), *rotation],
        "product": [(attend, {"writes": "products"})],
        "scale": [(masked_scores, {"writes": "scores", "reads": "scale"})],
        "mask": [*biased, *capped, (masked_scores, {"writes": "scores", "reads": "mask"})],
        "softmax": [(masked_softmax, {})],
        "value": [(read, {"writes": "value"}), (attend, {"writes": "context"})],
        "heads": [(join, {})],
        "output": [(forward, {"writes": "output"})],
        "residual": [(residual.add, {})],
        "feed-forward": [(type(path.modules.feed_forward).forward, {}), (block, {"writes": "hidden"})],
        "layers": [(block, {})],
        "last-norm": [(Stack.forward, {"writes": "final"})],
        "pooling": pooling_of(path),
        "logits": logits_of(path),
        "answer": [] if path.answer.kind == "none" else [(probabilities_of, {})],
    }


def pooling_of(path: WeightPath) -> list[tuple[Callable[..., Any], dict[str, str]]]:
    """What makes the vector that the head reads; nothing where that is the token's own."""
    pooling, word_head = path.model.pooling, path.model.word_head
    if path.answer.kind == "written" and path.site.stack == "encoder":
        return [(Transformer.forward, {"writes": "decoder", "reads": "encoder"}), (mean_cross_attention, {})]
    if path.trace.pooled is not None and pooling is not None:
        mean: list[Any] = [(masked_mean, {})] if isinstance(pooling, MeanPooling) else []
        return [(type(pooling).forward, {}), *mean]
    return [] if word_head is None else [(type(word_head).forward, {})]


def logits_of(path: WeightPath) -> list[tuple[Callable[..., Any], dict[str, str]]]:
    """What makes the logits; nothing without a head."""
    if path.answer.kind == "none":
        return []
    answer: list[Any] = [] if path.model.config.has_decoder else [(Transformer.answer, {})]
    return answer if path.answer.kind == "label" else [*answer, (Transformer.predict, {})]


def vectors_of(positions: type[Positions]) -> list[Callable[..., Any]]:
    """What makes the vectors of a scheme that adds some."""
    if issubclass(positions, SinusoidalPositions):
        return [positions.table, computed_sinusoids]
    return [positions.rows] if issubclass(positions, LearnedPositions) else []
