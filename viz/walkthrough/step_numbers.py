"""Numbers and tokens as the sentences of the steps give them."""

from collections.abc import Sequence

import numpy as np

from model.measures.one_weight import WeightPath
from viz.text.head_findings import token_name
from viz.tokens import ROUNDING, decimal, markdown_text, position_name

MOST, MOST_PARTS = "99.99", "0.9999"  # in percent and as a share of 1: what is rounded to all without being it


def short(number: float) -> str:
    """Four significant digits, for a sentence."""
    return "minus infinity" if number == -np.inf else decimal(number, ".4g")


def share(weight: float) -> str:
    """ "99.12 %": four significant digits, with a space that does not break; "more than 99.99 %" for all but all."""
    return (f"more than {MOST}" if almost_all(weight) else decimal(100 * weight, ".4g")) + "\u00a0%"


def weight_text(path: WeightPath) -> str:
    """The weight in four significant digits; "more than 0.9999" for all but all."""
    return f"more than {MOST_PARTS}" if almost_all(path.weight()) else short(path.weight())


def almost_all(weight: float) -> bool:
    return decimal(weight, ".4g") == "1" and weight < 1 - ROUNDING


def names_of(path: WeightPath) -> tuple[str, str]:
    """The query and the key as Markdown."""
    query, key = path.site.query, path.site.key
    names = position_name(query, path.queries.names()[query]), position_name(key, path.keys.names()[key])
    return markdown_text(names[0]), markdown_text(names[1])


def answer_names(path: WeightPath, ids: Sequence[int]) -> list[str]:
    """Labels, or tokens, by their ids: as plain text; a token without a tokenizer is "#17"."""
    if path.answer.position is None:
        return [path.model.config.labels[number] for number in ids]
    if path.tokenizer is None:
        return [f"#{number}" for number in ids]
    return [path.tokenizer.pieces([number])[0] for number in ids]


def quoted_answer(path: WeightPath, name: str) -> str:
    """ "**positive**" for a label, "“loved”" for a token, as Markdown."""
    return f"**{markdown_text(name)}**" if path.answer.position is None else f"“{markdown_text(token_name(name))}”"
