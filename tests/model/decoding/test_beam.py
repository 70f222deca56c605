"""Beam search: what it finds, how it ranks, what it keeps."""

import itertools
import math
from dataclasses import replace
from typing import Any

import pytest
import torch

from model import Edits
from model.decoding.beam import Beams, length_normalised, search
from model.decoding.prompt import decoder_of, start_ids
from model.decoding.steps import Decoder
from tests import reference, tiny
from tests.kinds import BART, GPT2
from tests.model.decoding.test_steps import DECODERS, loaded, writer
from tests.tiny import TEXT

ENDS = {"end_id": 7}


def log_probabilities(checkpoint: Any, trace: Any, ids: tuple[int, ...]) -> torch.Tensor:
    """The logarithms of the probabilities of these ids in the trace of a pass that read them."""
    logs = trace.logits.double().log_softmax(dim=-1)
    first = len(logs) - len(ids) - (checkpoint.config.architecture == "decoder")
    return torch.stack([logs[first + place, token] for place, token in enumerate(ids)])


def test_a_beam_finds_what_greedy_decoding_misses():
    end, a, b = 2, 3, 4  # after a, a tie of three; after b, the end for certain
    first, after_a, after_b = torch.full((3, 5), 1e-9)
    first[a], first[b] = 0.6, 0.4
    after_a[end], after_a[a], after_a[b] = 0.3, 0.3, 0.4
    after_b[end] = 1.0
    beams = Beams.start(torch.tensor([[1]]), 2)
    for _ in range(3):
        rows = [{a: after_a, b: after_b}.get(token, first) for token in beams.written[0, :, -1].tolist()]
        beams = beams.grown(torch.stack(rows).log()[None], end, 0, 0.6)
    assert beams.ids(0) == (b, end)
    assert float(beams.scores[0, 0]) == pytest.approx(math.log(0.4))


@pytest.mark.parametrize("architecture", DECODERS)
@pytest.mark.parametrize("seed", range(3))
def test_a_beam_of_width_one_is_greedy(architecture, seed):
    checkpoint = writer(architecture, seed)
    beam, greedy = (
        checkpoint.generate(TEXT, 8, method, **one) for method, one in (("beam", {"width": 1}), ("greedy", {}))
    )
    assert beam.token_ids == greedy.token_ids
    for ours, greedy_step in zip(beam.steps, greedy.steps, strict=True):
        assert torch.allclose(ours.logits, greedy_step.logits, atol=1e-5)


@pytest.mark.parametrize("architecture", DECODERS)
@pytest.mark.parametrize("penalty", [0.0, 0.6, 2.0])
def test_a_score_is_the_sum_of_its_teacher_forced_log_probabilities(architecture, penalty):
    checkpoint = writer(architecture, seed=1, **ENDS)
    best = checkpoint.generate(TEXT, 8, "beam", width=5, length_penalty=penalty)
    hypotheses = [best, *best.alternatives]
    assert len(hypotheses) == 5
    for one in hypotheses:
        total = float(log_probabilities(checkpoint, one.trace, one.token_ids).sum())
        assert one.score == pytest.approx(total / ((5 + len(one.token_ids)) / 6) ** penalty, abs=1e-4)
        assert sum(math.log(step.probability) for step in one.steps) == pytest.approx(total, abs=1e-4)
    assert [one.score for one in hypotheses] == sorted((one.score for one in hypotheses), reverse=True)


@pytest.mark.parametrize("penalty", [0.0, 0.6])
def test_a_beam_as_wide_as_all_texts_finds_the_best_of_all(penalty):
    checkpoint = tiny.checkpoint(
        "encoder-decoder", seed=4, vocabulary=5, end_id=3, norm_order="pre", tie_embeddings=False
    )
    source, ranks = [1, 4, 2], {}
    for length in (1, 2, 3):
        for ids in itertools.product(range(5), repeat=length):
            if 3 not in ids[:-1] and (ids[-1] == 3 or length == 3):
                trace = checkpoint.trace_ids(source, [2, *ids[:-1]])
                ranks[ids] = float(
                    length_normalised(log_probabilities(checkpoint, trace, ids).sum(), torch.tensor(length), penalty)
                )
    width = 64
    memory = checkpoint.model.encode(torch.tensor([source])).final.expand(width, -1, -1).detach()
    *_, beams = search(Decoder(model=checkpoint.model, memory=memory), torch.tensor([[2]]), width, penalty, 4)
    best_ids = sorted(ranks, key=lambda ids: ranks[ids], reverse=True)[:10]
    assert [beams.ids(beam) for beam in range(10)] == best_ids


@pytest.mark.parametrize("architecture", DECODERS)
def test_a_text_alone_has_the_beams_that_it_has_in_a_batch(architecture):
    checkpoint, width = writer(architecture, seed=2, **ENDS), 3
    both = architecture == "encoder-decoder"
    sources = tiny.ids(4, 6, seed=5)
    starts = torch.full((4, 1), 2) if both else sources

    def beams_of(rows: slice) -> list[tuple[int, ...]]:
        memory = checkpoint.model.encode(sources[rows]).final.repeat_interleave(width, dim=0).detach() if both else None
        *_, beams = search(Decoder(model=checkpoint.model, memory=memory), starts[rows], width, 0.6, 14)
        return [beams.ids(beam, text) for text in range(len(starts[rows])) for beam in range(width)]

    assert beams_of(slice(0, 4)) == [ids for text in range(4) for ids in beams_of(slice(text, text + 1))]


@pytest.mark.parametrize("kind", ["gpt2", "bart", "t5", "gemma3"])
def test_beams_from_a_cache_are_those_of_whole_passes(kind, tmp_path):
    checkpoint = loaded(kind, tmp_path)
    ids = tuple(checkpoint.tokenizer.encode(TEXT).ids)
    start = torch.tensor([start_ids(checkpoint.config, ids)])
    cached = decoder_of(checkpoint.model, ids, Edits(), name=kind, rows=4)
    whole = replace(cached, cached=False)
    for ours, expected in zip(search(cached, start, 4, 0.6, 14), search(whole, start, 4, 0.6, 14), strict=True):
        assert torch.equal(ours.written, expected.written)
        assert torch.allclose(ours.scores, expected.scores, atol=1e-4)


def test_the_tree_holds_every_beginning_with_its_score():
    checkpoint = writer("encoder-decoder", seed=1, **ENDS)
    best = checkpoint.generate(TEXT, 6, "beam", width=3, length_penalty=0.6)
    paths: list[tuple[int, ...]] = []
    logs: list[float] = []
    for node in best.tree:
        before, total = (paths[node.parent], logs[node.parent]) if node.parent is not None else ((), 0.0)
        paths.append((*before, node.token_id))
        logs.append(total + math.log(node.probability))
        assert node.depth == len(paths[-1])
        assert node.score == pytest.approx(logs[-1] / ((5 + node.depth) / 6) ** 0.6, abs=1e-4)
        assert node.ended == (node.token_id == 7)
        assert node.token == checkpoint.tokenizer.pieces([node.token_id])[0]
    assert len(set(paths)) == len(paths)
    assert {one.token_ids for one in (best, *best.alternatives)} <= set(paths)
    assert max(node.depth for node in best.tree) == 6


def test_a_search_that_is_stopped_keeps_its_best():
    checkpoint = writer("decoder", seed=1)
    generation = list(itertools.islice(checkpoint.stream(TEXT, 8, "beam", width=3), 3))[-1]
    assert generation.token_ids == checkpoint.generate(TEXT, 3, "beam", width=3).token_ids
    assert len(generation.steps) == 3
    assert len(generation.alternatives) == 2


@pytest.mark.parametrize(("kind", "fields"), [
    ("GPT2LMHeadModel", GPT2 | {"eos_token_id": None}),
    ("BartForConditionalGeneration", BART | {"forced_eos_token_id": None, "eos_token_id": None}),
])  # fmt: skip
@pytest.mark.parametrize("width", [2, 4])
def test_beams_are_those_of_the_reference(kind, fields, width, tmp_path):
    theirs = reference.make(kind, tmp_path, **fields)
    checkpoint = loaded(None, tmp_path)
    source = list(checkpoint.tokenizer.encode(TEXT).ids)
    how = {"do_sample": False, "num_beams": width, "num_return_sequences": width, "max_new_tokens": 9}
    plain = {"forced_eos_token_id": None, "eos_token_id": None, "pad_token_id": 0, "length_penalty": 0.0}
    keep = {"return_dict_in_generate": True, "output_scores": True}
    written = theirs.model.generate(torch.tensor([source]), **how, **plain, **keep)
    before = written.sequences.shape[1] - 9
    best = checkpoint.generate(TEXT, 9, "beam", width=width, length_penalty=0.0)
    hypotheses = [best, *best.alternatives]
    assert [list(one.token_ids) for one in hypotheses] == written.sequences[:, before:].tolist()
    assert [one.score for one in hypotheses] == pytest.approx(written.sequences_scores.tolist(), abs=1e-4)
