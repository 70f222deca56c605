"""Has a pretrained sentence encoder say of sentences that nobody has labelled how likely they speak well of something.

    python -m model.training.sentence_teacher label --encoder FOLDER --rated RATED --reviews DIR --out taught.tsv

Film reviews do not have the words of everyday life; an encoder that has read far more texts than our classifier knows
what they mean. It learns, from its vectors as they are, the opinions that people rated
(data/rated.py) and those written for this project (data/opinions.py); then it labels the single sentences of the
unlabelled reviews in DIR (``--reviews``), or the first column of files of sentences (``--texts``). The classifier
learns from these labels (Hinton et al. 2015, "Distilling the Knowledge in a Neural Network"). FOLDER holds an encoder
as the package ``transformers`` saves it; ours is all-mpnet-base-v2 (Apache 2.0). Needs transformers, which
requirements-dev.txt has.
"""

import argparse
import gzip
import random
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Float32
from torch import Tensor, nn
from torch.nn import functional as F
from tqdm import tqdm

from model.errors import InputError
from model.training import command_line
from model.training.data.batches import NEGATORS
from model.training.data.corpora import sentences, split_groups
from model.training.data.list_files import words
from model.training.data.opinions import PROBABILITIES, opinions
from model.training.data.preparation import HELD_OUT, evaluated_sentences, reviews
from model.training.data.rated import rated_opinions, rated_texts
from model.training.data.taught import Taught

LAYERS = (6, 8, 10)  # whose vectors are read; docs/training.md compares some
MOST_TOKENS, BATCH_TOKENS = 48, 2048  # of a sentence, and of a batch, padding included
HIDDEN, DROPOUT = 192, 0.3
NETWORKS, EPOCHS, BATCH, RATE, DECAY = 4, 9, 256, 1e-3, 0.1
WRITTEN_WEIGHT = 2.0  # a sentence that was written for the project counts so often
AT_ONCE = 2048  # sentences that are labelled, and written, at a time
CLEAR = 0.85  # from here, or from 1 less it, an opinion is clear
LONGEST = 20  # words of a sentence of a review
CLAUSES = 0.3  # the share of these sentences of which a clause alone is taken
CLAUSE_END = re.compile(r", | but |; | - | and ")
NO_TRANSFORMERS = "Labelling sentences needs transformers: pip install -r requirements-dev.txt."
NO_ENCODER = "--encoder: found no encoder that transformers can load in this folder."
Vectors = Float[Tensor, "sentence feature"]


class SentenceEncoder:
    """A pretrained encoder as it is: the mean over a sentence's tokens of what some of its layers write."""

    def __init__(self, folder: Path, precision: torch.dtype = torch.bfloat16) -> None:
        """InputError where there is no encoder, or no package to load it with."""
        try:
            from transformers import AutoConfig, AutoModel, AutoTokenizer
        except ImportError:
            raise InputError(NO_TRANSFORMERS) from None
        try:
            self.tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            config: Any = AutoConfig.from_pretrained(folder, local_files_only=True)
            config.num_hidden_layers = min(config.num_hidden_layers, max(LAYERS))  # what comes after is not read
            self.network: Any = AutoModel.from_pretrained(
                folder, config=config, local_files_only=True, use_safetensors=True
            )
        except (OSError, ValueError):
            raise InputError(NO_ENCODER) from None
        self.network.eval().to(precision)
        self.layers = [layer for layer in LAYERS if layer <= config.num_hidden_layers]

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The tokens of sentences."""
        return [self.tokenizer(text, truncation=True, max_length=MOST_TOKENS)["input_ids"] for text in texts]

    @torch.inference_mode()
    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Of every sentence, those of the layers one after the other."""
        ids = self.ids(texts)
        found = torch.empty(len(texts), len(self.layers) * self.network.config.hidden_size)
        for batch in batches_of(list(map(len, ids))):
            padded = self.tokenizer.pad({"input_ids": [ids[at] for at in batch]}, return_tensors="pt")
            written = self.network(**padded, output_hidden_states=True).hidden_states
            there = padded["attention_mask"][..., None].to(written[0].dtype)
            means = [(written[layer] * there).sum(dim=1) / there.sum(dim=1) for layer in self.layers]
            found[batch] = torch.cat(means, dim=-1).float()
        return found


def batches_of(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Numbers of sentences, the shortest first, as many at a time as a batch has room for."""
    batch: list[int] = []
    for at in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and lengths[at] * (len(batch) + 1) > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(at)
    if batch:
        yield batch


class SentenceTeacher:
    """The log-odds of "positive": the mean of small networks on standardised vectors."""

    def __init__(
        self, vectors: Vectors, positive: Float[Tensor, " sentence"], weights: Float[Tensor, " sentence"]
    ) -> None:
        """Learns these probabilities. weights: how much each sentence counts."""
        self.mean, self.deviation = vectors.mean(dim=0), vectors.std(dim=0).clamp_min(1e-6)
        standard = self.standard(vectors)
        self.networks = [trained(standard, positive, weights, seed) for seed in range(NETWORKS)]

    def standard(self, vectors: Vectors) -> Vectors:
        """Vectors with mean 0 and deviation 1 over what was learned from."""
        return (vectors - self.mean) / self.deviation

    @torch.inference_mode()
    def positive(self, vectors: Vectors) -> Float32[np.ndarray, " sentence"]:
        """The probability of each."""
        standard = self.standard(vectors)
        odds = torch.stack([network(standard)[:, 0] for network in self.networks]).mean(dim=0)
        return odds.sigmoid().numpy()


def trained(
    vectors: Vectors, positive: Float[Tensor, " sentence"], weights: Float[Tensor, " sentence"], seed: int
) -> nn.Module:
    """A network of one hidden layer; the rate falls in a line to zero."""
    torch.manual_seed(seed)
    network = nn.Sequential(
        nn.Dropout(DROPOUT), nn.Linear(vectors.shape[1], HIDDEN), nn.GELU(), nn.Dropout(DROPOUT), nn.Linear(HIDDEN, 1)
    )
    optimiser = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=DECAY)
    steps = EPOCHS * -(-len(positive) // BATCH)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: 1 - step / steps)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(positive)).split(BATCH):
            said = network(vectors[batch])[:, 0]
            losses = F.binary_cross_entropy_with_logits(said, positive[batch], reduction="none")
            optimiser.zero_grad()
            (losses * weights[batch]).mean().backward()
            optimiser.step()
            schedule.step()
    return network.eval()


def known_opinions(rated: Sequence[Path]) -> tuple[list[str], list[float], list[float]]:
    """The sentences that a teacher learns, the probability of "positive" of each, and how much it counts."""
    evaluated = evaluated_sentences()
    ratings = [one for one in rated_texts(rated) if words(one.text) not in evaluated]
    written = [(text, odds) for heading, odds in PROBABILITIES.items() for text in opinions(heading)]
    texts = [one.text for one in ratings] + [text for text, _ in written]
    of_people = rated_opinions([one.rating for one in ratings])[:, 1].tolist() if ratings else []
    weights = [1.0] * len(ratings) + [WRITTEN_WEIGHT] * len(written)
    return texts, of_people + [odds for _, odds in written], weights


def review_sentences(data: Path, draw: random.Random) -> Iterator[str]:
    """The single sentences of the unlabelled reviews, of some a clause alone; not of films to validate with."""
    kept, _ = split_groups(list(reviews(data / "unsup.jsonl.xz", labelled=False)), lambda one: one.group, HELD_OUT)
    for review in kept:
        for sentence in sentences(review.text):
            text = " ".join(sentence.split())
            clauses = [part for part in CLAUSE_END.split(text) if len(part.split()) > 1]
            if clauses and draw.random() < CLAUSES:
                text = draw.choice(clauses).strip()
            if 2 <= len(text.split()) <= LONGEST:
                yield text


def listed_sentences(files: Sequence[Path]) -> Iterator[str]:
    """The first column of files, gzip-compressed or not. InputError for one that cannot be read."""
    for file in files:
        try:
            with (gzip.open if file.suffix == ".gz" else open)(file, "rt", encoding="utf-8") as lines:
                for line in lines:
                    yield line.partition("\t")[0].strip()
        except (OSError, UnicodeDecodeError, EOFError):
            raise InputError(f"{file.name}: this file cannot be read as lines of text.") from None


def fresh(texts: Iterator[str], draw: random.Random) -> list[str]:
    """The different sentences, in a random order, without those that an evaluation asks for."""
    evaluated = evaluated_sentences()
    found: dict[tuple[str, ...], str] = {}
    for text in texts:
        found.setdefault(words(text), text)
    kept = [text for key, text in found.items() if key and key not in evaluated]
    draw.shuffle(kept)
    return kept


def is_negated(text: str) -> bool:
    """Whether a sentence has a word that may turn what it says."""
    return not set(NEGATORS).isdisjoint(words(text))


def label(options: argparse.Namespace) -> None:
    """The command ``label``: learn, label, write as it goes, so that a run that is stopped leaves what it has.

    All clear opinions, and as many others: most sentences have none.
    """
    balance = written = 0  # clear opinions less the others, and both
    encoder, draw = SentenceEncoder(options.encoder), random.Random(options.seed)
    read = review_sentences(options.reviews, draw) if options.reviews else listed_sentences(options.texts)
    texts = list(islice(filter(is_negated if options.negated else None, fresh(read, draw)), options.most))
    if not texts:
        raise InputError("--reviews, --texts: found no sentence to label.")
    known, positive, weights = known_opinions(options.rated)
    teacher = SentenceTeacher(encoder.vectors(known), torch.tensor(positive), torch.tensor(weights))
    with options.out.open("w", encoding="utf-8") as out:
        for start in tqdm(range(0, len(texts), AT_ONCE), desc="labelling", unit=f"{AT_ONCE} sentences"):
            some = texts[start : start + AT_ONCE]
            said = teacher.positive(encoder.vectors(some)).tolist()
            for one in map(Taught, some, said):
                step = 1 if one.is_clear(CLEAR) else -1
                if balance + step >= 0:
                    out.write(one.line())
                    balance, written = balance + step, written + 1
            out.flush()
    print(f"{written:,} of {len(texts):,} sentences are in {options.out}.")


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser, add_command = command_line.parser_of("sentence_teacher", "Label sentences with a pretrained encoder.")
    labelling = add_command("label")
    labelling.add_argument("--encoder", type=Path, required=True, help="folder of a pretrained sentence encoder")
    labelling.add_argument("--rated", type=Path, nargs="+", default=(), help="rated sentences to learn: data/rated.py")
    source = labelling.add_mutually_exclusive_group(required=True)
    source.add_argument("--reviews", type=Path, help="folder of the film reviews, whose sentences to label")
    source.add_argument("--texts", type=Path, nargs="+", help="files whose first column holds sentences to label")
    labelling.add_argument("--negated", action="store_true", help="label sentences with a negation alone")
    labelling.add_argument("--most", type=int, help="label so many of them; without it, all")
    labelling.add_argument("--out", type=Path, required=True, help="file for the sentences and their probabilities")
    labelling.add_argument("--seed", type=int, default=0, help="of the order of the sentences")
    return parser.parse_args(arguments)


def main() -> None:
    command_line.run(parse(), {"label": label})


if __name__ == "__main__":
    main()
