"""Several processes, on several GPUs or machines, that train one model: what ``torchrun`` starts.

Every process computes its share of a batch's rows, and the gradients are averaged (DistributedDataParallel, Li et al.
2020). The first process alone validates and writes; all of them read the folder that it writes to.
"""

import contextlib
import os
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch import distributed as dist
from torch.nn.parallel import DistributedDataParallel

from model.device import choose_device


class Share(NamedTuple):
    """Which of how many processes this one is."""

    rank: int = 0
    world: int = 1

    def of(self, rows: Tensor) -> Tensor:
        """This process's rows of a batch; the first row where there are none left for it."""
        return rows[self.rank :: self.world] if self.rank < len(rows) else rows[:1]

    def idle(self, count: int) -> bool:
        """Whether a batch of so many rows has none for this process."""
        return self.rank >= count


def share() -> Share:
    """What this process is; the only one, unless ``together`` has found others."""
    return Share(dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else Share()


def leads() -> bool:
    """Whether this is the process that validates and writes."""
    return share().rank == 0


@contextlib.contextmanager
def together(device: torch.device) -> Iterator[None]:
    """Join the processes that ``torchrun`` started beside this one, if it did."""
    several = int(os.environ.get("WORLD_SIZE", "1")) > 1
    if several:
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield
    finally:
        if several:
            dist.destroy_process_group()


@contextlib.contextmanager
def leader_first() -> Iterator[None]:
    """The first process does it while the others wait; then they do it and find it done."""
    if not leads():
        dist.barrier()
    yield
    if leads() and dist.is_initialized():
        dist.barrier()


def own_device(name: str) -> torch.device:
    """The device of a name; on a machine of several GPUs, "auto" and "cuda" are this process's own."""
    device = choose_device(name)
    local = os.environ.get("LOCAL_RANK")
    return torch.device(f"cuda:{local}") if device == torch.device("cuda") and local is not None else device


def spread(model: nn.Module) -> nn.Module:
    """The model, or what runs it and averages its gradients over the processes."""
    return DistributedDataParallel(model) if dist.is_initialized() else model


def mean(value: Tensor) -> float:
    """The mean of a number over the processes."""
    total = value.detach().clone()
    if dist.is_initialized():
        dist.all_reduce(total)
    return total.item() / share().world
