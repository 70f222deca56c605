"""Check your own attention against one head of a trained model. It needs Python, numpy and the NPZ file beside it.

Write your function in place of ``attention`` below and run this file. Another NPZ file is named behind it:

    python THIS_FILE.py another.npz

The file holds query, key and value (position, head_width), mask (query, key), and what is expected of them: scores,
masked, weights (query, key) and context (query, head_width). ``input`` is what the projection of the queries reads.
"""

import struct
import sys
import zipfile
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

FILE = "check-yours.npz"


def attention(query: Any, key: Any, value: Any, mask: Any) -> Sequence[Any]:
    """Yours. mask: True where the query (row) may see the key (column).

    They are arrays of NumPy; a function of torch gets its tensors from ``torch.from_numpy(query)`` and so on. Give back
    four arrays, or tensors: the scores q·k / √d_k (query, key), the scores after the mask (query, key), the weights
    (query, key), the context (query, head_width). Write None for one that your function does not have, as in

        return None, None, weights, weights @ value
    """
    raise NotImplementedError


GIVEN, EXPECTED = ("query", "key", "value", "mask"), ("scores", "masked", "weights", "context")
ROWS = {"scores": "key", "masked": "key", "weights": "key", "context": "coordinate"}  # what a column is
RELATIVE, ABSOLUTE = 1e-4, 1e-5  # what float32 may differ by
LOW_ENOUGH = -1e4  # a masked score below this leaves no weight
UNTESTED = (
    "this head may look at every token. Download a head of a decoder's own attention, on a few tokens, to test it"
)


def main(names: Sequence[str]) -> int:
    """The exit status: 0 where nothing differs."""
    name = names[0] if names else FILE
    try:
        arrays = load(name)
    except FileNotFoundError:
        print(f"There is no file {name} here. Put it beside this script, or name it: python {sys.argv[0]} FILE.npz")
        return 1
    except (OSError, ValueError, KeyError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error, struct.error):
        print(f"{name} cannot be read as a file of this script: it is damaged or another kind. Download it again.")
        return 1
    try:
        with np.errstate(all="ignore"):  # what comes of it is said below
            steps = attention(*(arrays[each] for each in GIVEN))
    except NotImplementedError:
        print("Write your function in place of the line that raises NotImplementedError, then run this again.")
        return 1
    if not isinstance(steps, tuple | list) or len(steps) != len(EXPECTED):
        print(f"Your function has to give back four things: {', '.join(EXPECTED)}. Write None for what it has not.")
        return 1
    return compare(steps, arrays)


def load(name: str) -> dict[str, np.ndarray]:
    """The arrays of a file. KeyError for one that is not there."""
    with np.load(name) as file:
        if not isinstance(file, np.lib.npyio.NpzFile):
            raise KeyError(name)
        arrays = {each: file[each] for each in file.files}  # all of them, for damage shows as an array is read
    if missing := {*GIVEN, *EXPECTED} - arrays.keys():
        raise KeyError(*missing)
    return arrays


def compare(steps: Sequence[Any], arrays: dict[str, np.ndarray]) -> int:
    """Step by step, until the first that differs."""
    checked = 0
    for name, step in zip(EXPECTED, steps, strict=True):
        if step is None:
            print(f"{name}: not given")
            continue
        difference = differs(name, step, arrays)
        if difference:
            print(f"{name}: {difference}\nThis is the first step that differs.")
            return 1
        checked += 1
        print(f"{name}: the same{remark(name, step, arrays)}")
    print(verdict(checked, tests_mask=not arrays["mask"].all()))
    return 0 if checked else 1


def verdict(checked: int, *, tests_mask: bool) -> str:
    """The last line, where no step differs."""
    if not checked:
        return "No step was given, so that nothing was compared."
    return f"Every step that was given is right{'.' if tests_mask else f', but the mask was not tested: {UNTESTED}.'}"


def differs(name: str, step: Any, arrays: dict[str, np.ndarray]) -> str:
    """What is wrong with a step, in words; "" where it is right."""
    expected = arrays[name]
    try:
        yours = numbers(step)
    except (TypeError, ValueError):
        return f"yours is no array of numbers; expected the shape {expected.shape}."
    if yours.shape != expected.shape:
        return wrong_shape(name, yours.shape, expected.shape)
    same = close(yours, expected)
    if name == "masked":
        same |= ~arrays["mask"] & (yours < LOW_ENOUGH)
    if same.all():
        return ""
    row, column = np.argwhere(~same)[0]
    return (
        f"query {row}, {ROWS[name]} {column} (counted from 0, as in the arrays): yours is {yours[row, column]:.6g}, "
        f"expected {expected[row, column]:.6g}. {int((~same).sum())} of {same.size} numbers differ. "
        f"{cause(name, yours, arrays)}"
    ).strip()


def numbers(step: Any) -> np.ndarray:
    """An array of float64; of a tensor of torch, too."""
    return np.asarray(step.detach().cpu() if hasattr(step, "detach") else step, dtype=np.float64)


def close(yours: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Where numbers agree; NaN agrees with nothing."""
    return np.isclose(yours, expected, rtol=RELATIVE, atol=ABSOLUTE)


def wrong_shape(name: str, yours: tuple[int, ...], expected: tuple[int, ...]) -> str:
    """Two shapes, and how one becomes the other."""
    told = f"yours has the shape {yours}, expected {expected}: a row for each query, a column for each {ROWS[name]}."
    if tuple(size for size in yours if size != 1) == tuple(size for size in expected if size != 1):
        return f"{told} Take the axes of length 1 away."
    return f"{told} Rows and columns have changed places." if yours == expected[::-1] else told


def cause(name: str, yours: np.ndarray, arrays: dict[str, np.ndarray]) -> str:
    """A likely reason for a difference; "" where none is known."""
    expected, mask, root = arrays[name], arrays["mask"], np.sqrt(arrays["query"].shape[1])
    if np.isnan(yours).any():
        return "Some of yours are NaN, as a softmax over nothing but −inf is."
    if name == "scores" and close(yours, expected * root).all():
        return f"Yours are √d_k = {root:.3g} times as large: the division by √d_k is missing."
    if (
        name == "scores"
        and "input" in arrays
        and close(yours, expected * root / np.sqrt(arrays["input"].shape[1])).all()
    ):
        return "Yours are divided by √d_model: the width of one head is meant."
    if name == "scores" and close(yours, expected.T).all():
        return "Yours are transposed: a row is a query, a column a key."
    if name == "masked" and (yours[mask] < LOW_ENOUGH).all():
        return "Yours hides what the query may see: True means that it may look there."
    if name == "masked" and close(yours, arrays["scores"]).all():
        return "Yours are the scores without a mask."
    if name == "weights" and np.allclose(yours.sum(axis=0), 1, atol=1e-3):
        return "Your columns add up to 1: the softmax has to run over the keys, along a row."
    return ""


def remark(name: str, step: Any, arrays: dict[str, np.ndarray]) -> str:
    """What can be said of a step that is right."""
    if name != "masked":
        return ""
    if arrays["mask"].all():
        return ", and would be without a mask"
    hidden = numbers(step)[~arrays["mask"]]
    if np.isneginf(hidden).all():
        return ""
    return f" where a query may look. Elsewhere yours is {hidden.max():.3g}, not −inf: see the page Mistakes."


if __name__ == "__main__":
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8")
    sys.exit(main(sys.argv[1:]))
