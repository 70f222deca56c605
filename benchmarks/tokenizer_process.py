"""What a text costs in a tokenizer's own process, beside the same text in this one.

    python -m benchmarks.tokenizer_process

A bundled tokenizer.json is read both ways. A shown text is cut into tokens once, so that the difference of the medians
is what a visitor waits longer; 20 ms are allowed. The first number is what loading costs once.
"""

import argparse
import statistics
import time
from collections.abc import Callable

from model.loading.checkpoint_files import BUNDLED, BUNDLED_NAMES, TOKENIZER
from model.loading.foreign_tokenizers import read_library_tokenizer
from model.tokenizer import Tokenizer

SENTENCE = "The old man that the dog bit walked slowly home, and nobody asked him why. "
TEXTS = {"a sentence": SENTENCE, "2,000 characters": (SENTENCE * 30)[:2000]}


def median(call: Callable[[], object], times: int) -> float:
    """Milliseconds of a call, the median of so many."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        taken.append(1000 * (time.perf_counter() - start))
    return statistics.median(taken)


def main() -> None:
    """Print a line for every tokenizer and text."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tokenizer_process", description="Time tokenizers.")
    parser.add_argument("--times", type=int, default=200, help="texts of each kind (200)")
    times = parser.parse_args().times
    for name in BUNDLED_NAMES:
        content = (BUNDLED / name / TOKENIZER).read_bytes()
        started = median(lambda: read_library_tokenizer(content, 1 << 20), 5)  # noqa: B023 -- called at once
        theirs, ours = read_library_tokenizer(content, 1 << 20), Tokenizer.from_json(content.decode())
        print(f"{name}: {len(content):,} bytes, {ours.size:,} tokens, read and started in {started:.0f} ms")
        for kind, text in TEXTS.items():
            assert theirs.encode(text) == ours.encode(text)
            there, here = (median(lambda: one.encode(text), times) for one in (theirs, ours))  # noqa: B023 -- as above
            print(f"  {kind}: {there:.2f} ms there, {here:.2f} ms here, {there - here:.2f} ms more")


if __name__ == "__main__":
    main()
