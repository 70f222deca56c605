"""One head of a text for readers who coded along: its arrays, and a script that compares their function with them."""

import math
from pathlib import Path

import numpy as np

from model.config import Config
from model.scores import for_every_head
from model.trace import AttentionTrace
from viz.export.data_files import npz
from viz.export.provenance import Provenance, facts_of, one_line

AT_HOME = Path(__file__).with_name("check_at_home.py")  # read as a text and never imported by the app
FILE_LINE = 'FILE = "check-yours.npz"\n'


def can_check(config: Config) -> bool:
    """Whether a head's scores are q·k / √d_k and nothing else, as the script says."""
    own_scale = config.score_scale is not None and not math.isclose(config.score_scale, config.head_width**-0.5)
    plain = not (own_scale or config.score_scale_by_layer or config.score_cap)
    return plain and config.positions not in ("relative", "alibi")


def check_arrays(attention: AttentionTrace, head: int) -> dict[str, np.ndarray]:
    """What a function is given, and what it should give back: ``masked`` are the scores after the mask.

    input (query, width), query (query, head_width), key, value (key, head_width), mask, scores, masked, weights (query,
    key), context (query, head_width). The context is that of a head that is not muted.
    """
    heads = attention.query.shape[-3]
    key, value = (for_every_head(part, heads)[head] for part in (attention.key, attention.value))
    mask = attention.mask if attention.mask.ndim == 2 else attention.mask.expand(heads, -1, -1)[head]
    arrays = {
        "input": attention.input,
        "query": attention.query[head],
        "key": key,
        "value": value,
        "mask": mask,
        "scores": attention.products[head] * attention.scale,
        "masked": attention.scores[head],
        "weights": attention.weights[head],
        "context": attention.weights[head] @ value,
    }
    return {name: np.ascontiguousarray(array.numpy()) for name, array in arrays.items()}


def check_file(attention: AttentionTrace, head: int, *, provenance: Provenance) -> bytes:
    """The arrays as NPZ, without pickle."""
    return npz(check_arrays(attention, head), provenance=provenance)


def check_script(file: str, *, provenance: Provenance) -> str:
    """The script, which opens the NPZ file of this name where no other is named."""
    facts = "".join(f"# {name}: {one_line(fact)}\n" for name, fact in facts_of(provenance).items())
    source = AT_HOME.read_text(encoding="utf-8")
    return source.replace(FILE_LINE, f"{facts}FILE = {file!r}\n", 1)
