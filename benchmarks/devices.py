"""Whether every device of this machine computes the same trace as its CPU, and how long each takes.

    python -m benchmarks.devices

Compares every tensor of the traces of a random encoder, decoder and encoder-decoder, and of the bundled sentiment
checkpoint. The exit code is 1 where a tensor differs by more than 1e-4, relative to its largest number where that is
above 1.
"""

import copy
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from benchmarks.trace import MILLISECONDS, machine, seconds
from model import Checkpoint, CheckpointError, Config, Trace, available_devices, load_checkpoint
from model.config import ARCHITECTURES
from model.tokenizer import Tokenizer
from model.transformer import Transformer

TOLERANCE = 1e-4
ROUNDS = 10
LENGTH = 64
SENTENCE = "The film was slow and far too long, but I loved every minute of it."
Traced = Callable[[str], Callable[[], Trace]]  # a device to what makes a trace on it


def random_traces(architecture: str) -> Traced:
    """A seeded model of this architecture, and the traces of random ids in it."""
    torch.manual_seed(0)
    both = architecture == "encoder-decoder"
    config = Config(
        architecture=architecture,
        vocabulary=1000,
        width=128,
        heads=8,
        layers=4,
        hidden=512,
        max_length=LENGTH,
        labels=("no", "yes") if architecture == "encoder" else (),
        start_id=1 if both else None,
        end_id=2 if both else None,
    )
    tokenizer = Tokenizer.train_word_pieces(iter(["a b c"]), 16)
    on_cpu = Checkpoint(architecture, Transformer(config).eval(), tokenizer, {}, torch.device("cpu"))
    ids = torch.randint(config.vocabulary, (LENGTH,)).tolist()
    target = ids[::-2] if both else None

    def on(device: str) -> Callable[[], Trace]:
        model = copy.deepcopy(on_cpu.model).to(device)
        return partial(replace(on_cpu, model=model, device=torch.device(device)).trace_ids, ids, target)

    return on


def sentiment_traces(device: str) -> Callable[[], Trace]:
    """The traces of a sentence in the bundled checkpoint."""
    return partial(load_checkpoint("sentiment", device).trace, SENTENCE)


def named_tensors(record: Any, name: str = "trace") -> Iterator[tuple[str, Tensor]]:
    """Every tensor of a trace with the expression that reaches it."""
    if isinstance(record, Tensor):
        yield name, record
    if isinstance(record, tuple):
        for index, item in enumerate(record):
            yield from named_tensors(item, f"{name}[{index}]")
    if is_dataclass(record):
        for field in fields(record):
            yield from named_tensors(getattr(record, field.name), f"{name}.{field.name}")


def difference(ours: Tensor, expected: Tensor) -> float:
    """The largest difference, relative to the largest finite number where that is above 1; NaN counts as infinite."""
    if ours.shape != expected.shape:
        return float("inf")
    ours, expected = ours.double(), expected.double()
    apart = (ours - expected).abs().masked_fill(ours == expected, 0).nan_to_num(nan=float("inf"))
    largest = expected[expected.isfinite()].abs().max() if expected.isfinite().any() else torch.tensor(0.0)
    return float(apart.max() / largest.clamp(min=1))


def compare(ours: Trace, expected: Trace) -> tuple[float, str]:
    """The largest difference of two traces, and where it is."""
    one, other = dict(named_tensors(ours)), dict(named_tensors(expected))
    if one.keys() != other.keys():
        return float("inf"), "its fields"
    return max((difference(one[name], other[name]), name) for name in one)


def milliseconds(call: Callable[[], Trace]) -> float:
    """The median time of a trace, its way back to the CPU included; the first was made before."""
    return MILLISECONDS * statistics.median(seconds(call) for _ in range(ROUNDS))


def agrees(name: str, traced: Traced, devices: list[str]) -> bool:
    """Print one model's line for each device; whether all are within the tolerance."""
    on_cpu = traced("cpu")
    expected, right = on_cpu(), True
    count = sum(1 for _ in named_tensors(expected))
    print(f"{name}, cpu: {count} tensors, {milliseconds(on_cpu):.1f} ms")
    for device in devices:
        there = traced(device)
        apart, where = compare(there(), expected)
        right = right and apart <= TOLERANCE
        verdict = "agrees" if apart <= TOLERANCE else f"DIFFERS by more than {TOLERANCE:g}"
        print(f"{name}, {device}: {verdict}, at most {apart:.1e} ({where}), {milliseconds(there):.1f} ms")
    return right


def main() -> None:
    """Print every comparison; exit with 1 where one fails."""
    devices = [device for device in available_devices() if device != "cpu"]
    print(machine())
    for device in devices:
        print(f"{device}: {torch.cuda.get_device_name() if device == 'cuda' else 'Apple GPU'}")
    if not devices:
        print("No GPU was found here: there is nothing to compare the CPU with, and only its times follow.")
    right = [agrees(name, random_traces(name), devices) for name in ARCHITECTURES]
    try:
        right.append(agrees("sentiment", sentiment_traces, devices))
    except CheckpointError as error:
        print(f"sentiment: left out, for it cannot be loaded ({error})")
    sys.exit(0 if all(right) else 1)


if __name__ == "__main__":
    main()
