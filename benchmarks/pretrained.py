"""How long a checkpoint from elsewhere takes to load and to trace, beside the libraries that people use for it.

    python -m benchmarks.pretrained
    python -m benchmarks.pretrained --models gpt2 --rounds 5 --tokens 16 --no-load

Models of the shapes of GPT-2 small, BERT base and T5 small with random weights are saved by ``transformers`` and loaded
by ``load_checkpoint``. A trace is timed beside the eager model of ``transformers`` with attentions and hidden states,
and beside ``run_with_cache`` of TransformerLens where that is installed (it needs an environment of its own: a new one
with requirements.txt and transformer_lens). All take turns in one process; only ratios within a round mean something.

Loading is timed in a process of its own each: from the folder to a model that is ready, and how much memory that adds
at its peak. "first" makes our private copy of the file, "again" finds it.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers

from benchmarks.trace import MILLISECONDS, machine, seconds, spread
from model import load_checkpoint

MODELS: dict[str, Callable[[], Any]] = {
    "gpt2": lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config()),
    "bert": lambda: transformers.BertForMaskedLM(transformers.BertConfig()),
    "t5": lambda: transformers.T5ForConditionalGeneration(transformers.T5Config()),
}
MEGABYTE = 1 << 20


def save(name: str, folder: Path) -> None:
    """A model of this shape with random weights."""
    torch.manual_seed(0)
    MODELS[name]().save_pretrained(folder)


def their_call(folder: Path, ids: list[int], *, both: bool) -> Callable[[], object]:
    """The eager model of transformers on these ids, as source and as target where there are two sides."""
    theirs = auto_class(folder).from_pretrained(folder, attn_implementation="eager").eval()
    batch = {"input_ids": torch.tensor([ids])} | ({"decoder_input_ids": torch.tensor([ids])} if both else {})
    outputs = {"output_attentions": True, "output_hidden_states": True}

    def call() -> object:
        with torch.no_grad():
            return theirs(**batch, **outputs, **({} if "bert" in theirs.config.model_type else {"use_cache": False}))

    return call


def auto_class(folder: Path) -> Any:
    """The class that reads a folder with its head."""
    kind = json.loads((folder / "config.json").read_text())["model_type"]
    kinds = {"bert": transformers.AutoModelForMaskedLM, "t5": transformers.AutoModelForSeq2SeqLM}
    return kinds.get(kind, transformers.AutoModelForCausalLM)


def lens_call(name: str, ids: list[int]) -> Callable[[], object] | None:
    """TransformerLens with random weights of the same shape; None where it is not installed or has no such model."""
    try:
        import transformer_lens  # type: ignore[import-not-found]
    except ImportError:
        return None
    if name != "gpt2":
        return None
    config = transformer_lens.HookedTransformerConfig(
        n_layers=12, d_model=768, n_ctx=1024, d_head=64, n_heads=12, d_vocab=50257, act_fn="gelu_new",
        normalization_type="LN", device="cpu", seed=0,
    )  # fmt: skip
    model, batch = transformer_lens.HookedTransformer(config).eval(), torch.tensor([ids])

    def call() -> object:
        with torch.no_grad():
            return model.run_with_cache(batch)

    return call


def traced(name: str, folder: Path, tokens: int, rounds: int) -> str:
    """One line of the table of traces."""
    checkpoint = load_checkpoint(folder, device="cpu")
    both = checkpoint.config.architecture == "encoder-decoder"
    ids = torch.randint(checkpoint.config.vocabulary, (tokens,)).tolist()
    target: Any = {"target_ids": ids} if both else {}
    calls = [lambda: checkpoint.trace_ids(ids, **target), their_call(folder, ids, both=both)]
    lens = lens_call(name, ids)
    calls += [lens] if lens else []
    times = [[seconds(call) for call in calls] for _ in range(rounds + 1)][1:]
    ours = MILLISECONDS * sorted(row[0] for row in times)[rounds // 2]
    ratios = [spread([row[0] / row[other] for row in times]) for other in range(1, len(calls))]
    return f"| {name} | {tokens} | {ours:.0f} | {' | '.join([*ratios, '–'][:2])} |"


def load_in_child(which: str, folder: Path) -> tuple[float, float]:
    """Seconds and megabytes at the peak, over the process before it, for loading in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.pretrained", "--child", which, str(folder)]
    cost = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
    return cost["seconds"], cost["megabytes"]


def load_here(which: str, folder: Path) -> None:
    """What the process of its own does: load, and print what it took."""
    before, start = peak(), time.perf_counter()
    kept = load_checkpoint(folder, device="cpu") if which == "ours" else auto_loaded(folder)
    taken = time.perf_counter() - start
    print(json.dumps({"seconds": taken, "megabytes": peak() - before}))
    del kept


def auto_loaded(folder: Path) -> object:
    """The same by transformers."""
    return auto_class(folder).from_pretrained(folder)


def peak() -> float:
    """The most memory that this process has had, in megabytes, as Linux counts it."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) * 1024 / MEGABYTE


def loaded(name: str, folder: Path, rounds: int) -> list[str]:
    """The lines of the table of loading: first, again, and theirs, with the ratio to theirs within a round."""
    size = (folder / "model.safetensors").stat().st_size / MEGABYTE
    loads: dict[str, list[tuple[float, float]]] = {"first": [], "again": [], "transformers": []}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as cache:
            os.environ["HEADLIGHT_CACHE"] = cache
            loads["first"].append(load_in_child("ours", folder))
            loads["again"].append(load_in_child("ours", folder))
            loads["transformers"].append(load_in_child("theirs", folder))
    theirs = [taken for taken, _ in loads["transformers"]]
    return [
        f"| {name} | {which} | {spread([taken for taken, _ in times])} | "
        f"{spread([taken / other for (taken, _), other in zip(times, theirs, strict=True)])} | "
        f"{spread([memory / size for _, memory in times])} |"
        for which, times in loads.items()
    ]


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pretrained", description="Time foreign checkpoints.")
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS), help="which shapes (all)")
    parser.add_argument("--rounds", type=int, default=9, help="rounds counted (9)")
    parser.add_argument("--tokens", type=int, nargs="+", default=[16, 64, 256], help="lengths (16 64 256)")
    parser.add_argument("--no-load", action="store_true", help="leave loading out")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        load_here(options.child[0], Path(options.child[1]))
        return
    print(f"{machine()}, transformers {transformers.__version__}; {options.rounds} rounds\n")
    with tempfile.TemporaryDirectory() as root:
        for name in options.models:
            save(name, Path(root) / name)
        print("| model | tokens | ours, ms | ours / transformers | ours / TransformerLens |\n|---|---|---|---|---|")
        for name in options.models:
            for tokens in options.tokens:
                print(traced(name, Path(root) / name, tokens, options.rounds), flush=True)
        if not options.no_load:
            print(
                "\n| model | loading | seconds | ours / transformers | peak / size of the file |\n|---|---|---|---|---|"
            )
            for name in options.models:
                print("\n".join(loaded(name, Path(root) / name, options.rounds)), flush=True)


if __name__ == "__main__":
    main()
