"""The question on the mask trains two decoders before the visitor's eyes."""

import time
from dataclasses import replace

from model.measures.learn.records.blindfold import UNMASKED
from model.training.watched.head_pictures import written_after
from pages.parts.learn import blindfold_live
from pages.parts.learn.stops import PATH, blindfold
from tests.pages.learn import rounds
from viz.tokens import percent

STOP = PATH.index(blindfold.STOP) + 1
PATIENCE = 180  # seconds; a training takes 135 at most


def test_two_trainings_of_the_visitors_own_show_that_a_decoder_without_its_mask_cannot_write(monkeypatch):
    steps = {name: replace(settings, steps=150, width=16) for name, settings in blindfold_live.SETTINGS.items()}
    monkeypatch.setattr(blindfold_live, "SETTINGS", steps)
    app = rounds.at(STOP, 1, guess="b")
    app = app.button(key="blindfold_train").click().run()
    assert not app.exception
    turns = app.session_state[blindfold_live.TURNS]
    end = time.monotonic() + PATIENCE
    while not all(turn.is_over for turn in turns.values()):
        assert time.monotonic() < end
        time.sleep(0.2)
    app = app.run()
    assert not app.exception
    said = " ".join(each.value for each in app.markdown).replace("\\", "")
    for name, turn in turns.items():
        history = turn.trainer.history
        written = written_after(history, 150, blindfold_live.PROMPT, 8)
        right = sum(one == other for one, other in zip(written, blindfold_live.ANSWER, strict=True))
        assert f"it writes “**{written}**”: {right} of 8 letters are right." in said
        assert f"{percent(history.last.accuracy)} of its letters are right" in said
        assert (history.settings.mask == "none") == (name == UNMASKED)


def test_both_can_be_stopped_and_show_what_they_have_come_to(monkeypatch):
    steps = {name: replace(settings, steps=10_000) for name, settings in blindfold_live.SETTINGS.items()}
    monkeypatch.setattr(blindfold_live, "SETTINGS", steps)
    app = rounds.at(STOP, 1, guess="b").button(key="blindfold_train").click().run()
    turns = app.session_state[blindfold_live.TURNS]
    end = time.monotonic() + PATIENCE
    while not all(blindfold_live.history_of(turn) for turn in turns.values()):
        assert time.monotonic() < end
        time.sleep(0.2)
    app = app.run().button(key="blindfold_stop").click().run()
    while not all(turn.is_over for turn in turns.values()):
        assert time.monotonic() < end
        time.sleep(0.2)
    app = app.run()
    assert not app.exception
    assert all(turn.trainer.history.last.step < 10_000 for turn in turns.values())
    said = " ".join(each.value for each in app.markdown)
    assert said.count("of 8 letters are right") == 2
    assert "blindfold_stop" not in [button.key for button in app.button]
