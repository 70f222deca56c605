"""A trace put together from the steps of decoding is, field by field, the trace of one pass over what was written."""

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from model import Edits
from model.decoding.logits_processors import NO_PROCESSORS
from model.decoding.prompt import decoder_of, start_ids, written_trace
from model.decoding.steps import Generation, likeliest, write
from model.trace import Trace, map_tensors
from model.tracing.description import cut, with_texts
from tests import tiny
from tests.model.decoding.test_steps import DECODERS, NO_EDITS, writer
from tests.model.test_cache import EDITED, cases, checkpoint_of_case
from tests.tiny import TEXT

SOME = [*((architecture, "rotary") for architecture in DECODERS), "gpt2", "bart", "t5", "gemma3"]


def leaves(record: Any, name: str = "trace") -> Iterator[tuple[str, Any]]:
    """All that a record holds, however deep, by its name."""
    if dataclasses.is_dataclass(record):
        for field in dataclasses.fields(record):
            yield from leaves(getattr(record, field.name), f"{name}.{field.name}")
    elif isinstance(record, tuple) and record and dataclasses.is_dataclass(record[0]):
        for place, item in enumerate(record):
            yield from leaves(item, f"{name}[{place}]")
    else:
        yield name, record


def differences(ours: Trace, reference: Trace) -> list[str]:
    """The fields in which two traces differ: in kind, shape, or by more than rounding."""
    fields, expected = dict(leaves(ours)), dict(leaves(reference))
    assert fields.keys() == expected.keys()
    return [name for name in fields if not same(fields[name], expected[name])]


def same(one: Any, other: Any) -> bool:
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return type(one) is type(other) and one == other
    if (one.shape, one.dtype, one.requires_grad) != (other.shape, other.dtype, other.requires_grad):
        return False
    largest = float(other[other.isfinite()].float().abs().max())  # sums are rounded in proportion to their terms
    return torch.allclose(one, other, atol=1e-5 * max(1, largest), rtol=0)


def of_a_pass(checkpoint: Any, generation: Generation, text: str, written: tuple[int, ...], edits: Edits) -> Trace:
    """The trace of one whole pass over what was read and written."""
    ids = (*written, *generation.token_ids)
    if checkpoint.config.architecture == "encoder-decoder":
        return checkpoint.trace(text, target=ids, edits=edits)
    source = cut(checkpoint.tokenizer.encode(text), checkpoint.longest)
    return with_texts(checkpoint.trace_ids((*source.encoding.ids, *ids), edits=edits), source)


def wrong(
    checkpoint: Any, generation: Generation, text: str = TEXT, written: tuple[int, ...] = (), edits: Edits = NO_EDITS
) -> list[str]:
    """The fields in which the trace of a generation, or of another beam of it, is not that of a whole pass."""
    every = (generation, *generation.alternatives)
    pairs = ((one.trace, of_a_pass(checkpoint, one, text, written, edits)) for one in every)
    return [name for ours, reference in pairs for name in differences(ours, reference)]


@pytest.mark.parametrize("case", cases(), ids=str)
def test_the_trace_of_a_generation_is_that_of_one_pass_over_it(case, tmp_path):
    checkpoint = checkpoint_of_case(case, tmp_path)
    generation = checkpoint.generate(TEXT, 11)
    assert len(generation.token_ids) > 1
    assert wrong(checkpoint, generation) == []


@pytest.mark.parametrize("case", cases(), ids=str)
def test_the_trace_of_every_beam_is_that_of_one_pass_over_it(case, tmp_path):
    checkpoint = checkpoint_of_case(case, tmp_path)
    generation = checkpoint.generate(TEXT, 7, "beam", width=3)
    assert len(generation.alternatives) == 2
    assert wrong(checkpoint, generation) == []


@pytest.mark.parametrize("method", ["greedy", "beam"])
@pytest.mark.parametrize("name", EDITED)
@pytest.mark.parametrize("case", [("decoder", "rotary"), ("encoder-decoder", "relative"), "mistral"], ids=str)
def test_the_trace_of_an_edited_generation_is_that_of_an_edited_pass(case, name, method, tmp_path):
    checkpoint, edits = checkpoint_of_case(case, tmp_path), EDITED[name]
    generation = checkpoint.generate(TEXT, 6, method, edits)
    assert wrong(checkpoint, generation, edits=edits) == []
    if edits.muted:
        assert generation.trace.decoder.blocks[0].self_attention.context[1].eq(0).all()


@pytest.mark.parametrize("case", SOME, ids=str)
def test_every_position_is_computed_once(case, tmp_path):
    checkpoint, read = checkpoint_of_case(case, tmp_path), list[int]()
    for stack in (checkpoint.model.encoder, checkpoint.model.decoder):
        if stack is not None:
            stack.register_forward_pre_hook(lambda _, inputs: read.append(inputs[0].shape[-1]))
    trace = checkpoint.generate(TEXT, 9).trace
    assert sum(read) == sum(len(stack.ids) for stack in (trace.encoder, trace.decoder) if stack is not None)


@pytest.mark.parametrize("architecture", DECODERS)
def test_a_trace_that_ends_early_ends_with_its_end_token(architecture):
    free = writer(architecture).generate(TEXT, 8).token_ids
    checkpoint = writer(architecture, end_id=free[-1])
    generation = checkpoint.generate(TEXT, 30)
    assert generation.ended
    assert wrong(checkpoint, generation) == []


@pytest.mark.parametrize("architecture", DECODERS)
def test_beams_that_ended_before_the_others_have_the_trace_of_what_they_are(architecture):
    free = writer(architecture, seed=1).generate(TEXT, 8, "beam", width=5)
    checkpoint = writer(architecture, seed=1, end_id=free.token_ids[3])
    generation = checkpoint.generate(TEXT, 8, "beam", width=5)
    assert len({len(one.token_ids) for one in (generation, *generation.alternatives)}) > 1
    assert wrong(checkpoint, generation) == []


@pytest.mark.parametrize("architecture", DECODERS)
@pytest.mark.parametrize("method", ["greedy", "sample", "beam"])
def test_a_trace_may_be_asked_for_when_decoding_has_gone_on(architecture, method):
    checkpoint = writer(architecture, seed=1)
    checkpoint = writer(architecture, seed=1, end_id=checkpoint.generate(TEXT, 6, method).token_ids[3])
    for part in list(checkpoint.stream(TEXT, 6, method)):
        assert wrong(checkpoint, part) == []


@pytest.mark.parametrize("case", SOME, ids=str)
@pytest.mark.parametrize("method", ["sample", "beam"])
def test_a_trace_holds_what_was_written_before(case, method, tmp_path):
    checkpoint, written = checkpoint_of_case(case, tmp_path), (5, 9, 11)
    generation = checkpoint.generate(TEXT, 4, method, written=written)
    assert wrong(checkpoint, generation, written=written) == []


@pytest.mark.parametrize("architecture", DECODERS)
def test_a_trace_of_a_text_that_was_cut_says_so(architecture):
    checkpoint, text = writer(architecture, max_length=12, positions="learned"), "the dog " * 8
    generation = checkpoint.generate(text, 3)
    assert wrong(checkpoint, generation, text) == []


def test_a_trace_of_weights_in_half_precision_is_in_full():
    checkpoint = writer("encoder-decoder")
    checkpoint = dataclasses.replace(checkpoint, model=tiny.stored_in(checkpoint.model, torch.bfloat16))
    assert wrong(checkpoint, checkpoint.generate(TEXT, 5)) == []


def test_beams_that_take_too_much_memory_keep_nothing(monkeypatch):
    checkpoint = writer("decoder", seed=1)
    monkeypatch.setattr("model.decoding.prompt.TRACE_BYTES", 200_000)
    two, nine = (decoder_of(checkpoint.model, (1, 2), NO_EDITS, name="", rows=rows, longest=12) for rows in (2, 9))
    assert two.passes == []
    assert nine.passes is None
    assert wrong(checkpoint, checkpoint.generate(TEXT, 5, "beam", width=9)) == []


@pytest.mark.parametrize("architecture", DECODERS)
def test_what_is_kept_for_a_trace_takes_less_than_the_trace(architecture):
    checkpoint = writer(architecture, max_length=80)
    ids = (5, 9, 11)
    decoder = decoder_of(checkpoint.model, ids, NO_EDITS, name="", longest=70)
    start = start_ids(checkpoint.config, ids)
    steps = list(write(decoder, start, 70, likeliest, NO_PROCESSORS))
    trace = written_trace(decoder, ids, start, steps, name="")
    assert len(steps) > 40
    assert decoder.passes is not None
    assert bytes_held(*decoder.passes) < bytes_held(trace)


def bytes_held(*records: Any) -> int:
    """What the memory behind all tensors comes to, that of which they are a window among it."""
    sizes = dict[int, int]()

    def weigh(tensor: torch.Tensor) -> torch.Tensor:
        memory = tensor.untyped_storage()
        sizes[memory.data_ptr()] = memory.nbytes()
        return tensor

    for record in records:
        map_tensors(record, weigh)
    return sum(sizes.values())


def test_a_trace_without_logits_has_all_else():
    checkpoint = writer("encoder-decoder", seed=1)
    plain, whole = checkpoint.trace(TEXT, logits=False), checkpoint.trace(TEXT)
    assert differences(plain, whole) == ["trace.logits"]
    assert plain.logits is None
