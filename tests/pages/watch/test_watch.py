"""Watch it learn as without a browser: films, moments as models, trainings of one's own, and what is refused."""

import base64
import io
import json
import re
import time
import zipfile
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from model import load_checkpoint
from model.training.watched.__main__ import record
from model.training.watched.head_pictures import head_pictures
from model.training.watched.language_film import language_film
from model.training.watched.recordings import recorded
from model.training.watched.run_settings import LONGEST_TEXT, SHORTEST_TEXT, RunSettings
from model.training.watched.waiting_line import WaitingLine
from pages.parts.models.watched_moments import OWN as OWN_TRAININGS
from pages.parts.models.watched_moments import kept_trainings
from pages.parts.state.held_texts import digest_of, held_texts
from pages.parts.watch.language import LINE
from pages.parts.watch.learned_text import HELD, example_text, packed, unpacked
from pages.parts.watch.moment_files import zipped_moment
from pages.parts.watch.settings import FILMS
from pages.parts.watch.trainings import NOTHING_LEARNED
from tests.pages.test_every_page import component, follow, link, opened, picture, taken
from viz.tokens import markdown_text

SMALL = "width.16~steps.5"
PATIENCE = 180  # seconds; a training takes 135 at most


def watched(**values: Any) -> AppTest:
    """The page at an address with these values."""
    return opened(
        "watch.py", **({"watch": "~".join(f"{name}.{value}" for name, value in values.items())} if values else {})
    )


def film(app: AppTest) -> dict[str, Any]:
    """What the player was given; nothing where there is none."""
    proto = component(app, "headlight_watch_player")
    return {} if proto is None else json.loads(proto.json)


def address(app: AppTest) -> str:
    """What stands in it of this page."""
    named = app.query_params["watch"]
    return named if isinstance(named, str) else named[0]


def trained(app: AppTest) -> AppTest:
    """The page once the training that was begun has ended."""
    app = app.button(key="watch_train").click().run()
    end = time.monotonic() + PATIENCE
    while not film(app) or "watch_stop" in [button.key for button in app.button]:
        assert time.monotonic() < end
        assert not app.exception
        time.sleep(0.3)
        app = app.run()
    return app


def test_it_opens_on_a_film_that_plays_two_recorded_trainings_side_by_side():
    app = watched()
    assert not app.exception
    assert app.title[0].value.startswith("About step 215, accuracy jumps")
    assert [run["name"] for run in film(app)["runs"]] == ["2 layers of 2 heads", "1 layer of 2 heads"]
    assert (film(app)["step"], film(app)["live"]) == (None, False)


@pytest.mark.parametrize("name", FILMS)
def test_a_films_pictures_are_those_of_its_snapshots(name):
    app = watched(film=name)
    for run, training in zip(film(app)["runs"], FILMS[name], strict=True):
        history, line = recorded(training), "".join(run["tokens"])
        weights = head_pictures(history, line).weights
        sent = np.frombuffer(base64.b64decode(run["weights"]), np.uint8).reshape(weights.shape)
        assert np.abs(sent / 255 - np.sqrt(weights)).max() < 0.0021
        assert run["curve"]["accuracy"] == [moment.accuracy for moment in history.moments]


def test_another_film_begins_anew_and_forgets_step_and_characters():
    app = watched(step=256, line="abab")
    app = app.radio(key="watch_film").set_value("reverse").run()
    assert address(app) == "film.reverse"
    assert "".join(film(app)["runs"][0]["tokens"]) == "light>thgil"


def test_a_step_of_the_address_is_where_the_film_stands_and_what_the_links_open():
    app = watched(step=300)
    assert film(app)["step"] == 300
    names = [dict(parse_qsl(element.proto.query_string)).get("checkpoint") for element in app.get("page_link")]
    assert [name for name in names if name and "." in name] == [
        *["induction-two-layers.256"] * 3,
        *["induction-one-layer.256"] * 3,
    ]


def test_a_moment_opens_in_the_explorer_with_the_weights_that_its_picture_has():
    app = follow(watched(step=300), "Explore it")
    assert not app.exception
    layers = picture(app)["layers"]
    history = recorded("induction-two-layers")
    weights = head_pictures(history, "wordplaywordplay").weights[history.steps.index(256)]
    for layer in range(2):
        assert np.allclose(layers["decoder", layer], weights[layer], atol=0.005)
    assert "induction-two-layers, step 256" in json.loads(component(app, "headlight_bar").json)["models"][-1][1]


@pytest.mark.parametrize("page", ["inside.py", "break.py", "heads.py", "write.py", "explanation.py", "edit.py"])
def test_a_moment_opens_on_other_pages_by_its_name_alone(page):
    app = opened(page, checkpoint="reverse-with-positions.256", text="light>")
    assert not app.exception
    assert not app.error
    assert json.loads(component(app, "headlight_bar").json)["model"] == "reverse-with-positions.256"


@pytest.mark.parametrize("name", ["induction-two-layers.255", "nothing-at-all.256", "induction-0a1b2c3d.5"])
def test_a_moment_that_there_is_not_is_no_model(name):
    app = opened("explore.py", checkpoint=name)
    assert not app.exception
    assert any("no usable value for checkpoint" in info.value for info in app.info)


def test_characters_that_the_model_never_learned_are_refused_and_the_film_stays():
    app = taken(watched(), **{"watch.line": "Été"})
    assert [error.value.replace("\\", "") for error in app.error] == [
        "This model has no character É, no character é. It knows the letters a to z and >. "
        "Until it knows all that is typed, the pictures are of “wordplaywordplay”."
    ]
    assert dict(parse_qsl(link(app, "Explore it").query_string))["text"] == "wordplaywordplay"
    assert "".join(film(app)["runs"][0]["tokens"]) == "wordplaywordplay"


def test_other_characters_are_what_the_pictures_are_of():
    app = watched().text_input(key="watch.line").set_value("abcabc").run()
    assert "".join(film(app)["runs"][0]["tokens"]) == "abcabc"
    assert address(app) == "line.abcabc"


def test_a_training_of_ones_own_is_shown_as_it_would_be_recorded_and_beside_the_next_of_its_task():
    app = trained(opened("watch.py", watch=SMALL))
    assert film(app)["runs"][0]["last"] == 5
    assert not app.error
    app = trained(app.number_input(key="watch_layers").set_value(1).run())
    assert [run["name"] for run in film(app)["runs"]] == ["1 layer of 2 heads", "2 layers of 2 heads"]
    app = follow(app, "Explore it")
    assert not app.exception
    assert picture(app)["header"]["kinds"][0]["layers"] == 1


def test_a_training_without_a_mask_is_broken_without_one_and_says_so():
    app = trained(opened("watch.py", watch=f"task.copy~mask.none~{SMALL}"))
    (run,) = film(app)["runs"]
    sent = np.frombuffer(base64.b64decode(run["weights"]), np.uint8).reshape(len(run["steps"]), 2, 2, 11, 11)
    assert sent[..., 0, -1].min() > 0
    assert any(caption.value.startswith("This model was trained without a mask.") for caption in app.caption)
    queries = [dict(parse_qsl(element.proto.query_string)) for element in app.get("page_link")]
    assert [query["edits"] for query in queries if "edits" in query] == ["unmask_d"]
    app = follow(app, "Break it")
    assert not app.exception
    assert not app.error


def test_a_moment_of_ones_own_training_is_zipped_where_there_is_no_session(tmp_path):
    history = record(RunSettings(task="copy", width=16, steps=2))
    with zipfile.ZipFile(io.BytesIO(zipped_moment(history, 2))) as archive:
        archive.extractall(tmp_path)
    checkpoint = load_checkpoint(tmp_path, device="cpu")
    ours = history.checkpoint(2).trace("light>light").text_stack.weights()
    assert torch.equal(checkpoint.trace("light>light").text_stack.weights(), ours)


def test_a_stopped_training_is_no_rival_of_the_next():
    whole, stopped, again = (record(RunSettings(task="copy", width=16, steps=2, seed=seed)) for seed in range(3))
    stopped = replace(stopped, settings=replace(stopped.settings, steps=900))
    app = opened("watch.py", watch="film.own")
    app.session_state[OWN_TRAININGS] = {"copy-a": whole, "copy-b": stopped, "copy-c": again}
    assert len(film(app.run())["runs"]) == 2
    app.session_state[OWN_TRAININGS] = {"copy-b": stopped, "copy-c": again}
    assert len(film(app.run())["runs"]) == 1


def test_a_stopped_training_says_where_it_ended(monkeypatch):
    app = opened("watch.py", watch="steps.10000").button(key="watch_train").click().run()
    end = time.monotonic() + PATIENCE
    while not film(app):
        assert time.monotonic() < end
        time.sleep(0.2)
        app = app.run()
    assert not any("0 steps in 0 seconds" in caption.value for caption in app.caption)
    while app.session_state["_watch_turn"].trainer.history.last.step == 0:
        assert time.monotonic() < end
        time.sleep(0.2)
    app = app.button(key="watch_stop").click().run()
    while "watch_stop" in [button.key for button in app.button]:
        assert time.monotonic() < end
        time.sleep(0.2)
        app = app.run()
    assert any(
        re.match(r"It ended early, at step [0-9,]+ of 10,000: press Train for all of them\. In the end", each.value)
        for each in app.markdown
    )
    assert not app.error


def test_a_training_that_was_stopped_before_its_first_step_is_not_kept_and_says_so():
    whole = record(RunSettings(task="copy", width=16, steps=2))
    untrained = replace(whole, moments=whole.moments[:1], snapshots={0: whole.snapshots[0]})
    app = opened("watch.py", watch="film.own")
    app.session_state["_watch_turn"] = SimpleNamespace(
        is_over=True, trainer=SimpleNamespace(history=untrained, refusal="")
    )
    app = app.run()
    assert not app.exception
    assert not film(app)
    assert [error.value for error in app.error] == [markdown_text(NOTHING_LEARNED)]


def test_a_training_that_ends_while_the_page_is_drawn_is_shown():
    class Ending:
        """Over after one look at it."""

        trainer = SimpleNamespace(history=record(RunSettings(task="copy", width=16, steps=2)), refusal="")
        looks = iter([False])

        @property
        def is_over(self) -> bool:
            return next(self.looks, True)

    app = opened("watch.py", watch="film.own")
    app.session_state["_watch_turn"] = Ending()
    assert film(app.run())["runs"][0]["last"] == 2
    assert app.session_state["_watch_turn"] is None


def test_a_training_whose_process_is_killed_costs_one_sentence_and_keeps_what_there_was():
    app = opened("watch.py", watch="steps.10000").button(key="watch_train").click().run()
    turn = app.session_state["_watch_turn"]
    end = time.monotonic() + PATIENCE
    while turn.trainer is None or len(turn.trainer.history.snapshots) < 5:
        assert time.monotonic() < end
        time.sleep(0.1)
    turn.trainer.kill()
    turn.trainer.wait(PATIENCE)
    app = app.run()
    assert not app.exception
    (said,) = [error.value.replace("\\", "") for error in app.error]
    assert re.fullmatch(r"The training ended early, after step [0-9,]+, because its process was ended or .*", said)
    assert len(film(app)["runs"][0]["steps"]) >= 5
    assert not app.run().error, "it is said once"


def test_a_visitor_who_leaves_takes_the_training_along(monkeypatch):
    calls = []
    monkeypatch.setattr("pages.parts.watch.trainings.when_over", lambda name, call: calls.append(call))
    app = opened("watch.py", watch="steps.10000").button(key="watch_train").click().run()
    turn = app.session_state["_watch_turn"]
    end = time.monotonic() + PATIENCE
    while turn.trainer is None:
        assert time.monotonic() < end
        time.sleep(0.1)
    process = turn.trainer.popen
    calls[-1]()
    turn.trainer.wait(PATIENCE)
    assert process.poll() is not None


def test_who_comes_while_others_train_is_told_the_place_in_the_line_and_begins_when_there_is_room(monkeypatch):
    line = WaitingLine(1)
    monkeypatch.setattr("pages.parts.watch.trainings.waiting_line", lambda: line)
    first = line.enter("another visitor", RunSettings(steps=10_000))
    app = opened("watch.py", watch=SMALL).button(key="watch_train").click().run()
    assert any("you are next in the line" in each.value for each in app.markdown)
    line.kill("another visitor")
    assert first.trainer is not None
    first.trainer.wait(PATIENCE)
    end = time.monotonic() + PATIENCE
    while not film(app):
        assert time.monotonic() < end
        app = app.run()
    assert not app.exception


def test_the_same_seed_gives_the_same_film_again():
    first, again = (film(trained(opened("watch.py", watch=SMALL)))["runs"][0] for _ in range(2))
    assert first == again


def test_a_link_to_a_training_of_ones_own_says_what_to_do():
    app = watched(film="own", task="sort")
    assert not film(app)
    assert any("press Train" in info.value for info in app.info)
    assert app.selectbox(key="watch_task").value == "sort"


def test_a_text_that_is_too_short_is_refused_and_the_example_is_not():
    app = watched(task="text", steps=2, width=16).button(key="watch_train").click().run()
    assert [error.value.replace("\\", "") for error in app.error] == [
        f"The text has 0 characters; a training needs {SHORTEST_TEXT:,} to 100,000. Paste one, or use the example."
    ]
    assert not app.info
    app = trained(app.button(key="watch_example").click().run())
    assert film(app)["runs"][0]["curve"]["step"][-1] == 2
    assert not app.error


OWN_TEXT = "The ship went out, and the ship came home again; nobody had seen the whale. " * 20


def test_a_link_has_a_short_text_and_trains_on_it_again():
    app = watched(task="text", steps=2, width=16).text_area(key="watch_own_text").input(OWN_TEXT).run()
    learned = app.query_params["watch"].partition("learned.")[2].partition("~")[0]
    assert unpacked(learned) == OWN_TEXT
    first = film(trained(app))["runs"][0]
    other = opened("watch.py", **dict(app.query_params))
    assert other.text_area(key="watch_own_text").value == OWN_TEXT
    assert film(other)["runs"][0] == first, "the server has it still"
    kept_trainings().drop(lambda _: True)
    other = opened("watch.py", **dict(app.query_params))
    assert any("press Train" in info.value for info in other.info)
    assert film(trained(other))["runs"][0] == first


def test_a_text_too_long_for_a_link_is_held_by_the_server_for_whoever_has_the_link():
    long = "".join(chr(0x4E00 + 7 * place % 5000) for place in range(3000))
    app = watched(task="text").text_area(key="watch_own_text").input(OWN_TEXT).run()
    app = app.text_area(key="watch_own_text").input(long).run()
    assert HELD + digest_of(long) in address(app)
    assert long not in address(app)
    assert app.text_area(key="watch_own_text").value == long
    assert opened("watch.py", **dict(app.query_params)).text_area(key="watch_own_text").value == long
    held_texts().drop(lambda _: True)
    assert app.run().text_area(key="watch_own_text").value == long, "this session has it"
    other = opened("watch.py", watch=f"{address(app)}~film.own")
    assert other.text_area(key="watch_own_text").value == ""
    assert [info.value for info in other.info] == [
        "This link asks for a training on a text that the server no longer has: paste a text, and press Train."
    ]


def test_after_a_reload_a_training_that_was_stopped_is_there_with_its_moments_and_its_text():
    text = " ".join(f"{number:x}" for number in range(100, 1300))
    app = watched(task="text", width=16, steps=3000).text_area(key="watch_own_text").input(text).run()
    app = app.button(key="watch_train").click().run()
    end = time.monotonic() + PATIENCE
    while not film(app):
        assert time.monotonic() < end
        time.sleep(0.3)
        app = app.run()
    app = app.button(key="watch_stop").click().run()
    while "watch_stop" in [button.key for button in app.button]:
        assert time.monotonic() < end
        time.sleep(0.3)
        app = app.run()
    again = opened("watch.py", **dict(app.query_params))
    assert again.title[0].value == app.title[0].value
    assert film(again)["runs"] == film(app)["runs"]
    place = link(again, "Explore it")
    there = opened("explore.py", **dict(parse_qsl(place.query_string)))
    assert not there.error
    assert not there.exception


@pytest.mark.parametrize("letters", ["A", "____", "aGFsbG8", packed("x" * 2000)[:-3]])
def test_letters_that_hold_no_text_are_none(letters):
    assert unpacked(letters) == ""


def test_a_text_that_would_be_longer_than_any_training_may_learn_is_none():
    assert unpacked(packed("x" * LONGEST_TEXT)) == "x" * LONGEST_TEXT
    assert unpacked(packed("x" * (LONGEST_TEXT + 1))) == ""
    assert unpacked(packed(example_text())) == example_text()


def test_heads_that_do_not_share_the_width_are_refused_in_a_sentence():
    app = watched(heads=3).button(key="watch_train").click().run()
    assert [error.value.replace("\\", "") for error in app.error] == [
        "3 heads cannot share a width of 32 evenly: choose 1, 2, 4, 8 heads, or another width."
    ]


def test_alone_the_finding_and_the_film_are_shown():
    app = opened("watch.py", view="picture")
    assert film(app)
    assert not app.button
    assert not app.get("page_link")


def test_the_last_link_goes_on():
    assert link(watched(), "Next: How we know, all numbers checked")


def test_the_language_models_film_has_its_texts_its_pictures_and_its_moments():
    recorded_film = language_film()
    app = watched(film="language", step=recorded_film.steps[-2])
    assert not app.exception
    (run,) = film(app)["runs"]
    assert run["written"] == [recorded_film.prompt + recorded_film.written[step] for step in recorded_film.steps]
    traces = [recorded_film.checkpoint(step).trace(LINE) for step in recorded_film.steps]
    weights = np.stack([trace.text_stack.weights().numpy() for trace in traces])
    sent = np.frombuffer(base64.b64decode(run["weights"]), np.uint8).reshape(weights.shape)
    assert np.abs(sent / 255 - np.sqrt(weights)).max() < 0.0021
    last: Any = traces[-1]
    guesses = last.logits.argmax(dim=-1).tolist()
    ids = last.decoder.ids.tolist()
    assert run["hits"][-1] == [*(guess == wanted for guess, wanted in zip(guesses[:-1], ids[1:], strict=True)), None]
    assert f"{recorded_film.last.loss:.2f} nats" in " ".join(each.value for each in app.markdown)
    app = follow(app, "Explore it")
    assert not app.exception
    name = f"stories-small.{recorded_film.steps[-2]}"
    assert json.loads(component(app, "headlight_bar").json)["model"] == name
    assert np.allclose(picture(app)["layers"]["decoder", 0], weights[-2, 0], atol=0.005)


def test_an_empty_or_endless_text_costs_the_language_film_nothing():
    app = taken(watched(film="language"), **{"watch.line": " "})
    assert not app.exception
    assert film(app) or app.error
