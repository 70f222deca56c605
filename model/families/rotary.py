"""How foreign configs spell rotary positions and windows; two generations of spellings."""

from collections.abc import Mapping
from typing import Any

from model.config import expect
from model.families.family import Fields

BASE = 10_000.0  # of every family where the config does not say; Gemma 3 has two others


def rotary(
    fields: Fields, head_width: int, *, base: float = BASE, share: float = 1.0, kind: str | None = None
) -> dict[str, Any]:
    """The config fields of rotary positions.

    New: ``rope_parameters`` with everything in it, for each ``kind`` of layer apart where there are several. Old:
    ``rope_theta`` beside ``rope_scaling``. ``share`` is how much of a head turns where the config does not say.
    """
    own = spelled(fields, kind)
    scaling = own.choice("rope_type", "type", choices=SCALINGS, default="default")
    share = own.number("partial_rotary_factor", default=fields.number("partial_rotary_factor", default=share))
    expect(share <= 1, "partial_rotary_factor", share, "at most 1")
    found: dict[str, Any] = {
        "positions": "rotary",
        "rotary_base": own.number("rope_theta", default=fields.number("rope_theta", default=base)),
        "rotary_width": int(head_width * share),
        "rotary_scaling": scaling,
    }
    expect(found["rotary_width"] >= 2, "partial_rotary_factor", share, "enough for two coordinates of a head")
    if scaling != "none":
        found["rotary_factor"] = own.number("factor", default=1.0)
    return found | (llama3(fields, own) if scaling == "llama3" else {})


SCALINGS = {"default": "none", "linear": "linear", "llama3": "llama3"}


def llama3(fields: Fields, own: Fields) -> dict[str, Any]:
    """What scaling as in Llama 3.1 needs to know."""
    longest = fields.size("max_position_embeddings", default=8192)
    return {
        "rotary_low": own.number("low_freq_factor", default=1.0),
        "rotary_high": own.number("high_freq_factor", default=4.0),
        "rotary_original_length": own.size("original_max_position_embeddings", default=longest),
    }


def spelled(fields: Fields, kind: str | None) -> Fields:
    """The object that describes the rotation, old or new; an empty one where there is none."""
    name, values = fields.find("rope_parameters", "rope_scaling")
    values = {} if values is None else values
    expect(isinstance(values, dict), name, values, "an object")
    if kind is not None and any(isinstance(inner, Mapping) for inner in values.values()):
        values = values.get(kind) or {}
        expect(isinstance(values, dict), f"{name}: {kind}", values, "an object")
    return Fields(values)


def windows(fields: Fields, layers: int, default: list[str], window: int | None) -> dict[str, Any]:
    """The config fields of windows, from ``layer_types``, or from ``default`` where the config has none."""
    types = fields.values.get("layer_types")
    types = default if types is None else types
    right = isinstance(types, list) and len(types) == layers and set(map(str, types)) <= {FULL, SLIDING}
    expect(right, "layer_types", types, f"a list of {layers}, each {FULL} or {SLIDING}")
    chosen = tuple(number for number, name in enumerate(types) if name == SLIDING)
    return {"window": window, "windowed_layers": chosen} if window and chosen else {}


FULL, SLIDING = "full_attention", "sliding_attention"
