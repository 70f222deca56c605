"""How long a full trace takes, beside ``transformers`` returning its attentions and hidden states.

    python -m benchmarks.trace
    python -m benchmarks.trace --rounds 30 --tokens 16 512 --threads 1

Both sides are a decoder of GPT-2 small's shape with random weights, on the CPU, in one process, without gradients, and
take turns: one round is ours, theirs, ours without logits. Theirs is the eager GPT-2 of ``transformers``, without a
cache and with the same GELU as ours. Only ratios within a round mean something: other work on the machine moves both.
"""

import argparse
import os
import platform
import statistics
import time
from collections.abc import Callable

import torch
import transformers

from model import Checkpoint, Config
from model.tokenizer import Tokenizer
from model.transformer import Transformer

CONFIG = Config(
    architecture="decoder",
    vocabulary=50_257,
    width=768,
    heads=12,
    layers=12,
    hidden=3072,
    max_length=1024,
    positions="learned",
    norm_order="pre",
    activation="gelu",
    scale_embeddings=False,
)
MILLISECONDS = 1000
CLOCKS: dict[str, Callable[[], float]] = {"wall": time.perf_counter, "processor": time.process_time}


def our_checkpoint() -> Checkpoint:
    """The decoder with a tokenizer that knows no more than a few letters; ids need none."""
    tokenizer = Tokenizer.train_word_pieces(iter(["a b c"]), 16)
    return Checkpoint("random", Transformer(CONFIG).eval(), tokenizer, {}, torch.device("cpu"))


def their_model() -> transformers.GPT2LMHeadModel:
    """The same decoder as ``transformers`` writes it."""
    config = transformers.GPT2Config(
        vocab_size=CONFIG.vocabulary,
        n_positions=CONFIG.max_length,
        n_embd=CONFIG.width,
        n_layer=CONFIG.layers,
        n_head=CONFIG.heads,
        n_inner=CONFIG.hidden,
        activation_function="gelu",
        use_cache=False,
    )
    model = transformers.GPT2LMHeadModel(config).eval()
    model.set_attn_implementation("eager")
    return model


def seconds(call: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """How long one call takes, until its result is there; letting go of it is not counted."""
    start = clock()
    result = call()
    taken = clock() - start
    del result
    return taken


def measure(ours: Checkpoint, theirs: transformers.GPT2LMHeadModel, tokens: int, rounds: int) -> list[list[float]]:
    """Seconds of ours, theirs and ours without logits, for every round; a first one is not counted."""
    ids = torch.randint(CONFIG.vocabulary, (tokens,)).tolist()
    batch = torch.tensor([ids])

    def their_pass() -> object:
        with torch.no_grad():
            return theirs(batch, output_attentions=True, output_hidden_states=True)

    calls = (lambda: ours.trace_ids(ids), their_pass, lambda: ours.trace_ids(ids, logits=False))
    return [[seconds(call) for call in calls] for _ in range(rounds + 1)][1:]


def add_clock(parser: argparse.ArgumentParser) -> None:
    """The option of which clock is read: on a busy machine, that of the processor says more than that on the wall."""
    parser.add_argument("--clock", choices=tuple(CLOCKS), default="wall", help="processor: time spent computing (wall)")


def spread(ratios: list[float]) -> str:
    """Median, least and largest."""
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})"


def row(tokens: int, times: list[list[float]]) -> str:
    """One line of the table: medians in milliseconds, and ratios to theirs, each within its own round."""
    medians = [MILLISECONDS * statistics.median(column) for column in zip(*times, strict=True)]
    full = spread([ours / theirs for ours, theirs, _ in times])
    bare = spread([bare / theirs for _, theirs, bare in times])
    return f"| {tokens} | {medians[0]:.0f} | {medians[1]:.0f} | {full} | {medians[2]:.0f} | {bare} |"


def machine() -> str:
    """What the figures were measured on and with."""
    return (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {torch.get_num_threads()} torch threads; "
        f"Python {platform.python_version()}, torch {torch.__version__}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trace", description="Time a full trace.")
    parser.add_argument("--rounds", type=int, default=15, help="rounds counted for each length (15)")
    parser.add_argument("--tokens", type=int, nargs="+", default=[16, 64, 256], help="lengths (16 64 256)")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="torch threads (its own choice)")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    ours, theirs = our_checkpoint(), their_model()
    print(f"{machine()}, transformers {transformers.__version__}; {options.rounds} rounds")
    print(f"parameters: ours {ours.model.parameter_count():,}, theirs {theirs.num_parameters():,}\n")
    print("| tokens | ours, ms | transformers, ms | ratio | ours without logits, ms | ratio |")
    print("|---|---|---|---|---|---|")
    for tokens in options.tokens:
        print(row(tokens, measure(ours, theirs, tokens, options.rounds)), flush=True)
    print("\nMedians; a ratio is ours / transformers of one round: median (least–largest).")


if __name__ == "__main__":
    main()
