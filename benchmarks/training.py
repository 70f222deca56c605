"""How many tokens a second are learned from, beside ``nn.Transformer`` of the same size in the same loop.

    python -m benchmarks.training
    python -m benchmarks.training --rounds 3 --steps 5 --precision float32 --device cpu --threads 1

Both sides are the translator of ``checkpoints/translate-en-fr`` with random weights: one table for source, target and
projection, sinusoidal positions, post-norm. They learn the same batches of random pairs, four to 24 tokens long, by the
steps of ``model.training``: same loss, precision, optimiser and cut of the gradient, in one process, and take turns.
"its own dropout" also drops attention weights and hidden values, as ``nn.Transformer`` does unless one reaches into it;
"ours" drops what our model drops, embeddings and the output of every sublayer. Tokens are those of the targets. Only
ratios within a round mean something: other work on the machine moves both, less so with one thread and
``--clock processor``, which counts the seconds spent computing.
"""

import argparse
import math
import statistics
from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.trace import CLOCKS, add_clock, machine, seconds, spread
from model.checkpoint import CHECKPOINTS
from model.config import Config
from model.device import choose_device
from model.loading.checkpoint_files import read_config
from model.positions import sinusoids
from model.training import loop, next_token
from model.training.data.id_rows import IdRows
from model.training.data.sentence_pairs import PairBatches, Parallel
from model.training.distributed import Share
from model.training.next_token import Predict, Predicted
from model.training.precision import device_of
from model.training.translate import parse, predictions
from model.transformer import Transformer

PAIRS, SHORTEST, LONGEST, MORE = 20_000, 4, 24, 3  # a target is up to so many tokens longer or shorter than its source


class Theirs(nn.Module):
    """The translator as one writes it around ``nn.Transformer``."""

    table: Tensor

    def __init__(self, config: Config, *, same_dropout: bool) -> None:
        super().__init__()
        self.width = config.width
        self.embedding = nn.Embedding(config.vocabulary, config.width)
        nn.init.normal_(self.embedding.weight, std=config.width**-0.5)
        self.dropout = nn.Dropout(config.dropout)
        self.register_buffer("table", sinusoids(config.max_length, config.width).float())
        self.transformer = nn.Transformer(
            config.width, config.heads, config.layers, config.layers, config.hidden, config.dropout, batch_first=True
        )
        self.transformer.encoder.norm = self.transformer.decoder.norm = None  # a norm more than the paper has
        if same_dropout:
            for module in self.modules():
                if isinstance(module, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer):
                    module.dropout.p = 0.0
                if isinstance(module, nn.MultiheadAttention):
                    module.dropout = 0.0

    def vectors(self, ids: Int[Tensor, "pair position"]) -> Float[Tensor, "pair position width"]:
        """Token vectors with their positions."""
        return self.dropout(self.embedding(ids) * math.sqrt(self.width) + self.table[: ids.shape[1]])

    def forward(
        self,
        source: Int[Tensor, "pair position"],
        padding_mask: Bool[Tensor, "pair position"],
        target: Int[Tensor, "pair last"],
    ) -> Float[Tensor, "pair last vocabulary"]:
        """The logits of the target's next tokens."""
        causal = nn.Transformer.generate_square_subsequent_mask(target.shape[1], device=target.device, dtype=torch.bool)
        final = self.transformer(
            self.vectors(source), self.vectors(target), tgt_mask=causal, src_key_padding_mask=~padding_mask,
            memory_key_padding_mask=~padding_mask, tgt_is_causal=True,
        )  # fmt: skip
        return F.linear(final, self.embedding.weight)


def their_predictions(batches: PairBatches) -> Predict:
    """What ``Theirs`` says of the same batches."""

    def predict(network: nn.Module, number: int, share: Share) -> Predicted:
        batch = batches.at(number)
        source, padding_mask, target = (part.to(device_of(network)) for part in batch)
        logits = network(source, padding_mask, target[:, :-1])
        return next_token.predicted(logits, target[:, 1:], batch.target[:, 1:], share)

    return predict


def random_pairs(vocabulary: int) -> Parallel:
    """Pairs of random ids, of the lengths of everyday sentences."""
    rng = np.random.default_rng(0)
    source = rng.integers(SHORTEST, LONGEST + 1, size=PAIRS)
    target = (source + rng.integers(-MORE, MORE + 1, size=PAIRS)).clip(SHORTEST, LONGEST)

    def rows(lengths: np.ndarray) -> IdRows:
        ids = rng.integers(4, vocabulary, size=int(lengths.sum()), dtype=np.int32)
        return IdRows(ids=ids, bounds=np.concatenate([[0], lengths.cumsum()]))

    return Parallel(source=rows(source), target=rows(target))


def learner(network: nn.Module, predict: Predict, options: argparse.Namespace) -> Callable[[int], int]:
    """What takes the step of a number as our training does; the tokens that it learned from."""
    defaults = parse(["train", "--data", ".", "--out", "."])
    schedule = loop.Schedule(steps=1_000_000, peak_rate=defaults.rate, warm_up=1000, weight_decay=defaults.weight_decay)
    optimiser = loop.optimiser_of(network, schedule)
    learning = next_token.learning(predict, predict, 0, smoothing=defaults.smoothing, precision=options.precision)

    def step(number: int) -> int:
        loss, batch = loop.take(number, network, optimiser, learning, schedule)
        assert math.isfinite(loss)
        return batch.tokens

    return step


def sides(options: argparse.Namespace) -> dict[str, Callable[[int], int]]:
    """Ours, and theirs twice."""
    config, device = Config.from_json(read_config(CHECKPOINTS / "translate-en-fr")), choose_device(options.device)
    defaults = parse(["train", "--data", ".", "--out", "."])
    pairs = random_pairs(config.vocabulary)
    batches = PairBatches(pairs=pairs, tokens=defaults.batch_tokens, longest=config.max_length - 1, seed=0)
    ours = Transformer(config).to(device)
    learners: dict[str, Callable[[int], int]] = {"ours": learner(ours, predictions(batches), options)}
    for name, same in (("nn.Transformer, our dropout", True), ("nn.Transformer, its own dropout", False)):
        theirs = Theirs(config, same_dropout=same).to(device)
        count = sum(parameter.numel() for parameter in theirs.parameters())
        assert count == ours.parameter_count(), f"{count:,} parameters beside {ours.parameter_count():,}"
        learners[name] = learner(theirs, their_predictions(batches), options)
    return learners


def speed(step: Callable[[int], int], numbers: range, clock: Callable[[], float]) -> float:
    """Tokens a second over these steps."""
    tokens = list[int]()
    taken = seconds(lambda: tokens.extend(step(number) for number in numbers), clock)
    return sum(tokens) / taken


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.training", description="Time training.")
    parser.add_argument("--rounds", type=int, default=7, help="rounds counted (7)")
    parser.add_argument("--steps", type=int, default=8, help="steps of each side in a round (8)")
    parser.add_argument("--precision", choices=("bfloat16", "float32"), default="bfloat16", help="of matrix products")
    parser.add_argument("--device", default="cpu", help="auto, cuda, mps or cpu (cpu)")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="torch threads (its own choice)")
    add_clock(parser)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    how = f"{options.precision}, {options.rounds} rounds of {options.steps} steps, {options.clock} clock"
    print(f"{machine()}; {how}\n", flush=True)
    both = sides(options)
    for step in both.values():  # a first step is not counted
        step(0)
    last = 1 + options.rounds * options.steps
    rounds = [range(first, first + options.steps) for first in range(1, last, options.steps)]
    speeds = [[speed(step, numbers, CLOCKS[options.clock]) for step in both.values()] for numbers in rounds]
    print("| side | tokens/s | ours / it |\n|---|---|---|")
    for side, name in enumerate(both):
        median = statistics.median(row[side] for row in speeds)
        print(f"| {name} | {median:,.0f} | {spread([row[0] / row[side] for row in speeds])} |")


if __name__ == "__main__":
    main()
