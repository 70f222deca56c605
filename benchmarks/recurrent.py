"""Time and memory of an LSTM and a Transformer of as many parameters, by the length of the text.

    python -m benchmarks.recurrent
    python -m benchmarks.recurrent --rounds 5 --threads 1 --record costs.json

One text at a time, on the CPU, with fresh weights: a forward pass, and a training step (forward, loss, backward). Times
are the least of all rounds, for other work on the machine only adds to them; memory is that of tensors, at its peak.
The record is what the page Learn shows, until somebody has it measured there.
"""

import argparse
import shlex
import sys
from pathlib import Path

import torch

from benchmarks.trace import machine
from model.measures.learn import records
from model.measures.learn.recurrence.recurrent_cost import LENGTHS, Cost, costs, described_models

MEGABYTE = 1_000_000


def row(cost: Cost) -> str:
    """One line of the table."""
    times = f"{cost.forward_ms:.2f} | {cost.training_ms:.2f}"
    memory = f"{cost.forward_bytes / MEGABYTE:.2f} | {cost.training_bytes / MEGABYTE:.2f}"
    return f"| {cost.tokens} | {cost.model} | {times} | {memory} | {cost.waits} |"


def main() -> None:
    """Print the table, and write the record."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recurrent", description="Time an LSTM.")
    parser.add_argument("--rounds", type=int, default=30, help="rounds of each pass, of which the fastest counts (30)")
    parser.add_argument("--tokens", type=int, nargs="+", default=LENGTHS, help="lengths")
    parser.add_argument("--threads", type=int, default=1, help="torch threads (1)")
    parser.add_argument("--record", type=Path, default=records.RECORDS / "recurrent_cost.json", help="file to write")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print(f"{machine()}; the least of {options.rounds} rounds\n")
    print("| tokens | model | forward, ms | training step, ms | forward, MB | training step, MB | waits |")
    print("|---|---|---|---|---|---|---|", flush=True)
    rows = []
    for cost in costs(options.tokens, options.rounds, long_enough=60.0):
        rows.append(cost)
        print(row(cost), flush=True)
    command = shlex.join(["python", "-m", "benchmarks.recurrent", *sys.argv[1:]])
    about = {"command": command, "machine": machine(), "rounds": options.rounds, "models": described_models()}
    records.write(options.record, about | {"rows": [each.to_json() for each in rows]})


if __name__ == "__main__":
    main()
