"""How well a translator translates: BLEU and chrF, by sacrebleu, of what beam search finds."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from tqdm import tqdm

from model.errors import InputError
from model.tokenizer import Tokenizer
from model.training.parallel import Pair
from model.training.rows import padded
from model.transformer import Transformer

BATCH_TOKENS = 1024
LENGTH_PENALTY = 0.6  # "Attention Is All You Need", section 6.1
SPARE = 30  # tokens that a translation may have beyond twice the source's
JOINED = 12  # sentences of a text far longer than those that training had
JOINED_TEXTS = 20

Ids = tuple[int, ...]
Translate = Callable[[list[str]], list[Ids]]  # of texts, the ids of each translation, the end token among them


def translator(model: Transformer, tokenizer: Tokenizer, width: int) -> Translate:
    """Beam search in batches of like length, on the model's own device."""

    def translate(texts: list[str]) -> list[Ids]:
        rows = [np.array(ids, np.int32)[-model.config.max_length :] for ids in tokenizer.encode_many(texts)]
        found: dict[int, Ids] = {}
        order = sorted(range(len(rows)), key=lambda number: len(rows[number]))
        for chosen in tqdm(list(grouped(order, [len(row) for row in rows])), desc="translating", leave=False):
            source, real = padded([rows[number] for number in chosen])
            found |= dict(zip(chosen, beam(model, source, real, width), strict=True))
        return [found[number] for number in range(len(rows))]

    return translate


def grouped(order: list[int], lengths: list[int]) -> Iterator[list[int]]:
    """Neighbours, as many at a time as a batch has room for."""
    chosen: list[int] = []
    for number in order:
        if chosen and (len(chosen) + 1) * lengths[number] > BATCH_TOKENS:
            yield chosen
            chosen = []
        chosen.append(number)
    yield chosen


@torch.inference_mode()
def beam(
    model: Transformer, source: Int[Tensor, "text position"], real: Bool[Tensor, "text position"], width: int
) -> list[Ids]:
    """The best of ``width`` translations that are followed at a time, for every text; 1 is greedy decoding.

    Wu et al. 2016, "Google's Neural Machine Translation System", equation 14, for the length penalty.
    """
    device, config = model.embedding.weight.device, model.config
    model.eval()
    memory = model.encode(source.to(device), real.to(device)).final.repeat_interleave(width, dim=0)
    memory_real = real.to(device).repeat_interleave(width, dim=0)
    beams = Beams(len(source), width, int(config.start_id or 0), int(config.end_id or 0), config.pad_id, device)
    for _ in range(min(config.max_length - 1, 2 * source.shape[1] + SPARE)):
        final = model.decode(beams.written.flatten(0, 1), None, memory, memory_real).final[:, -1:]
        beams.grow(model.predict(final)[:, 0].float().log_softmax(dim=-1))
        if beams.ended[:, 0].all():
            break
    return beams.best()


class Beams:
    """Beginnings of translations, best first for every text."""

    def __init__(self, texts: int, width: int, start: int, end: int, pad: int, device: torch.device) -> None:
        self.end, self.pad = end, pad
        self.written = torch.full((texts, width, 1), start, device=device)
        self.scores = torch.full((texts, width), -torch.inf, device=device)
        self.scores[:, 0] = 0.0  # all begin alike: one is enough
        self.ended = torch.zeros(texts, width, dtype=torch.bool, device=device)
        self.lengths = torch.zeros(texts, width, device=device)

    def grow(self, logs: Float[Tensor, "beam vocabulary"]) -> None:
        """One token more, given the logarithms of the probabilities; one that has ended stays as it is."""
        texts, width = self.scores.shape
        logs = logs.unflatten(0, (texts, width))
        logs = logs.masked_fill(self.ended[..., None], -torch.inf)
        logs[..., self.pad] = torch.where(self.ended, 0.0, -torch.inf)
        totals = self.scores[..., None] + logs
        lengths = self.lengths + (~self.ended).float()
        ranks = totals / (((5 + lengths) / 6) ** LENGTH_PENALTY)[..., None]
        chosen = ranks.flatten(1).topk(width, dim=1).indices
        parent, token = chosen // logs.shape[-1], chosen % logs.shape[-1]
        self.scores = totals.flatten(1).gather(1, chosen)
        self.lengths = lengths.gather(1, parent)
        self.ended = self.ended.gather(1, parent) | (token == self.end)
        before = self.written.gather(1, parent[..., None].expand(-1, -1, self.written.shape[-1]))
        self.written = torch.cat([before, token[..., None]], dim=-1)

    def best(self) -> list[Ids]:
        """The first of every text, without start and padding."""
        rows: list[list[int]] = self.written[:, 0, 1:].tolist()
        return [tuple(number for number in row if number != self.pad) for row in rows]


def grouped_references(pairs: list[Pair]) -> dict[str, list[str]]:
    """All translations of every source sentence."""
    found: dict[str, list[str]] = {}
    for pair in pairs:
        found.setdefault(pair.source, []).append(pair.target)
    return found


def figures(translate: Translate, tokenizer: Tokenizer, pairs: list[Pair], search: str) -> Iterator[dict[str, Any]]:
    """Every figure as it stands in a card, but for the command."""
    references = grouped_references(pairs)
    ids = translate(list(references))
    texts = [tokenizer.decode(row) for row in ids]
    what = f"{len(references):,} sentences with {len(pairs):,} references, {search}"
    for name, value, signature in scores(texts, list(references.values())):
        yield {
            "what": f"{name}, {what}",
            "value": round(value, 2),
            "unit": "",
            "examples": len(texts),
            "signature": signature,
        }
    sources = list(references)[: JOINED * JOINED_TEXTS]
    joined = [" ".join(sources[start : start + JOINED]) for start in range(0, len(sources), JOINED)]
    end = tokenizer.backend.token_to_id("[END]")
    ended = [row[-1] == end for row in translate(joined)]
    name = f"translations that end, of texts of {JOINED} sentences, {search}"
    yield {"what": name, "value": round(100 * float(np.mean(ended)), 2), "unit": "%", "examples": len(ended)}


def scores(texts: list[str], references: list[list[str]]) -> Iterator[tuple[str, float, str]]:
    """BLEU (Papineni et al. 2002) and chrF (Popović 2015), of 100, with sacrebleu's signatures (Post 2018).

    Needs sacrebleu (in requirements-dev.txt; the app does not); InputError where it is not installed.
    """
    try:
        from sacrebleu import BLEU, CHRF
    except ImportError:
        raise InputError("Measuring translations needs sacrebleu: pip install sacrebleu.") from None
    most = max(map(len, references))
    streams: Any = [[row[number] if number < len(row) else None for row in references] for number in range(most)]
    for name, metric in (("BLEU", BLEU()), ("chrF", CHRF())):
        value = metric.corpus_score(texts, streams).score
        yield name, value, str(metric.get_signature())
