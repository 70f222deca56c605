"""What the small tasks ask for, checked letter by letter."""

from typing import Any

import pytest
import torch

from model.training.watched.characters import character_tokenizer, ids_of
from model.training.watched.tasks import FIRST_ID, MARK, OF_LETTERS, of_text

ANSWERS: dict[str, Any] = {"copy": lambda letters: letters, "reverse": lambda letters: letters[::-1], "sort": sorted}


def letters_of(task, ids) -> list[str]:
    return [task.characters[number - FIRST_ID] for number in ids.tolist()]


@pytest.mark.parametrize("name", ANSWERS)
def test_what_stands_after_the_mark_is_asked_for_and_nothing_else(name):
    task = OF_LETTERS[name]
    ids, truth, counted = task.draw(torch.Generator().manual_seed(1), 5)
    for row in range(5):
        read, asked = letters_of(task, ids[row]), letters_of(task, truth[row][counted[row]])
        mark = read.index(MARK)
        assert asked == list(ANSWERS[name](read[:mark]))
        assert counted[row].tolist() == [position >= mark for position in range(len(read))]


def test_induction_asks_for_what_stood_after_the_last_same_letter():
    ids, truth, counted = OF_LETTERS["induction"].draw(torch.Generator().manual_seed(2), 8)
    for row, asked, known in zip(ids.tolist(), truth.tolist(), counted.tolist(), strict=True):
        for position, token in enumerate(row):
            earlier = [place for place in range(position) if row[place] == token]
            assert known[position] == bool(earlier)
            assert not earlier or asked[position] == row[earlier[-1] + 1]


def test_every_character_of_a_text_is_asked_for_and_the_held_out_tenth_is_not_learned_from():
    text = "a" * 900 + "b" * 100
    task = of_text("ab", torch.tensor(ids_of(text, "ab")))
    learned, fresh = (draw(torch.Generator().manual_seed(0), 20) for draw in (task.draw, task.fresh))
    assert set(learned.ids.flatten().tolist()) == {FIRST_ID}
    assert set(fresh.ids.flatten().tolist()) == {FIRST_ID + 1}
    assert torch.equal(learned.truth[:, :-1], learned.ids[:, 1:])
    assert learned.counted.all()


def test_the_tokenizer_has_a_token_for_every_character_and_gives_the_text_back():
    tokenizer = character_tokenizer("ab >")
    encoding = tokenizer.encode("ab > a?")
    assert list(encoding.ids) == ids_of("ab > a?", "ab >")
    assert encoding.ids[-1] == 1
    assert tokenizer.decode(encoding.ids[:-1]) == "ab > a"
