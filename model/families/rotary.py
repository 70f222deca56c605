"""How foreign configs spell rotary positions and windows; two generations of spellings."""

from collections.abc import Mapping
from typing import Any

from model.config import expect
from model.families.family import Fields

BASE = 10_000.0  # of every family where the config does not say; Gemma 3 has two others
SCALINGS = {"default": "none", "linear": "linear", "llama3": "llama3"}
FULL, SLIDING = "full_attention", "sliding_attention"
WINDOW = 4096  # of every family where the config does not say
PART, ORIGINAL = "partial_rotary_factor", "original_max_position_embeddings"


def rotary(fields: Fields, head_width: int, *, base: float, share: float | None = None) -> dict[str, Any]:
    """The config fields of rotary positions.

    ``base`` and ``share`` are what the config says beside the object that describes the rotation, which may say
    otherwise. ``share`` is how much of a head rotates; None: all, whatever the config says.
    """
    own = rotation_fields(fields)
    scaling = own.choice("rope_type", "type", choices=SCALINGS, default="default")
    return {
        "positions": "rotary",
        "rotary_base": own.number("rope_theta", default=base),
        "rotary_width": whole(fields, own, head_width) if share is None else part(own, head_width, share),
        "rotary_scaling": scaling,
        **({} if scaling == "none" else {"rotary_factor": own.number("factor")}),
        **(llama3(fields, own) if scaling == "llama3" else {}),
    }


def whole(fields: Fields, own: Fields, head_width: int) -> int:
    """All of a head rotates: the library does not follow what such a config may say of a part."""
    for one in (fields, own):
        expect(one.number(PART, default=1.0) == 1, PART, one.values.get(PART), "1, or nothing")
    expect(head_width % 2 == 0, "head_dim", head_width, "an even number")
    return head_width


def part(own: Fields, head_width: int, share: float) -> int:
    """How many coordinates of a head rotate; ``share`` of them, unless the config says otherwise."""
    share = own.number(PART, default=share)
    rotated = int(head_width * share)
    right = share <= 1 and rotated >= 2 and rotated % 2 == 0
    expect(right, f"{PART} or rotary_pct", share, f"a share of a head's {head_width} coordinates that is even")
    return rotated


def llama3(fields: Fields, own: Fields) -> dict[str, Any]:
    """What scaling as in Llama 3.1 needs to know."""
    low, high = own.number("low_freq_factor"), own.number("high_freq_factor")
    expect(high > low, "high_freq_factor", high, f"above low_freq_factor {low:g}")
    given = {ORIGINAL: own.values.get(ORIGINAL), "max_position_embeddings": None}
    lengths = Fields(given | {name: fields.values[name] for name in given if fields.values.get(name) is not None})
    longest = lengths.size(ORIGINAL, "max_position_embeddings")
    return {"rotary_low": low, "rotary_high": high, "rotary_original_length": longest}


def rotation_fields(fields: Fields) -> Fields:
    """The object that describes the rotation, old or new; an empty one where there is none."""
    name = "rope_scaling" if fields.values.get("rope_scaling") else "rope_parameters"
    values = fields.values.get(name) or {}
    expect(isinstance(values, dict), name, values, "an object")
    flat = not any(isinstance(inner, Mapping) for inner in values.values())
    expect(flat, name, values, "one rotation for every layer")
    return Fields(values)


def sliding_window(fields: Fields) -> int | None:
    """The size of the windows: null means that there are none, and nothing the default."""
    return fields.optional_size("sliding_window") if "sliding_window" in fields.values else WINDOW


def windows(fields: Fields, default: list[str], window: int | None) -> dict[str, Any]:
    """The config fields of windows, from ``layer_types``, or from ``default`` where the config has none."""
    types = fields.values.get("layer_types")
    types = default if types is None else types
    right = isinstance(types, list) and len(types) == len(default) and set(map(str, types)) <= {FULL, SLIDING}
    expect(right, "layer_types", types, f"a list of {len(default)}, each {FULL} or {SLIDING}")
    chosen = tuple(number for number, name in enumerate(types) if name == SLIDING)
    expect(window is not None or not chosen, "layer_types", types, f"no {SLIDING}, for the config names no window")
    return {"window": window, "windowed_layers": chosen} if chosen else {}


def alike(fields: Fields, layers: int, kind: str) -> None:
    """Refuse a config that tells layers apart where the library does not."""
    types = fields.values.get("layer_types")
    expect(types is None or types == [kind] * layers, "layer_types", types, f"{layers} times {kind}, or nothing")
