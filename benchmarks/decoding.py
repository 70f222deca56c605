"""How many tokens a second are produced, beside ``generate`` of ``transformers``, with all attention kept by both.

    python -m benchmarks.decoding
    python -m benchmarks.decoding --models bart --rounds 3 --tokens 32 --threads 1

Models of the shapes of GPT-2 small and BART base with random weights are saved by ``transformers`` and loaded by
``load_checkpoint``. Both sides decode the same ids, greedily and with 4 beams, from a cache, in one process, and take
turns; neither comes to an end token. Theirs keeps attention by ``output_attentions=True,
return_dict_in_generate=True``; ours puts its steps together into the trace of the whole, in time that counts. What they
write is compared. Only ratios within a round mean something: other work on the machine moves both, less so with one
thread and ``--clock processor``, which counts the seconds spent computing.
"""

import argparse
import json
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers

from benchmarks.trace import CLOCKS, add_clock, machine, seconds, spread
from model import Checkpoint, load_checkpoint
from model.decoding.beam import search
from model.decoding.logits_processors import NO_PROCESSORS
from model.decoding.prompt import decoder_of, start_ids, written_trace
from model.decoding.steps import likeliest, write
from model.edits import NO_EDITS

MODELS: dict[str, Callable[[], Any]] = {
    "gpt2": lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config()),
    "bart": lambda: transformers.BartForConditionalGeneration(transformers.BartConfig(
        vocab_size=50_265, d_model=768, encoder_layers=6, decoder_layers=6, encoder_ffn_dim=3072, decoder_ffn_dim=3072,
        encoder_attention_heads=12, decoder_attention_heads=12, eos_token_id=50_264,
    )),
}  # fmt: skip
SOURCE = 16  # tokens that are there at the start


def our_call(ours: Checkpoint, ids: tuple[int, ...], tokens: int, width: int) -> Callable[[], list[int]]:
    """Our decoding of ids, and the trace of what it wrote."""
    start = start_ids(ours.config, ids)
    most = len(start) + tokens

    def call() -> list[int]:
        decoder = decoder_of(
            ours.model, ids, NO_EDITS, name=ours.name, rows=None if width == 1 else width, longest=most
        )
        if width == 1:
            steps, rows = list(write(decoder, start, most, likeliest, NO_PROCESSORS)), []
        else:
            *_, beams = search(decoder, torch.tensor([start]), width, 0.0, most, recorded=True)
            steps, rows = beams.chosen(0, start), beams.rows(0)
        written_trace(decoder, ids, start, steps, rows, name=ours.name)
        return [chosen.token_id for chosen in steps]

    return call


def their_call(folder: Path, ids: tuple[int, ...], tokens: int, width: int) -> Callable[[], list[int]]:
    """The eager model of transformers, which alone keeps attention, with its own cache."""
    kind = json.loads((folder / "config.json").read_text())["architectures"][0]
    theirs = getattr(transformers, kind).from_pretrained(folder, attn_implementation="eager").eval()
    how = {"do_sample": False, "num_beams": width, "max_new_tokens": tokens, "length_penalty": 0.0}
    plain = {"eos_token_id": None, "forced_eos_token_id": None, "forced_bos_token_id": None, "pad_token_id": 1}
    keep = {"output_attentions": True, "return_dict_in_generate": True}
    batch = torch.tensor([ids])

    def call() -> list[int]:
        generation = theirs.generate(batch, attention_mask=torch.ones_like(batch), **how, **plain, **keep)
        return generation.sequences[0, -tokens:].tolist()

    return call


def row(name: str, folder: Path, width: int, options: argparse.Namespace) -> str:
    """One line of the table: medians in tokens a second, and ratios within a round."""
    ids, tokens = tuple(torch.randint(4, 50_000, (SOURCE,)).tolist()), options.tokens
    ours, theirs = (
        our_call(load_checkpoint(folder, device="cpu"), ids, tokens, width),
        their_call(folder, ids, tokens, width),
    )
    same = sum(one == other for one, other in zip(ours(), theirs(), strict=True))
    clock = CLOCKS[options.clock]
    times = [(seconds(ours, clock), seconds(theirs, clock)) for _ in range(options.rounds)]
    speeds = [tokens / statistics.median(column) for column in zip(*times, strict=True)]
    ratio = spread([slow / fast for fast, slow in times])
    return f"| {name} | {width} | {speeds[0]:.1f} | {speeds[1]:.1f} | {ratio} | {same} of {tokens} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.decoding", description="Time decoding.")
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS), help="which shapes (both)")
    parser.add_argument("--beams", type=int, nargs="+", default=[1, 4], help="widths; 1 is greedy (1 4)")
    parser.add_argument("--rounds", type=int, default=7, help="rounds counted (7)")
    parser.add_argument("--tokens", type=int, default=48, help="tokens to produce (48)")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="torch threads (its own choice)")
    add_clock(parser)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    transformers.logging.set_verbosity_error()
    print(f"{machine()}, transformers {transformers.__version__}; {options.rounds} rounds, {options.clock} clock\n")
    print("| model | beams | ours, tokens/s | transformers, tokens/s | ratio | same tokens |")
    print("|---|---|---|---|---|---|")
    for name in options.models:
        with tempfile.TemporaryDirectory() as folder:
            torch.manual_seed(0)
            MODELS[name]().save_pretrained(folder)
            for width in options.beams:
                print(row(name, Path(folder), width, options), flush=True)


if __name__ == "__main__":
    main()
