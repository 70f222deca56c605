"""Where a model computes, and in which precision."""

import contextlib

import torch
from torch import nn


def device_of(model: nn.Module) -> torch.device:
    """Where a model's weights are."""
    return next(model.parameters()).device


def matrix_products(model: nn.Module, precision: str) -> contextlib.AbstractContextManager[object]:
    """For "bfloat16", matrix products of the model in it and everything else in float32; else all in float32."""
    kind = device_of(model).type
    return torch.autocast(kind, dtype=torch.bfloat16) if precision == "bfloat16" else contextlib.nullcontext()
