"""How well a translator translates: BLEU and chrF, by sacrebleu, of what beam search finds."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor
from tqdm import tqdm

from model.decoding.beam import search
from model.decoding.steps import LENGTH_PENALTY, Decoder, most_written
from model.errors import InputError
from model.tokenizer import Tokenizer
from model.training.data.id_rows import padded
from model.training.data.sentence_pairs import Pair
from model.transformer import Transformer

BATCH_TOKENS = 1024
JOINED = 12  # sentences of a text far longer than those that training had
JOINED_TEXTS = 20

Ids = tuple[int, ...]
Translate = Callable[[list[str]], list[Ids]]  # of texts, the ids of each translation, the end token among them


def translator(model: Transformer, tokenizer: Tokenizer, width: int) -> Translate:
    """Beam search in batches of like length, on the model's own device."""

    def translate(texts: list[str]) -> list[Ids]:
        rows = [np.array(ids, np.int32)[-model.config.max_length :] for ids in tokenizer.encode_many(texts)]
        translations: dict[int, Ids] = {}
        order = sorted(range(len(rows)), key=lambda number: len(rows[number]))
        for chosen in tqdm(list(batches_of(order, [len(row) for row in rows])), desc="translating", leave=False):
            source, padding_mask = padded([rows[number] for number in chosen])
            translations |= dict(zip(chosen, best_of_beams(model, source, padding_mask, width), strict=True))
        return [translations[number] for number in range(len(rows))]

    return translate


def batches_of(order: list[int], lengths: list[int]) -> Iterator[list[int]]:
    """Neighbours, as many at a time as a batch has room for."""
    chosen: list[int] = []
    for number in order:
        if chosen and (len(chosen) + 1) * lengths[number] > BATCH_TOKENS:
            yield chosen
            chosen = []
        chosen.append(number)
    yield chosen


@torch.no_grad()
def best_of_beams(
    model: Transformer, source: Int[Tensor, "text position"], padding_mask: Bool[Tensor, "text position"], width: int
) -> list[Ids]:
    """The best of ``width`` translations that are followed at a time, for every text; 1 is greedy decoding."""
    device, config = model.embedding.weight.device, model.config
    model.eval()
    memory = model.encode(source.to(device), padding_mask.to(device)).final.repeat_interleave(width, dim=0)
    decoder = Decoder(
        model=model, memory=memory, memory_padding_mask=padding_mask.to(device).repeat_interleave(width, dim=0)
    )
    start = torch.full((len(source), 1), int(config.start_id or 0), device=device)
    longest = min(config.max_length, 1 + most_written(config, source.shape[1], config.max_length))
    *_, beams = search(decoder, start, width, LENGTH_PENALTY, longest)
    return [beams.ids(0, text) for text in range(len(source))]


def grouped_references(pairs: list[Pair]) -> dict[str, list[str]]:
    """All translations of every source sentence."""
    references: dict[str, list[str]] = {}
    for pair in pairs:
        references.setdefault(pair.source, []).append(pair.target)
    return references


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
