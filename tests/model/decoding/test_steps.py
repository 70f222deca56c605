"""Producing text: greedy decoding, sampling, the steps, what is refused."""

import dataclasses
import itertools
from pathlib import Path
from typing import Any

import pytest
import torch

from model import Edits, HeadSite, InputError, load_checkpoint
from model.tracing.description import produced_target
from tests import reference, tiny
from tests.folders import KINDS
from tests.tiny import TEXT

DECODERS = ("decoder", "encoder-decoder")
NO_EDITS = Edits()


def writer(architecture: str, seed: int = 0, **changes: Any) -> Any:
    """A model that varies what it writes; tied and in post-norm, one so small repeats one token."""
    return tiny.checkpoint(architecture, seed, tie_embeddings=False, norm_order="pre", **changes)


def loaded(kind: str | None, folder: Path) -> Any:
    """The tiny model of a family, saved in a folder as the library saves it; None: the one that is there."""
    if kind is not None:
        class_name, fields = KINDS[kind]
        reference.make(class_name, folder, **fields)
    tiny.tokenizer().save(folder / "tokenizer.json")
    return load_checkpoint(folder, device="cpu")


def by_full_passes(checkpoint, typed: list[int], count: int, edits: Edits = NO_EDITS) -> list[int]:
    """Greedy decoding without a shortcut: a whole trace for every token."""
    both = checkpoint.config.architecture == "encoder-decoder"
    ids = [checkpoint.config.start_id] if both else list(typed)
    token_ids: list[int] = []
    while (
        len(token_ids) < count
        and len(ids) < checkpoint.longest
        and (not token_ids or token_ids[-1] != checkpoint.config.end_id)
    ):
        target = {"target_ids": ids} if both else {}
        trace = checkpoint.trace_ids(typed if both else ids, **target, edits=edits)
        token_ids.append(int(trace.logits[-1].argmax()))
        ids.append(token_ids[-1])
    return token_ids


@pytest.mark.parametrize("architecture", DECODERS)
@pytest.mark.parametrize("seed", range(3))
def test_greedy_decoding_equals_one_whole_pass_a_token(architecture, seed):
    checkpoint = writer(architecture, seed)
    typed = list(tiny.tokenizer().encode(TEXT).ids)
    assert list(checkpoint.generate(TEXT, max_tokens=8).token_ids) == by_full_passes(checkpoint, typed, 8)


def test_decoding_stops_at_the_end_token_and_keeps_it():
    free = writer("decoder").generate(TEXT, max_tokens=8).token_ids
    stop = free[-1]
    checkpoint = writer("decoder", end_id=stop)
    assert checkpoint.generate(TEXT, max_tokens=8).token_ids == free[: free.index(stop) + 1]


@pytest.mark.parametrize("architecture", DECODERS)
@pytest.mark.parametrize("most", [1, 3])
def test_no_more_tokens_are_made_than_asked_for(architecture, most):
    generation = writer(architecture).generate(TEXT, max_tokens=most)
    assert len(generation.token_ids) == len(generation.steps) == most


@pytest.mark.parametrize("architecture", DECODERS)
def test_decoding_stops_where_the_model_can_read_no_further(architecture):
    checkpoint = writer(architecture, max_length=9, positions="learned")
    generation = checkpoint.generate(TEXT, max_tokens=100)
    typed = 1 if architecture == "encoder-decoder" else len(tiny.tokenizer().encode(TEXT).ids)
    assert typed + len(generation.token_ids) <= 9
    full = checkpoint.generate("the dog " * 40, max_tokens=100)
    assert full.token_ids if architecture == "encoder-decoder" else full.token_ids == ()


def test_a_decoder_continues_the_text_that_its_trace_shows():
    generation, typed = writer("decoder").generate(TEXT, max_tokens=5), tiny.tokenizer().encode(TEXT)
    assert generation.trace.decoder.ids.tolist() == [*typed.ids, *generation.token_ids]
    assert generation.trace.decoder.tokens == typed.tokens + tuple(step.token for step in generation.steps)
    assert generation.text == tiny.tokenizer().decode(generation.token_ids)


@pytest.mark.parametrize("architecture", DECODERS)
def test_the_probability_of_a_step_is_the_one_in_the_trace(architecture):
    checkpoint = writer(architecture)
    generation = checkpoint.generate(TEXT, max_tokens=4)
    probabilities = generation.trace.logits.softmax(dim=-1)
    first = len(probabilities) - 4 - (architecture == "decoder")
    rows = range(first, first + 4)
    expected = [float(probabilities[row, step.token_id]) for row, step in zip(rows, generation.steps, strict=True)]
    assert [step.probability for step in generation.steps] == pytest.approx(expected, abs=1e-5)


def test_a_trace_without_a_target_is_the_trace_of_the_greedy_one():
    checkpoint = writer("encoder-decoder", seed=1, max_length=12)
    typed, trace = list(tiny.tokenizer().encode(TEXT).ids), checkpoint.trace(TEXT)
    greedy_ids = [2, *by_full_passes(checkpoint, typed, 100)][:-1]
    again = checkpoint.trace_ids(typed, target_ids=greedy_ids)
    assert trace.decoder.ids.tolist() == greedy_ids
    assert torch.equal(trace.logits, again.logits)
    assert torch.equal(trace.decoder.cross_weights(), again.decoder.cross_weights())


def test_a_target_text_is_read_after_the_start_token():
    trace = writer("encoder-decoder").trace(TEXT, target="a cat")
    typed = tiny.tokenizer().encode("a cat")
    assert trace.decoder.ids.tolist() == [2, *typed.ids]
    assert trace.decoder.special == (True, *typed.special)
    assert trace.decoder.spans == (None, *typed.spans)


@pytest.mark.parametrize("architecture", DECODERS)
def test_muted_heads_stay_muted_while_text_is_made(architecture):
    checkpoint, typed = writer(architecture, seed=3), list(tiny.tokenizer().encode(TEXT).ids)
    heads = itertools.product(architecture.split("-"), range(2), range(4))
    edits = Edits(muted=frozenset(HeadSite(*head) for head in heads))
    muted = list(checkpoint.generate(TEXT, max_tokens=6, edits=edits).token_ids)
    assert muted == by_full_passes(checkpoint, typed, 6, edits)
    assert muted != by_full_passes(checkpoint, typed, 6)


def test_decoding_in_half_precision_gives_probabilities_all_the_same():
    checkpoint = writer("decoder")
    checkpoint = dataclasses.replace(checkpoint, model=tiny.stored_in(checkpoint.model, torch.bfloat16))
    assert all(0 < step.probability <= 1 for step in checkpoint.generate(TEXT, max_tokens=3).steps)


def test_an_encoder_writes_nothing():
    with pytest.raises(InputError, match="is an encoder: it reads text and cannot write any"):
        tiny.checkpoint().generate(TEXT)


@pytest.mark.parametrize("options", [{"method": "best"}, {"method": ""}, {"max_tokens": 0}, {"max_tokens": True}])
def test_a_method_or_a_number_of_tokens_that_makes_no_sense_is_refused(options):
    with pytest.raises(InputError, match=rf"^{next(iter(options))}: found .*, expected .*\.$"):
        writer("decoder").generate(TEXT, **options)


@pytest.mark.parametrize("architecture", DECODERS)
def test_a_later_target_token_changes_no_earlier_step(architecture):
    checkpoint = writer(architecture)
    steps = checkpoint.generate(TEXT, 6).steps
    ids = [step.token_id for step in steps]
    other = checkpoint.generate(TEXT, 1, written=[*ids[:3], (ids[3] + 1) % 80, *ids[4:]]).trace
    again = checkpoint.generate(TEXT, 1, written=ids).trace
    assert not torch.allclose(other.logits[-1], again.logits[-1])
    first = len(again.logits) - len(ids) - 1
    assert torch.allclose(other.logits[: first + 3], again.logits[: first + 3], atol=1e-6)


def test_decoding_goes_on_after_what_is_written():
    for architecture in DECODERS:
        checkpoint = writer(architecture)
        whole = checkpoint.generate(TEXT, 8)
        rest = checkpoint.generate(TEXT, 5, written=whole.token_ids[:3])
        assert rest.token_ids == whole.token_ids[3:]
        assert torch.equal(rest.trace.decoder.ids, whole.trace.decoder.ids)


@pytest.mark.parametrize("architecture", DECODERS)
def test_a_stream_that_is_stopped_keeps_what_it_has(architecture):
    checkpoint = writer(architecture)
    parts = list(itertools.islice(checkpoint.stream(TEXT, 8), 3))
    for count, part in enumerate(parts, start=1):
        whole = checkpoint.generate(TEXT, count)
        assert (part.text, part.token_ids, part.ended) == (whole.text, whole.token_ids, False)
        assert torch.equal(part.trace.logits, whole.trace.logits)


def test_a_pair_that_does_not_end_is_stopped_by_the_length_of_its_source():
    checkpoint = writer("encoder-decoder", end_id=79, max_length=200)
    source = len(tiny.tokenizer().encode(TEXT).ids)
    for method in ("greedy", "beam"):
        generation = checkpoint.generate(TEXT, 1000, method)
        assert len(generation.token_ids) == 2 * source + 30
        assert not generation.ended
    assert len(checkpoint.trace(TEXT).decoder.ids) == 2 * source + 30


def test_a_generation_says_whether_the_end_token_ended_it():
    checkpoint = writer("decoder", end_id=writer("decoder").generate(TEXT, 8).token_ids[-1])
    assert [part.ended for part in checkpoint.stream(TEXT, 8)][-1]
    assert not checkpoint.generate(TEXT, 1).ended


def test_what_a_decoder_produced_is_known_as_if_it_had_been_typed():
    checkpoint = load_checkpoint("translate-en-fr", device="cpu")
    own = checkpoint.trace("The dog bit the man.").decoder
    assert own is not None
    typed = checkpoint.trace("The dog bit the man.", target=checkpoint.tokenizer.decode(own.ids.tolist())).decoder
    assert typed is not None
    assert own.special is not None
    assert own.words is not None
    assert (own.tokens, own.words, own.special) == (typed.tokens, typed.words, typed.special)
    assert own.special[0]
    assert not any(own.special[1:])
    assert len(set(own.words)) < len(own.words), "one of its words has several pieces"


def test_what_was_produced_and_is_cut_otherwise_again_has_a_word_for_every_token():
    checkpoint = load_checkpoint("translate-en-fr", device="cpu")
    config, id_of = checkpoint.config, checkpoint.tokenizer.backend.token_to_id
    ids = [int(token_id or 0) for token_id in (config.start_id, id_of("e"), id_of("s"), config.end_id)]
    again = produced_target(ids, checkpoint.tokenizer, config)
    assert again.words == (None, 0, 1, 2)
    assert again.special == (True, False, False, True)
