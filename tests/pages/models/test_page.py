"""The page Models: another model by its id from a hub on this machine, by files, by a folder, and every refusal."""

import json
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qsl

import jaxtyping
import numpy as np
import pytest
from safetensors.numpy import save

from model.loading.hub import cached
from pages.parts.models import asked_model, catalogue, hub_panel, machine_folder, upload_panel
from pages.parts.models.asked_model import id_in, opened_with
from pages.parts.models.hub_jobs import hub_jobs
from pages.parts.models.hub_panel import whole_megabytes
from pages.parts.models.small_models import nearest_to
from tests import reference, tiny
from tests.hub_server import Switches, commit_of, hub_server
from tests.kinds import BERT, GPT2
from tests.pages.test_every_page import component, opened, picture

PAGE = "checkpoints.py"
ID = "get"
FILES = ("config.json", "model.safetensors", "tokenizer.json")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Models as ``transformers`` saves them; one of a kind that is not computed here, one without a tokenizer."""
    root = tmp_path_factory.mktemp("models")
    kinds = {"org/writer": ("GPT2LMHeadModel", GPT2), "org/reader": ("BertModel", BERT)}
    for name, (kind, fields) in kinds.items():
        reference.make(kind, root / name, **fields)
        tiny.tokenizer().save(root / name / "tokenizer.json")
    reference.make("GPT2LMHeadModel", root / "org/mute", **GPT2)
    (root / "org/picture").mkdir()
    for file in FILES:
        (root / "org/picture" / file).write_bytes((root / "org/writer" / file).read_bytes())
    (root / "org/picture/config.json").write_text('{"model_type": "vit"}', encoding="utf-8")
    return {name: root / name for name in (*kinds, "org/mute", "org/picture")}


@pytest.fixture
def switches() -> Switches:
    return Switches()


@pytest.fixture(autouse=True)
def hub(folders, switches, tmp_path, monkeypatch) -> Iterator[None]:
    """A hub with these, an empty cache, and a server of its owner alone."""
    for kept in (hub_jobs, catalogue.opened):
        kept.clear()
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
    monkeypatch.setenv("HEADLIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr(machine_folder, "is_allowed", lambda: True)
    monkeypatch.setattr("pages.parts.models.ways.is_allowed", lambda: True)
    with hub_server(folders, switches) as address:
        monkeypatch.setenv("HF_ENDPOINT", address)
        yield
    catalogue.opened.clear()


def field(app: Any, label: str) -> Any:
    return next(each for each in app.text_input if each.label == label or each.key == label)


def texts(app: Any) -> str:
    parts = (*app.title, *app.caption, *app.markdown, *app.error)
    return "\n".join(part.value for part in parts).replace("\\", "")


def until(app: Any, seen: Callable[[Any], bool]) -> Any:
    """The page once it shows this: it looks again, as the browser has it do."""
    end = time.monotonic() + 60
    while not seen(app.run()):
        assert not app.exception
        assert time.monotonic() < end, texts(app)
        time.sleep(0.2)
    return app


def labels(app: Any) -> list[str]:
    return [button.label.replace("\\", "") for button in app.button]


def refusals(app: Any) -> list[str]:
    assert not app.exception
    return [error.value.replace("\\", "") for error in app.error]


def ask(text: str) -> Any:
    """The page after this was typed into the field, once the hub has answered."""
    app = opened(PAGE)
    field(app, ID).set_value(text).run()
    return until(app, lambda app: "Asking Hugging Face" not in texts(app))


def test_the_id_is_told_to_a_field_that_the_browser_has_not_mounted_yet(switches):
    switches.silent = 1.0
    app = opened(PAGE, get="org/writer")
    until(app, lambda app: "25,416 parameters" in texts(app))
    assert field(app, ID).proto.default == "org/writer", "else it begins empty, and reports that"


def test_an_id_that_was_typed_is_not_told_again():
    app = ask("org/writer")
    assert not field(app, ID).proto.set_value, "what is being typed would be lost"


def test_a_model_is_downloaded_and_opens_in_explore(folders):
    app = ask("org/writer")
    assert "org/writer** at revision" in texts(app)
    next(button for button in app.button if button.label.startswith("Download ")).click().run()
    name = f"org/writer@{commit_of(folders['org/writer'])}"
    chosen = f"checkpoint={name}".replace("/", "%2F").replace("@", "%40")
    until(app, lambda app: any(chosen in link.proto.query_string for link in app.get("page_link")))
    assert [each.value for each in app.subheader if each.value.startswith("Downloaded to this server")]
    assert picture(opened(checkpoint=name)) is not None


def test_a_downloaded_model_is_deleted_after_the_question_that_says_how_much_goes(folders):
    app = ask("org/writer")
    next(button for button in app.button if button.label.startswith("Download ")).click().run()
    until(app, lambda app: "Delete org/writer" in labels(app))
    (question,) = [each.value for each in app.markdown if "from this server?" in each.value]
    size = sum(file.stat().st_size for file in folders["org/writer"].iterdir())
    assert question == f"Delete {whole_megabytes(size)} from this server? The model can be downloaded again."
    assert cached()
    app.button[labels(app).index("Delete org/writer")].click().run()
    assert not refusals(app)
    assert not cached()
    assert "Delete org/writer" not in labels(app)


def test_a_model_of_another_kind_is_refused_with_a_way_to_show_its_attention():
    app = ask("org/picture")
    (sentence,) = refusals(app)
    assert sentence.startswith("config.json: model_type: models of type vit cannot be opened; these can: bart, bert,")
    assert "Ask again" not in labels(app)
    assert any(link.proto.label.startswith("Your arrays: attention of any") for link in app.get("page_link"))


@pytest.mark.parametrize("text", ["a b", "a/b/c", "../x", "<b>x</b>", "x" * 150, "~"])
def test_what_is_no_id_is_named_as_typed(text):
    (sentence,) = refusals(ask(text))
    assert f"“{text[:59]}" in sentence
    assert sentence.endswith("is no id of a model: write it as gpt2, owner/name or owner/name@revision.")


def test_a_model_that_is_not_there_can_be_asked_for_again():
    app = ask("org/nothing")
    assert refusals(app)[0].startswith("The hub has no model org/nothing")
    app.button[labels(app).index("Ask again")].click().run()
    if "Asked again just now." not in texts(app):
        until(app, lambda app: "Asked again just now." in texts(app))
    assert refusals(app)[0].startswith("The hub has no model org/nothing"), "the same answer"
    assert "Asked again just now." not in texts(app.run()), "it is said once"


PASTED = {
    " gpt2\n": "gpt2",
    "https://huggingface.co/org/name": "org/name",
    "https://huggingface.co/gpt2/": "gpt2",
    "huggingface.co/org/name?library=transformers": "org/name",
    "https://huggingface.co/org/name/tree/main": "org/name",
    "https://huggingface.co/org/name/tree/v1.0": "org/name@v1.0",
    "https://huggingface.co/gpt2/tree/main": "gpt2",
    "https://huggingface.co/gpt2/commits/main": "gpt2",
    "https://huggingface.co/gpt2/discussions": "gpt2",
    "https://huggingface.co/org/tree-model": "org/tree-model",
    "https://huggingface.co/gpt2/blob/v2/config.json": "gpt2@v2",
    "https://hf.co/org/name/blob/main/config.json#L3": "org/name",
    "https://www.huggingface.co/org/name/discussions/4": "org/name",
    "https://example.org/org/name": "https://example.org/org/name",
}


@pytest.mark.parametrize("typed", PASTED)
def test_an_address_of_the_hub_is_pasted_for_an_id(typed):
    assert id_in(typed) == PASTED[typed]


@pytest.mark.parametrize(
    ("name", "refusal"),
    [("org/picture", "models of type vit cannot be opened"), ("org/mute", "There is no tokenizer.json")],
)
def test_a_folder_that_no_page_can_show_is_refused_and_does_not_join_the_models(name, refusal, folders):
    app = opened(PAGE)
    before = [header.value for header in app.header]
    field(app, "A folder on this machine").set_value(str(folders[name])).run()
    (sentence,) = refusals(app)
    assert refusal in sentence
    assert str(folders[name]) not in sentence
    assert [header.value for header in opened(PAGE).header] == before


def test_a_folder_joins_the_models(folders):
    app = opened(PAGE)
    field(app, "A folder on this machine").set_value(str(folders["org/reader"])).run()
    assert not refusals(app)
    assert "reader" in [header.value for header in opened(PAGE).header]


@pytest.mark.parametrize(("name", "refusal"), [("org/mute", "There is no tokenizer.json"), ("org/writer", "")])
def test_files_are_opened_or_refused_without_naming_where_they_lie(name, refusal, folders):
    files = [folders[name] / file for file in FILES if (folders[name] / file).exists()]
    app = opened(PAGE)
    app.file_uploader[0].set_value([(file.name, file.read_bytes(), "application/octet-stream") for file in files]).run()
    sentences = refusals(app)
    assert [refusal in sentence for sentence in sentences] == ([True] if refusal else [])
    assert "headlight-upload" not in "".join(sentences)
    assert any(header.value.startswith("upload") for header in app.header) == (not refusal)


@pytest.mark.parametrize(
    ("file", "content"),
    [("mine.npz", b"PK"), ("mine.safetensors", save({"weights": np.zeros((1, 1, 2, 2), np.float32)}))],
)
def test_a_file_of_arrays_is_refused_with_a_link_to_their_page(file, content):
    app = opened(PAGE)
    app.file_uploader[0].set_value([(file, content, "application/octet-stream")]).run()
    assert refusals(app) == [
        f"{file} holds arrays and no model: attention that is saved in it opens on the page Your arrays."
    ]
    assert "Your arrays: attention of any model, from a file" in [link.proto.label for link in app.get("page_link")]
    assert not refusals(app.run()), "it is said once"


@pytest.mark.parametrize(
    ("typed", "near"),
    [
        ("gpt-2", "gpt2"),
        ("GPT2", "gpt2"),
        ("bert-base-uncased", "google-bert/bert-base-uncased"),
        ("google-bert/bert-base-uncase", "google-bert/bert-base-uncased"),
        ("pythia", "EleutherAI/pythia-70m"),
        ("gpt2", None),  # the hub was asked for this one
        ("org/missing", None),
    ],
)
def test_a_known_model_is_found_by_nearly_its_id(typed, near):
    model = nearest_to(typed)
    assert (model and model.id) == near


def test_a_mistyped_id_is_answered_with_the_one_that_was_meant():
    app = opened(PAGE)
    field(app, ID).set_value("gpt-2").run()
    until(app, lambda app: bool(refusals(app)))
    (instead,) = [button for button in app.button if button.key == "ask_nearest"]
    assert instead.label == "Look for gpt2 instead"
    instead.click().run()
    assert field(app, ID).value == "gpt2"
    until(app, lambda app: bool(refusals(app)))  # the hub of this test has none, and there is nothing nearer to it
    assert not [button for button in app.button if button.key == "ask_nearest"]


@pytest.mark.parametrize(
    ("name", "chosen", "text"),
    [
        ("Helsinki-NLP/opus-mt-de-en", {}, "Das rote Haus ist groß."),
        ("Helsinki-NLP/opus-mt-de-en", {"text": "Guten Tag."}, None),
        ("Helsinki-NLP/opus-mt-en-de", {}, None),
        ("Helsinki-NLP/opus-mt-sv-en", {}, None),  # no sentences in Swedish here
        ("org/writer", {}, None),
    ],
)
def test_a_translator_opens_with_a_text_of_the_language_that_it_reads(name, chosen, text, monkeypatch):
    monkeypatch.setattr(asked_model, "choices", lambda: chosen)
    assert opened_with(name) == {"checkpoint": name, "get": "", **({"text": text} if text else {})}


def test_who_uploads_without_a_pause_is_held_up_and_nobody_else(monkeypatch):
    pauses: list[float] = []
    monkeypatch.setattr(upload_panel, "time", SimpleNamespace(sleep=pauses.append, monotonic=time.monotonic))

    def upload(app: Any) -> None:
        app.file_uploader[0].set_value([("mine.zip", b"no zip", "application/zip")]).run()
        assert refusals(app)

    first, other = opened(PAGE), opened(PAGE)
    for app in (first, first, other):
        upload(app)
    assert pauses[0] == pauses[2] == 0
    assert 0 < pauses[1] <= upload_panel.PAUSE


def test_a_download_that_ends_while_the_page_is_drawn_opens_all_the_same(monkeypatch, folders):
    described = hub_panel.described

    def described_late(listing: Any) -> str:
        while (job := hub_jobs().download_of(listing.name)) is not None and not job.is_over:
            time.sleep(0.01)
        return described(listing)

    app = ask("org/writer")
    monkeypatch.setattr(hub_panel, "described", described_late)
    next(button for button in app.button if button.label.startswith("Download ")).click().run()
    assert not [label for label in labels(app) if label.startswith(("Download ", "Go on"))]
    assert "is here" in texts(app)
    (lead,) = [link for link in app.get("page_link") if link.proto.label == "On"]
    assert f"{commit_of(folders['org/writer'])}" in lead.proto.query_string


def test_whoever_starts_with_pickled_weights_is_led_to_the_conversion_once_that_is_here(folders, tmp_path, monkeypatch):
    whole, pickled = folders["org/writer"], tmp_path / "pickled"
    pickled.mkdir()
    for file in ("config.json", "tokenizer.json"):
        (pickled / file).write_bytes((whole / file).read_bytes())
    (pickled / "pytorch_model.bin").write_bytes(b"never read")
    with hub_server({"org/old": pickled}, revisions={"org/old": {"refs/pr/3": whole}}) as address:
        monkeypatch.setenv("HF_ENDPOINT", address)
        monkeypatch.setenv(catalogue.OPEN, "org/old@main")
        app = opened("explore.py")
        until(app, lambda app: any(label.startswith("Download ") for label in labels(app)))
        next(button for button in app.button if button.label.startswith("Download ")).click().run()
        until(app, lambda app: "is here" in texts(app))
        links = [link.proto for link in app.get("page_link") if link.proto.label == "Open in Explore"]
        assert [commit_of(whole) in link.query_string for link in links] == [True]


def test_several_zips_at_once_are_a_model_each_and_a_refusal_among_them_is_not_left_behind(folders, tmp_path):
    zips = []
    for name in ("writer", "reader"):
        path = shutil.make_archive(str(tmp_path / name), "zip", folders[f"org/{name}"])
        zips.append((f"{name}.zip", Path(path).read_bytes(), "application/zip"))
    app = opened(PAGE)
    app.file_uploader[0].set_value([zips[0], ("spoilt.zip", b"PK", "application/zip")]).run()
    assert ["spoilt.zip is damaged" in sentence for sentence in refusals(app)] == [True]
    assert [link for link in app.get("page_link") if link.proto.label == "On"] == [], "it would lead away from that"
    app.file_uploader[0].set_value(zips).run()
    assert not refusals(app)
    names = [header.value.partition("\\-")[0] for header in app.header]
    assert {"writer", "reader"} <= set(names)
    assert len([link for link in app.get("page_link") if link.proto.label == "On"]) == 1


def test_a_run_that_comes_before_the_browser_has_pressed_the_link_keeps_it_and_presses_it_once(folders):
    app = ask("org/writer")
    next(button for button in app.button if button.label.startswith("Download ")).click().run()
    until(app, lambda app: bool(leads(app)))
    first = leads(app)
    assert leads(app.run()) == first
    assert leads(app.run()) == first, "the same press"
    (address,) = [link.proto.query_string for link in app.get("page_link") if link.proto.label == "On"]
    app.query_params.update(dict(parse_qsl(address)))
    app.switch_page("pages/explore.py").run()
    assert leads(app.switch_page("pages/checkpoints.py").run()) == [], "whoever comes back stays"


def leads(app: Any) -> list[int]:
    """Which link the browser is told to press, by its number; none where there is no link to press."""
    lead = component(app, "headlight_pressed_link")
    return [] if lead is None else [json.loads(lead.json)["time"]]
