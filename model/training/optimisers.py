"""What turns gradients into steps: AdamW for every weight, or Muon for the matrices of the blocks and AdamW for others.

AdamW: Loshchilov and Hutter 2019, "Decoupled Weight Decay Regularization", with the second beta of "Attention Is All
You Need", section 5.3. Muon: Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural networks"; its steps
are scaled so that both take the same learning rate (Liu et al. 2025, "Muon is Scalable for LLM Training", section 2.2).
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.optim import AdamW, Muon

from model.errors import InputError

NAMES = ("adamw", "muon")
BLOCKS = ".blocks."  # within the name of a weight of a block
MOMENTS = ("exp_avg", "exp_avg_sq", "momentum_buffer")  # what either keeps of a weight's earlier gradients
STEP = "step"


class Optimiser(NamedTuple):
    """One or two of torch's optimisers, each with weights of its own, and the model that they are of."""

    model: nn.Module
    parts: tuple[torch.optim.Optimizer, ...]

    def step(self, rate: float) -> None:
        """Cut the gradient's norm at 1, and take a step of that learning rate."""
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for part in self.parts:
            for group in part.param_groups:
                group["lr"] = rate
            part.step()

    def moments(self) -> Iterator[tuple[str, Tensor]]:
        """What is kept of earlier gradients: "exp_avg/<name of the weight>" and the like."""
        for name, parameter in self.model.named_parameters():
            for part in self.parts:
                kept = part.state.get(parameter, {})
                yield from ((f"{moment}/{name}", kept[moment]) for moment in MOMENTS if moment in kept)

    def set_moments(self, tensors: dict[str, Tensor], step: int) -> None:
        """Take up what ``moments`` gave after so many steps. InputError where another optimiser took these."""
        for part in self.parts:
            held = {parameter for group in part.param_groups for parameter in group["params"]}
            for name, parameter in self.model.named_parameters():
                if parameter in held:
                    part.state[parameter] = self.state_of(part, name, parameter, tensors, step)

    def state_of(
        self, part: torch.optim.Optimizer, name: str, parameter: Tensor, tensors: dict[str, Tensor], step: int
    ) -> dict[str, Tensor]:
        """What an optimiser of torch keeps of one weight."""
        names = MOMENTS[2:] if isinstance(part, Muon) else MOMENTS[:2]
        if not all(f"{moment}/{name}" in tensors for moment in names):
            raise InputError("--optimiser: another one took the steps of this folder; choose it, or another folder.")
        kept = {moment: tensors[f"{moment}/{name}"].to(parameter.device) for moment in names}
        counted = {} if isinstance(part, Muon) else {STEP: torch.tensor(float(step), device=parameter.device)}
        return counted | kept


def optimiser_of(model: nn.Module, name: str, weight_decay: float) -> Optimiser:
    """The optimiser of a name, one of ``NAMES``. Matrices decay; biases and norms do not."""
    of_muon = [p for each, p in model.named_parameters() if name == "muon" and BLOCKS in each and p.ndim == 2]
    held = set(of_muon)
    others = [parameter for parameter in model.parameters() if parameter not in held]
    adamw = AdamW(parameter_groups(others, weight_decay), betas=(0.9, 0.98), fused=True)
    if not of_muon:
        return Optimiser(model, (adamw,))
    return Optimiser(model, (Muon(of_muon, weight_decay=weight_decay, adjust_lr_fn="match_rms_adamw"), adamw))


def parameter_groups(parameters: list[nn.Parameter], weight_decay: float) -> list[dict[str, object]]:
    """Matrices decay; biases and norms do not."""
    matrices = [parameter for parameter in parameters if parameter.ndim > 1]
    vectors = [parameter for parameter in parameters if parameter.ndim <= 1]
    return [{"params": matrices, "weight_decay": weight_decay}, {"params": vectors, "weight_decay": 0.0}]
