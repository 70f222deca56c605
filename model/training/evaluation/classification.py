"""What a classifier gets right: all texts, by length, with only their beginning read, and everyday sentences."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from jaxtyping import Float32
from torch import nn
from tqdm import tqdm

from model.config import Config
from model.tokenizer import Tokenizer
from model.training.data.batches import pad
from model.training.data.corpora import Corpus, Example
from model.training.data.list_files import Lists, read_lists
from model.training.data.opinions import opinions
from model.training.data.preparation import label_corpus
from model.training.precision import device_of
from model.transformer import Transformer

LENGTHS = ((1, 128), (129, 256), (257, 512), (513, 1 << 30))
BEGINNINGS = (32, 128)
BATCH_TOKENS = 8192
EVEN = 0.75  # the larger of two probabilities, up to which they are near even
EVERYDAY = {  # files of lists/ by what the card calls them
    "everyday sentences that runs were compared by": "everyday",
    "everyday sentences that no run was chosen by": "unseen",
    "everyday sentences that a negation or a contrast decides": "negations",
}
HELD_OUT = "the tenth of the sentences written to train on that was held out"
NEARLY_EVEN = f"no accuracy: sentences without an opinion whose likelier answer gets {EVEN:.0%} at most"


def in_order_of_length(corpus: Corpus, limit: int) -> Iterator[np.ndarray]:
    """The texts' numbers, shortest first, as many at a time as a batch has room for."""
    lengths = corpus.text_lengths().clip(max=limit)
    order, start = lengths.argsort(kind="stable"), 0
    while start < len(order):
        end = start + 1
        while end < len(order) and (end + 1 - start) * lengths[order[end]] <= BATCH_TOKENS:
            end += 1
        yield order[start:end]
        start = end


@torch.inference_mode()
def predict(model: nn.Module, corpus: Corpus, limit: int, pad_id: int = 0) -> Float32[np.ndarray, "text label"]:
    """The log-probability of every label for the first ``limit`` tokens of every text, on the model's own device.

    The model returns something with ``logits``, called with ids and a ``padding_mask``.

    A text without a single token is given to the model as the unknown token.
    """
    log_probabilities = np.empty_like(corpus.targets)
    device = device_of(model)
    model.eval()
    for chosen in tqdm(list(in_order_of_length(corpus, limit)), desc="predicting", unit="batch", leave=False):
        rows = [corpus.whole(text)[:limit] for text in chosen.tolist()]
        rows = [row if len(row) else np.array([1], np.int32) for row in rows]
        batch = pad(rows, corpus.targets[chosen], pad_id)
        logits = model(batch.ids.to(device), padding_mask=batch.padding_mask.to(device)).logits
        log_probabilities[chosen] = logits.float().log_softmax(dim=-1).cpu().numpy()
    return log_probabilities


def right(model: Transformer, corpus: Corpus, limit: int) -> np.ndarray:
    """Whether each text's likeliest label is its own."""
    return predict(model, corpus, limit, model.config.pad_id).argmax(axis=1) == corpus.targets.argmax(axis=1)


def figures(model: Transformer, tokenizer: Tokenizer, examples: list[Example], what: str) -> Iterator[dict[str, Any]]:
    """Every figure as it stands in a card, but for the command, each as soon as it is known."""
    config = model.config
    corpus = label_corpus(tokenizer, examples, config.labels)
    lengths, correct = corpus.text_lengths(), right(model, corpus, config.max_length)
    yield accuracy(f"accuracy, {what}", correct)
    for shortest, longest in LENGTHS:
        chosen = correct[(lengths >= shortest) & (lengths <= longest)]
        name = f"of {shortest} to {longest} tokens" if longest < 1 << 30 else f"of more than {shortest - 1} tokens"
        if len(chosen):
            yield accuracy(f"accuracy, {what}, those {name}", chosen)
    for beginning in BEGINNINGS:
        if beginning < config.max_length:
            name = f"accuracy, only the first {beginning} tokens of {what}"
            yield accuracy(name, right(model, corpus, beginning))
    if set(config.labels) == {"negative", "positive"}:
        held_out = {label: opinions(label, kept=False) for label in config.labels}
        lists = {name: read_lists(file) for name, file in EVERYDAY.items()}
        for name, sentences in (lists | {HELD_OUT: held_out}).items():
            corpus = everyday_corpus(tokenizer, config, sentences)
            yield accuracy(f"accuracy, {name}", right(model, corpus, config.max_length))
        corpus = label_corpus(
            tokenizer, [Example(text=text, label="positive", group=text) for text in neutral()], config.labels
        )
        odds = np.exp(predict(model, corpus, config.max_length, config.pad_id)).max(axis=1)
        yield accuracy(NEARLY_EVEN, odds <= EVEN)


def neutral() -> tuple[str, ...]:
    """Sentences that state no opinion."""
    return read_lists("neutral")["neutral"]


def everyday_corpus(tokenizer: Tokenizer, config: Config, sentences: Lists) -> Corpus:
    """Sentences that stand under their labels."""
    examples = [Example(text=text, label=label, group=text) for label in sentences for text in sentences[label]]
    return label_corpus(tokenizer, examples, config.labels)


def accuracy(what: str, correct: np.ndarray) -> dict[str, Any]:
    """The share of what is right, in percent."""
    return {"what": what, "value": round(100 * float(correct.mean()), 2), "unit": "%", "examples": len(correct)}
