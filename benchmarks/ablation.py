"""What it takes to mute every head of a model once, beside a loop of hooks in TransformerLens.

    python -m benchmarks.ablation                  GPT-2 small with random weights, 32 tokens
    python -m benchmarks.ablation --rounds 5 --tokens 64

Ours is ``head_ablation``: the answer without each of the 144 heads. Theirs, where transformer_lens is installed (it
needs an environment of its own: a new one with requirements.txt, transformers and transformer_lens), zeroes a head's
``hook_z`` and reads the last token's probability: one pass a head, and one batch a layer, a row for each of its heads.
All take turns in one process; only ratios within a round mean something. The goal is 2.5 times as fast as the batches.

Beside it, for every bundled checkpoint, the sweep of a text of 32 tokens in milliseconds.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from benchmarks.trace import machine, save, seconds
from model import Checkpoint, available_checkpoints, load_checkpoint
from model.measures.causes.ablation import head_ablation

TEXT = " ".join(["the film was slow but good ,"] * 4 + ["and I loved it"])  # 32 tokens of the sentiment model
HEADS, LAYERS = 12, 12


def ours(folder: Path, ids: list[int]) -> Callable[[], object]:
    """The trace and the sweep over all heads."""
    checkpoint = load_checkpoint(folder, device="cpu")
    return lambda: head_ablation(checkpoint, checkpoint.trace_ids(ids))


def lens_sweeps(ids: list[int]) -> list[Callable[[], object]]:
    """The same by hooks of TransformerLens, a head and a layer at a time; none where it is not installed."""
    try:
        import transformer_lens  # type: ignore[import-not-found]
    except ImportError:
        return []
    config = transformer_lens.HookedTransformerConfig(
        n_layers=LAYERS, d_model=768, n_ctx=1024, d_head=64, n_heads=HEADS, d_vocab=50257, act_fn="gelu_new",
        normalization_type="LN", device="cpu", seed=0,
    )  # fmt: skip
    model = transformer_lens.HookedTransformer(config).eval()

    @torch.no_grad()
    def sweep(heads_at_once: int) -> list[torch.Tensor]:
        said = []
        for layer in range(LAYERS):
            for first in range(0, HEADS, heads_at_once):
                rows = torch.arange(heads_at_once)

                def mute(context: Any, hook: Any, rows: Any = rows, heads: Any = rows + first) -> Any:
                    context[rows, :, heads] = 0
                    return context

                hooks = [(f"blocks.{layer}.attn.hook_z", mute)]
                logits = model.run_with_hooks(torch.tensor([ids] * heads_at_once), fwd_hooks=hooks)
                said.append(logits[:, -1].softmax(dim=-1))
        return said

    return [lambda: sweep(1), lambda: sweep(HEADS)]


def spread(numbers: list[float]) -> str:
    """ "2.71 (2.60–2.84)": the median, the least and the largest."""
    return f"{statistics.median(numbers):.2f} ({min(numbers):.2f}–{max(numbers):.2f})"


def compare(tokens: int, rounds: int) -> None:
    """One line: ours in seconds, and how many times as long theirs take."""
    ids = torch.randint(50257, (tokens,), generator=torch.Generator().manual_seed(0)).tolist()
    with tempfile.TemporaryDirectory() as folder:
        save(Path(folder))
        calls = [ours(Path(folder), ids), *lens_sweeps(ids)]
    times = [[seconds(call) for call in calls] for _ in range(rounds + 1)][1:]
    line = f"{tokens} tokens: ours {spread([row[0] for row in times])} s"
    for place, name in enumerate(("a pass a head", "a batch a layer")[: len(calls) - 1], 1):
        line += f"; TransformerLens, {name}: {spread([row[place] / row[0] for row in times])} times as long"
    print(line)


def sweep_times(checkpoint: Checkpoint, rounds: int) -> list[float]:
    """Milliseconds of the trace and the sweep, each time."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        head_ablation(checkpoint, checkpoint.trace(TEXT))
        times.append(1000 * (time.perf_counter() - start))
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="how often all are timed (3)")
    parser.add_argument("--tokens", type=int, default=32, help="length of the text (32)")
    arguments = parser.parse_args()
    print(machine())
    compare(arguments.tokens, arguments.rounds)
    for name in available_checkpoints():
        times = sweep_times(load_checkpoint(name), arguments.rounds + 1)
        print(f"{name:16} first {times[0]:.0f} ms, then {spread(times[1:])} ms")


if __name__ == "__main__":
    main()
