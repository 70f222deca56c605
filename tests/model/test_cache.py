"""The cache of keys and values: reading with it and without it is the same."""

import dataclasses
import itertools
from pathlib import Path
from typing import Any

import pytest
import torch

from model import Edits, HeadSite, HiddenKey, Overwrite, Shift, Shuffle
from model.cache import Cache
from model.config import POSITIONS
from model.decoding.logits_processors import NO_PROCESSORS
from model.decoding.prompt import decoder_of, start_ids
from model.decoding.steps import likeliest, write
from model.edits.checks import incremental
from model.trace import AttentionTrace
from tests import tiny
from tests.folders import KINDS
from tests.model.decoding.test_steps import DECODERS, NO_EDITS, by_full_passes, loaded, writer
from tests.tiny import TEXT


def cases() -> list[Any]:
    """Our own parts, and every family with a decoder."""
    own = [(architecture, positions) for architecture in DECODERS for positions in POSITIONS]
    families = [name for name, (kind, _) in KINDS.items() if "LM" in kind or "Generation" in kind or "MT" in kind]
    return [*own, *(name for name in families if not name.startswith(("bert", "roberta", "distil")))]


def checkpoint_of_case(case: Any, folder: Path) -> Any:
    """The checkpoint of a case."""
    return loaded(case, folder) if isinstance(case, str) else writer(case[0], positions=case[1])


def rows(attention: AttentionTrace, first: int, last: int) -> list[torch.Tensor]:
    """What an attention computed for these queries, of the keys that they may see."""
    seen = attention.mask.expand_as(attention.weights)[..., first:last, :]
    cells = (attention.products, attention.scores, attention.weights)
    lines = (attention.input, attention.query, attention.context, attention.output)
    return [*(one[..., first:last, :][seen] for one in cells), *(one[..., first:last, :] for one in lines)]


# Positions that count the tokens before them cannot go on from a cache: ``incremental`` says so.
@pytest.mark.parametrize("case", [case for case in cases() if case[1] != "counted"], ids=str)
def test_reading_token_by_token_gives_the_trace_of_the_whole(case, tmp_path):
    checkpoint, ids = checkpoint_of_case(case, tmp_path), tiny.ids(1, 14, seed=3)
    model = checkpoint.model
    memory = model.encode(tiny.ids(1, 9, seed=4)).final if model.encoder is not None else None
    whole, past, first = model.decode(ids, memory=memory), None, 0
    for last in (3, 4, 5, 9, 14):
        part = model.decode(ids[:, first:last], memory=None if past else memory, past=past)
        past = Cache.of(part)
        assert past.length == last
        assert torch.allclose(part.final, whole.final[:, first:last], atol=1e-5)
        for ours, whole_block in zip(part.blocks, whole.blocks, strict=True):
            assert torch.allclose(ours.stream_out, whole_block.stream_out[:, first:last], atol=1e-5)
            for one, other in (
                (ours.self_attention, whole_block.self_attention),
                (ours.cross_attention, whole_block.cross_attention),
            ):
                if one is not None:
                    part_rows, expected = rows(one, 0, last - first), rows(other, first, last)
                    assert all(torch.allclose(*pair, atol=1e-5) for pair in zip(part_rows, expected, strict=True))
                    assert torch.allclose(one.value, other.value[..., : one.value.shape[-2], :], atol=1e-5)
        first = last


@pytest.mark.parametrize("case", cases(), ids=str)
def test_decoding_with_a_cache_writes_what_it_writes_without(case, tmp_path):
    checkpoint = checkpoint_of_case(case, tmp_path)
    ids = (5, 9, 11, 4)
    start, decoder = start_ids(checkpoint.config, ids), decoder_of(checkpoint.model, ids, NO_EDITS, name="tiny")
    plain = dataclasses.replace(decoder, cached=False)
    cached_steps, plain_steps = (list(write(one, start, 18, likeliest, NO_PROCESSORS)) for one in (decoder, plain))
    assert [one.token_id for one in cached_steps] == [one.token_id for one in plain_steps]
    assert all(
        torch.allclose(one.logits, other.logits, atol=1e-5)
        for one, other in zip(cached_steps, plain_steps, strict=True)
    )
    assert decoder.read(torch.tensor(start))[1] is not None or case[1] == "counted"


@pytest.mark.parametrize("case", cases(), ids=str)
def test_the_steps_are_rows_of_the_teacher_forced_trace(case, tmp_path):
    checkpoint = checkpoint_of_case(case, tmp_path)
    generation = checkpoint.generate("the dog bit", max_tokens=9)
    trace, count = generation.trace, len(generation.steps)
    first = len(trace.logits) - count - (checkpoint.config.architecture == "decoder")
    steps = torch.stack([step.logits for step in generation.steps])
    assert torch.allclose(steps, trace.logits[first : first + count], atol=1e-5)


EDITED = {
    "muted": Edits(muted=frozenset([HeadSite("decoder", 0, 1)]), temperature=1.7),
    "uniform": Edits(uniform=frozenset([HeadSite("decoder", 1, 0)])),
    "unpositioned": Edits(unpositioned=frozenset(["decoder"])),
    "shifted": Edits(shifted=frozenset([Shift("decoder", 5)])),
    "unmasked": Edits(unmasked=frozenset(["decoder"])),
    "causal": Edits(unmasked=frozenset(["decoder"]), causal=frozenset(["decoder"])),
    "hidden": Edits(hidden=frozenset([HiddenKey("decoder", 0)])),
    "shuffled": Edits(shuffled=frozenset([Shuffle("decoder", 3)])),
    "averaged": Edits(averaged=frozenset([HeadSite("decoder", 0, 2)])),
    "overwritten": Edits(overwritten=frozenset([Overwrite(HeadSite("decoder", 0, 2), 0, 0, 0.4)])),
}
WHOLE = ("unmasked", "shuffled", "averaged", "overwritten")  # what a cache cannot serve


@pytest.mark.parametrize("name", EDITED)
@pytest.mark.parametrize(
    "case", [*itertools.product(DECODERS, ["sinusoidal", "rotary", "relative"]), "mistral"], ids=str
)
def test_edited_decoding_equals_one_whole_pass_a_token(case, name, tmp_path):
    checkpoint, edits = checkpoint_of_case(case, tmp_path), EDITED[name]
    typed = list(tiny.tokenizer().encode(TEXT).ids)
    assert list(checkpoint.generate(TEXT, 9, edits=edits).token_ids) == by_full_passes(checkpoint, typed, 9, edits)
    assert incremental(edits, checkpoint.config) == (name not in WHOLE)


@pytest.mark.parametrize("architecture", DECODERS)
def test_a_padded_batch_read_from_a_cache_is_its_texts(architecture):
    model, ids = writer(architecture, positions="rotary").model, tiny.ids(2, 7)
    memory, padding_mask = tiny.normal(2, 5, 16), tiny.padding_mask(3, 5)
    given = {"memory": memory, "memory_padding_mask": padding_mask} if architecture == "encoder-decoder" else {}
    past = Cache.of(model.decode(ids[:, :4], **given))
    final = model.decode(ids[:, 4:], memory_padding_mask=given.get("memory_padding_mask"), past=past).final
    for row, length in enumerate((3, 5)):
        alone = {"memory": memory[row : row + 1, :length]} if given else {}
        assert torch.allclose(final[row], model.decode(ids[row : row + 1], **alone).final[0, 4:], atol=1e-5)
