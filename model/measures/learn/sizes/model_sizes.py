"""Configs of models that papers and articles speak of, to be counted; no weights of theirs are here."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from model.config import Config
from model.errors import InputError

WIDEST, MOST_HEADS = 16_384, 256  # that can be asked for
BERT_PARTS: dict[str, Any] = {"activation": "gelu", "positions": "learned", "scale_embeddings": False}
SMALL: dict[str, Any] = {"heads": 8, "layers": 6, "width": 512, "hidden": 2048}


def paper_big() -> Config:
    """The big model of "Attention Is All You Need", table 3, with its shared vocabulary (section 5.1)."""
    sizes: dict[str, Any] = {"width": 1024, "heads": 16, "layers": 6, "hidden": 4096}
    return Config(architecture="encoder-decoder", vocabulary=37_000, max_length=512, start_id=1, end_id=2, **sizes)


def article() -> Config:
    """The usual sizes of a Transformer written along with the paper: two vocabularies, and a projection of its own."""
    apart: dict[str, Any] = {"share_embeddings": False, "tie_embeddings": False, "vocabulary_bias": True}
    return Config(
        architecture="encoder-decoder", vocabulary=5000, max_length=512, start_id=1, end_id=2, **SMALL, **apart
    )


def classifier() -> Config:
    """A small classifier of texts as articles train it: one layer on a large vocabulary."""
    sizes: dict[str, Any] = {"width": 32, "heads": 2, "layers": 1, "hidden": 32, "vocabulary": 20_000}
    return Config(architecture="encoder", max_length=200, positions="learned", labels=("negative", "positive"), **sizes)


def gpt2_small() -> Config:
    """GPT-2 of 12 layers (Radford et al. 2019, table 2; sizes as in its published config)."""
    sizes: dict[str, Any] = {"width": 768, "heads": 12, "layers": 12, "hidden": 3072, "vocabulary": 50_257}
    parts = BERT_PARTS | {"activation": "gelu-tanh", "norm_order": "pre"}
    return Config(architecture="decoder", max_length=1024, **sizes, **parts)


def bert_base() -> Config:
    """BERT base, without case (Devlin et al. 2018, section 3; sizes as in its published config)."""
    sizes: dict[str, Any] = {"width": 768, "heads": 12, "layers": 12, "hidden": 3072, "vocabulary": 30_522}
    parts = BERT_PARTS | {"segments": 2, "embedding_norm": True, "pooling": "first-tanh"}
    return Config(architecture="encoder", max_length=512, **sizes, **parts)


MODEL_SIZES = {
    "base": Config.paper_base,
    "big": paper_big,
    "gpt2": gpt2_small,
    "bert": bert_base,
    "article": article,
    "classifier": classifier,
}


def resized(config: Config, **sizes: int) -> Config:
    """The config with some of width, heads, layers, hidden and vocabulary changed; 0: not changed.

    Shared keys, heads of a width of their own and a decoder's own sizes do not survive a change of what they divide.
    Raises InputError, in a sentence, for sizes that do not go together.
    """
    changes: dict[str, Any] = {name: size for name, size in sizes.items() if size}
    width, heads = changes.get("width", config.width), changes.get("heads", config.heads)
    if changes.keys() & {"width", "heads"}:
        check_shares(config, width, heads)
        changes |= {"head_size": None, "kv_heads": None, "decoder_heads": None, "rotary_width": None}
    changes |= {f"decoder_{name}": None for name in ("layers", "hidden") if name in changes}
    if "vocabulary" in changes:
        changes |= {"pad_id": 0, "start_id": 0, "end_id": 0}
    try:
        return replace(config, **changes)
    except ValueError as error:
        raise InputError(f"These sizes do not go together: {error}.") from error


def check_shares(config: Config, width: int, heads: int) -> None:
    """InputError, with the nearest sizes that go together, for a width that so many heads cannot share."""
    unit = 2 if config.positions == "rotary" else 1  # a rotation takes the numbers of a head in pairs
    if width % (heads * unit) == 0:
        return
    widths = neighbours(width, range(heads * unit, WIDEST + 1, heads * unit))
    numbers = neighbours(heads, [number for number in range(1, MOST_HEADS + 1) if width % (number * unit) == 0])
    ways = [f"a width of {one_or_other(widths)}"] if widths else []
    ways += [f"{one_or_other(numbers)} head{'s' if numbers != [1] else ''}"] if numbers else []
    even = " of an even width" if unit == 2 else ""
    raise InputError(
        f"A width of {width:,} cannot be shared by {heads:,} heads{even}. Choose {', or '.join(ways) or 'others'}."
    )


def one_or_other(sizes: Sequence[int]) -> str:
    """ "512 or 520"."""
    return " or ".join(f"{size:,}" for size in sizes)


def neighbours(size: int, allowed: Sequence[int]) -> list[int]:
    """The next smaller and the next larger of some ascending sizes, as far as there are any."""
    smaller, larger = ([other for other in allowed if sign * other > sign * size] for sign in (-1, 1))
    return [*smaller[-1:], *larger[:1]]
