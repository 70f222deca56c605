"""What the trace of the longest text takes in memory, part by part, for every bundled checkpoint.

    python -m benchmarks.memory

Memory that several fields show, as the stream that leaves one layer and enters the next, counts once.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import torch
from torch import Tensor

from model import Checkpoint, available_checkpoints, load_checkpoint

MEGABYTE = 1_000_000
COLUMNS = ("weights", "hidden", "logits")


def named_tensors(record: Any, name: str) -> Iterator[tuple[str, Tensor]]:
    """Every tensor of a record, with the name of the field that it stands in."""
    if isinstance(record, Tensor):
        yield name, record
    elif isinstance(record, tuple):
        for item in record:
            yield from named_tensors(item, name)
    elif is_dataclass(record):
        for field in fields(record):
            yield from named_tensors(getattr(record, field.name), field.name)


def bytes_by_field(checkpoint: Checkpoint, tokens: int) -> Counter[str]:
    """What each field takes in the trace of so many tokens, and of as many of a target; all others as "rest"."""
    ids = torch.randint(checkpoint.config.vocabulary, (tokens,)).tolist()
    trace = checkpoint.trace_ids(ids, ids if checkpoint.config.is_encoder_decoder else None)
    sizes, counted = Counter[str](), set[int]()
    for name, tensor in named_tensors(trace, ""):
        memory = tensor.untyped_storage()
        if memory.data_ptr() not in counted:
            counted.add(memory.data_ptr())
            sizes[name if name in COLUMNS else "rest"] += memory.nbytes()
    return sizes


def main() -> None:
    """Print the table, in megabytes."""
    print(f"| checkpoint | tokens | {' | '.join(COLUMNS)} | rest | in all |")
    print("|---" * (len(COLUMNS) + 4) + "|")
    for name in available_checkpoints():
        checkpoint = load_checkpoint(name, device="cpu")
        sizes = bytes_by_field(checkpoint, checkpoint.longest)
        cells = [f"{sizes[field] / MEGABYTE:.1f}" for field in (*COLUMNS, "rest")]
        print(f"| {name} | {checkpoint.longest} | {' | '.join(cells)} | {sizes.total() / MEGABYTE:.1f} |")


if __name__ == "__main__":
    main()
