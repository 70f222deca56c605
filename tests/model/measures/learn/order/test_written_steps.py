"""A translation token by token, against a loop that runs the whole model anew for every token."""

import pytest
import torch

from model import load_checkpoint
from model.measures.learn.order.written_steps import NextToken, WrittenSteps, parting_step, with_second, written_steps

TEXT, OTHER = "The cat is tired.", "The cats are tired."


@pytest.fixture(scope="module")
def translator():
    return load_checkpoint("translate-en-fr")


@torch.no_grad()
def chances_after(checkpoint, text: str, read: list[int]) -> torch.Tensor:
    """What one whole pass says of the next token."""
    ids = list(checkpoint.tokenizer.encode(text).ids)
    target = [checkpoint.config.start_id, *read]
    return checkpoint.trace_ids(ids, target).logits[-1].double().softmax(-1)


def plain_loop(checkpoint, text: str, read: list[int]) -> list[int]:
    """Greedy decoding without a cache."""
    written = list(read)
    while len(written) < 30 and (not written or written[-1] != checkpoint.config.end_id):
        written.append(int(chances_after(checkpoint, text, written).argmax()))
    return written


@pytest.mark.parametrize("forced", [[], ["Vous"]], ids=["free", "forced"])
def test_every_step_is_that_of_a_whole_pass(translator, forced):
    given = [translator.tokenizer.backend.token_to_id(token) for token in forced]
    written = written_steps(translator, TEXT, given)
    assert list(written.ids) == plain_loop(translator, TEXT, given)
    for place, candidates in enumerate(written.steps):
        chances = chances_after(translator, TEXT, list(written.ids[: place + len(given)]))
        best = chances.topk(len(candidates))
        assert [each.token_id for each in candidates] == best.indices.tolist()
        assert [each.probability for each in candidates] == pytest.approx(best.values.tolist(), abs=1e-5)


def test_a_cat_becomes_cats_word_by_word(translator):
    assert written_steps(translator, TEXT).text == "Le chat est fatigué."
    assert written_steps(translator, OTHER).text == "Les chats sont fatigués."


def test_the_second_candidate_changes_what_follows_it_alone(translator):
    written = written_steps(translator, TEXT)
    assert written.closest() == 0
    other = with_second(translator, TEXT, written, 0)
    assert (other.text, other.forced) == ("La chatte est fatiguée.", 1)
    later = with_second(translator, TEXT, written, 2)
    assert later.ids[:2] == written.ids[:2]


def test_two_translations_part_where_their_tokens_first_differ(translator):
    written = written_steps(translator, TEXT), written_steps(translator, OTHER)
    parts = parting_step(translator, (TEXT, OTHER), written)
    assert parts is not None
    assert (parts.step, parts.tokens) == (0, ("Le", "Les"))
    for text, measured in zip((TEXT, OTHER), (parts.before, parts.after), strict=True):
        chances = chances_after(translator, text, [])
        ids = [translator.tokenizer.backend.token_to_id(token) for token in parts.tokens]
        assert measured == pytest.approx(chances[ids].tolist(), abs=1e-5)
    assert parting_step(translator, (TEXT, TEXT), (written[0], written[0])) is None


def step(first: float, second: float, second_id: int = 5) -> tuple[NextToken, ...]:
    chances = ((4, first), (second_id, second))
    return tuple(NextToken(token_id=number, token=str(number), probability=chance) for number, chance in chances)


def test_a_step_at_which_the_text_would_end_is_not_forced():
    steps = (step(0.9, 0.1), step(0.5, 0.45, second_id=2), step(0.6, 0.3))
    written = WrittenSteps(text="", ids=(4, 4, 4), forced=0, steps=steps, end_id=2)
    assert (written.forceable(), written.closest()) == ([0, 2], 2)
    assert WrittenSteps(text="", ids=(), forced=0, steps=(), end_id=2).closest() is None
