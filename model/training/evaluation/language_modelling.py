"""How well a language model predicts: bits per character beside n-grams', and what it makes of a repetition."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F
from tqdm import tqdm

from model.tokenizer import END_ID, START_ID, Tokenizer
from model.training.data.books import Book, rows_of
from model.training.data.list_files import read_lists
from model.training.evaluation.kneser_ney import KneserNey
from model.training.precision import device_of
from model.training.repetition import WRITTEN, continued
from model.transformer import Transformer

ORDER = 5
BATCH = 16  # windows
REPEATED, ROUNDS = 50, 64  # tokens of a random phrase, and how many phrases


def stream(tokenizer: Tokenizer, books: list[Book]) -> Int[np.ndarray, "token"]:
    """Books one after the other, an end token before each and after the last."""
    return np.concatenate([np.array([END_ID], np.int32), rows_of(tokenizer, books).ids])


@torch.inference_mode()
def log_probabilities(model: Transformer, ids: Int[np.ndarray, "token_and_1"]) -> Float[np.ndarray, "token"]:
    """The natural logarithm of the probability of every token but the first, given those before it.

    Windows as long as the model's context, each half a window after the last: only the first tokens of all are
    predicted from less than half a context.
    """
    model.eval()
    size = min(model.config.max_length, len(ids) - 1)
    starts = [*range(0, len(ids) - 1 - size, max(1, size // 2)), len(ids) - 1 - size]
    logs, text = np.empty(len(ids) - 1), torch.from_numpy(ids.astype(np.int64))
    for first in tqdm(range(0, len(starts), BATCH), desc="predicting", unit="batch", leave=False):
        chosen = starts[first : first + BATCH]
        windows = torch.stack([text[start : start + size + 1] for start in chosen]).to(device_of(model))
        logits = model(windows[:, :-1]).logits
        losses = F.cross_entropy(logits.flatten(0, 1).float(), windows[:, 1:].flatten(), reduction="none")
        for start, row in zip(chosen, losses.unflatten(0, (-1, size)).cpu().numpy(), strict=True):
            seen = 0 if start == 0 else size // 2
            logs[start + seen : start + size] = -row[seen:]
    return logs


def figures(
    model: Transformer, tokenizer: Tokenizer, books: list[Book], training: list[Book]
) -> Iterator[dict[str, Any]]:
    """Every figure as it stands in a card, but for the command, each as soon as it is known.

    The n-grams are counted in ``training``; without any, there is no such figure.
    """
    characters = sum(len(book.text) for book in books)
    ids, what = stream(tokenizer, books), f"{len(books)} held-out texts of {characters:,} characters"
    logs = log_probabilities(model, ids)
    yield per_character(f"bits per character, {what}", logs, characters)
    if training:
        baseline = KneserNey(stream(tokenizer, training), ORDER, tokenizer.size)
        name = f"bits per character, modified Kneser-Ney {ORDER}-grams over the same pieces, {what}"
        yield per_character(name, baseline.log_probabilities(ids)[1:], characters)
    yield from induction(model)
    yield endless(model, tokenizer)


def per_character(what: str, logs: Float[np.ndarray, "token"], characters: int) -> dict[str, Any]:
    """Bits for a character of the text."""
    value = round(-float(logs.sum()) / math.log(2) / characters, 4)
    return {"what": what, "value": value, "unit": "bits", "examples": characters}


@torch.inference_mode()
def induction(model: Transformer, seed: int = 0) -> Iterator[dict[str, Any]]:
    """How much better random tokens are predicted when they come again, and the head that looks where they came.

    Olsson et al. 2022, "In-context Learning and Induction Heads": its repeated random sequences and its
    prefix-matching score, the attention from a token to the one after its first occurrence.
    """
    length = min(REPEATED, (model.config.max_length - 1) // 2)
    ids = repeated_phrases(length, model.config.vocabulary, seed).to(device_of(model))
    model.eval()
    trace = model(ids)
    losses = F.cross_entropy(trace.logits[:, :-1].transpose(1, 2).float(), ids[:, 1:], reduction="none") / math.log(2)
    for name, part in (("first time", losses[:, 1:length]), ("second time", losses[:, length + 1 :])):
        what = f"bits per token of {ROUNDS} random phrases of {length} tokens, the {name}"
        yield {"what": what, "value": round(float(part.mean()), 2), "unit": "bits", "examples": part.numel()}
    score, layer, head = best_head(trace.decoder.blocks, length)
    what = f"attention from a repeated token to the one after its first occurrence, layer {layer + 1} head {head + 1}"
    yield {"what": what, "value": round(100 * score, 2), "unit": "%", "examples": ROUNDS * (length - 1)}


def endless(model: Transformer, tokenizer: Tokenizer) -> dict[str, Any]:
    """How many likeliest texts do not end up saying one thing again and again."""
    beginnings = [tokenizer.encode(text).ids for text in read_lists("beginnings")["beginnings"]]
    room = min(WRITTEN, model.config.max_length - max(map(len, beginnings)))
    texts = [continued(model, torch.tensor([ids], device=device_of(model)), room)[0, len(ids) :] for ids in beginnings]
    what = f"likeliest texts of {room} tokens that do not end in a loop"
    value = round(100 * sum(not loops(text.tolist()) for text in texts) / len(texts), 2)
    return {"what": what, "value": value, "unit": "%", "examples": len(texts)}


def loops(ids: list[int]) -> bool:
    """Whether a text ends with something three times in a row, before an end token if there is one."""
    text = ids[: ids.index(END_ID)] if END_ID in ids else ids
    runs = (text[-size:] for size in range(1, len(text) // 3 + 1))
    return any(text[-3 * len(run) :] == 3 * run for run in runs)


def repeated_phrases(length: int, vocabulary: int, seed: int) -> Int[Tensor, "phrase position"]:
    """Random phrases, each after an end token and twice."""
    maker = torch.Generator().manual_seed(seed)
    phrases = torch.randint(max(START_ID, END_ID) + 1, vocabulary, (ROUNDS, length), generator=maker)
    return torch.cat([torch.full((ROUNDS, 1), END_ID), phrases, phrases], dim=1)


def best_head(blocks: Any, length: int) -> tuple[float, int, int]:
    """The highest prefix-matching score, and the layer and head that have it, counted from 0."""
    query = torch.arange(length + 1, 2 * length)
    weights = (block.self_attention.weights[..., query, query - length + 1] for block in blocks)
    scores = torch.stack([weight.mean(dim=(0, 2)) for weight in weights])
    best = int(scores.argmax())
    return float(scores.flatten()[best]), best // scores.shape[1], best % scores.shape[1]
