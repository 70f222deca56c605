"""How long a full trace of a loaded checkpoint takes, beside ``transformers`` with attentions and hidden states.

    python -m benchmarks.trace
    python -m benchmarks.trace --rounds 30 --tokens 16 512 --threads 1 --clock processor

A GPT-2 small with random weights is saved by ``transformers`` and loaded by both sides as users load it: ours by
``load_checkpoint``, theirs by ``from_pretrained`` with eager attention, which alone returns weights. Both run on a CPU,
in one process, without gradients and without a cache, and take turns: one round is ours, theirs, ours without logits.
Only ratios within a round mean something: other work on the machine moves both.
"""

import argparse
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
import transformers

from model import Checkpoint, load_checkpoint

MILLISECONDS = 1000
CLOCKS: dict[str, Callable[[], float]] = {"wall": time.perf_counter, "processor": time.process_time}


def save(folder: Path) -> None:
    """GPT-2 small with random weights."""
    transformers.GPT2LMHeadModel(transformers.GPT2Config()).save_pretrained(folder)


def their_model(folder: Path) -> transformers.GPT2LMHeadModel:
    """The saved model as ``transformers`` runs it where attention is asked for."""
    return transformers.GPT2LMHeadModel.from_pretrained(folder, attn_implementation="eager", use_cache=False).eval()


def seconds(call: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """How long one call takes, until its result is there; letting go of it is not counted."""
    start = clock()
    result = call()
    taken = clock() - start
    del result
    return taken


def measure(
    ours: Checkpoint, theirs: transformers.GPT2LMHeadModel, tokens: int, rounds: int, clock: Callable[[], float]
) -> list[list[float]]:
    """Seconds of ours, theirs and ours without logits, for every round; a first one is not counted."""
    ids = torch.randint(ours.config.vocabulary, (tokens,)).tolist()
    batch = torch.tensor([ids])

    def their_pass() -> object:
        with torch.no_grad():
            return theirs(batch, output_attentions=True, output_hidden_states=True)

    calls = (lambda: ours.trace_ids(ids), their_pass, lambda: ours.trace_ids(ids, logits=False))
    return [[seconds(call, clock) for call in calls] for _ in range(rounds + 1)][1:]


def add_clock(parser: argparse.ArgumentParser) -> None:
    """The option of which clock is read: on a busy machine, that of the processor says more than that on the wall."""
    parser.add_argument("--clock", choices=tuple(CLOCKS), default="wall", help="processor: time spent computing (wall)")


def spread(ratios: list[float]) -> str:
    """Median, least and largest."""
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})"


def row(tokens: int, times: list[list[float]]) -> str:
    """One line of the table: medians in milliseconds, and ratios to theirs, each within its own round."""
    medians = [MILLISECONDS * statistics.median(column) for column in zip(*times, strict=True)]
    full = spread([ours / theirs for ours, theirs, _ in times])
    bare = spread([bare / theirs for _, theirs, bare in times])
    return f"| {tokens} | {medians[0]:.0f} | {medians[1]:.0f} | {full} | {medians[2]:.0f} | {bare} |"


def machine() -> str:
    """What the figures were measured on and with."""
    threads = "1 torch thread" if torch.get_num_threads() == 1 else f"{torch.get_num_threads()} torch threads"
    return (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {threads}; "
        f"Python {platform.python_version()}, torch {torch.__version__}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trace", description="Time a full trace.")
    parser.add_argument("--rounds", type=int, default=15, help="rounds counted for each length (15)")
    parser.add_argument("--tokens", type=int, nargs="+", default=[16, 64, 256], help="lengths (16 64 256)")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="torch threads (its own choice)")
    add_clock(parser)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    print(f"{machine()}, transformers {transformers.__version__}; {options.rounds} rounds, {options.clock} clock\n")
    print("| tokens | ours, ms | transformers, ms | ratio | ours without logits, ms | ratio |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HEADLIGHT_CACHE"] = f"{folder}/cache"  # for our copy of the file
        save(Path(folder))
        ours, theirs = load_checkpoint(folder, device="cpu"), their_model(Path(folder))
        for tokens in options.tokens:
            print(row(tokens, measure(ours, theirs, tokens, options.rounds, CLOCKS[options.clock])), flush=True)
    print("\nMedians; a ratio is ours / transformers of one round: median (least–largest).")


if __name__ == "__main__":
    main()
