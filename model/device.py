"""Which devices this machine computes on."""

import torch

from model.errors import InputError, printable


def available_devices() -> list[str]:
    """The devices that can be used, the fastest first: CUDA, then Apple's MPS, then the CPU."""
    devices = []
    if torch.cuda.is_available():
        devices.append("cuda")
    if torch.backends.mps.is_available():
        devices.append("mps")
    return [*devices, "cpu"]


def choose_device(name: str) -> torch.device:
    """The device of a name; "auto" is the fastest. InputError where this machine does not have it."""
    devices = available_devices()
    if name == "auto":
        return torch.device(devices[0])
    numbered = [f"cuda:{number}" for number in range(torch.cuda.device_count())] if "cuda" in devices else []
    if name not in devices + numbered:
        raise InputError(f"device: found {printable(name)!r}, expected auto or one of {', '.join(devices + numbered)}.")
    return torch.device(name)
