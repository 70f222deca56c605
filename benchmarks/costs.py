"""What a text of 16 to 1,024 tokens costs a small Transformer: the record that the page What it costs opens with.

    python -m benchmarks.costs

It times a forward pass and a training step of the model ``MEASURED`` on one thread, by the clock of the processor, so
that other work on the machine counts as little as can be, and writes model/measures/learn/records/costs.json.
"""

import time
from datetime import UTC, datetime

import torch

from benchmarks.trace import machine
from model.measures.learn.sizes.costs import LENGTHS, LengthRecord, time_lengths, write_record

COMMAND = "python -m benchmarks.costs"


def main() -> None:
    """Measure, print and keep."""
    torch.set_num_threads(1)
    points = []
    for point in time_lengths(LENGTHS, clock=time.process_time):
        print(f"{point.tokens:5} tokens: forward {point.forward:.4f} s, training step {point.training:.4f} s")
        points.append(point)
    date = datetime.now(tz=UTC).date().isoformat()
    write_record(LengthRecord(points=tuple(points), command=COMMAND, date=date, machine=machine()))


if __name__ == "__main__":
    main()
