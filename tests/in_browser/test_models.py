"""Bringing a model in a real browser: by its id from a hub on this machine, by a link, as files, as a folder."""

import re
import resource
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests import reference, tiny
from tests.hub_server import Switches, commit_of, hub_server
from tests.kinds import GPT2, LLAMA
from tests.running import (
    asks,
    back,
    entries,
    go_to,
    has_checkpoint,
    has_page,
    has_text,
    no_complaint,
    open_page,
    running_app,
    visitor,
)

TEXT = "the dog bit the man ."
SLOW = 400_000  # bytes a second: a busy machine too has a minute to see the download on its way
LARGE = GPT2 | {"n_embd": 384, "n_layer": 4, "vocab_size": 2000}  # 32 MB
REPOSITORIES = (
    *("org/typed", "org/linked", "org/declined", "org/from-bar", "org/small"),
    *("org/gated", "org/damaged", "org/cut", "org/full-disk", "org/converted"),
)
WEIGHTS = "model.safetensors"
OPENED = "**/?*checkpoint=*"  # Explore, with a model of its own


@dataclass
class HubAndApp:
    """The app, and a hub that has these repositories."""

    address: str
    pid: int
    repositories: dict[str, Path]
    switches: Switches
    folder: Path

    def name(self, repo: str) -> str:
        """What the app calls a model of the hub."""
        return f"{repo}@{commit_of(self.repositories[repo])}"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubAndApp]:
    root = tmp_path_factory.mktemp("models")
    folders = {repo: root / repo for repo in (*REPOSITORIES, "org/large")}
    for place, (repo, folder) in enumerate(folders.items()):
        reference.make("GPT2LMHeadModel", folder, **(LARGE if repo == "org/large" else GPT2 | {"n_layer": place + 1}))
        tiny.tokenizer().save(folder / "tokenizer.json")
    reference.make("LlamaForCausalLM", root / "org/sharded", save_max_shard_size="20KB", **LLAMA)
    tiny.tokenizer().save(root / "org/sharded/tokenizer.json")
    folders["org/sharded"] = root / "org/sharded"
    conversion = {"org/converted": {"refs/pr/3": folders["org/converted"]}}
    for repo in ("org/converted", "org/pickled"):  # the one has a conversion, the other none
        folders[repo] = root / repo.replace("/", "-")
        folders[repo].mkdir()
        for file in ("config.json", "tokenizer.json"):
            shutil.copy(folders["org/small"] / file, folders[repo])
    switches = Switches(gated={"org/gated"})
    cache = {"HEADLIGHT_CACHE": str(root / "cache"), "HEADLIGHT_FOLDERS": "1", "STREAMLIT_SERVER_ADDRESS": "localhost"}
    with (
        hub_server(folders, switches, revisions=conversion) as endpoint,
        running_app(variables={"HF_ENDPOINT": endpoint, **cache}) as (address, pid),
    ):
        yield HubAndApp(address, pid, folders, switches, root)


def ask_for(page: Page, text: str) -> None:
    """Type an id into the field of the page Models."""
    field = page.get_by_role("textbox", name="Another model, by its Hugging Face id")
    field.fill(text)
    field.press("Enter")


def main_button(page: Page, words: str) -> None:
    """Press the one button of the page whose label begins with these words and names a size."""
    page.get_by_test_id("stMain").get_by_role("button").filter(has_text=words).filter(has_text="MB").click()


def upload(page: Page, *files: Path) -> None:
    """Give these files to the page's one uploader."""
    uploader = page.locator("input[type=file]")
    # Streamlit's uploader has a second field ("add") while it names the files given before; the page's next
    # uploader is empty, and comes a moment after the sentence on those files.
    expect(uploader).to_have_count(1)
    uploader.set_input_files(files)


def expect_refusal(page: Page, words: str) -> None:
    """One refusal is on the page, and says this."""
    error = page.get_by_test_id("stAlertContentError")
    expect(error).to_have_count(1)
    expect(error).to_contain_text(words)
    assert len(error.inner_text()) <= 300
    assert "/tmp" not in error.inner_text()


def test_an_id_is_looked_up_downloaded_and_opened_and_back_leads_to_the_page(browser, server):
    with visitor(browser) as page:
        open_page(page, server.address, "Models", text=TEXT)
        before = entries(page)
        ask_for(page, "https://huggingface.co/org/typed")
        expect(page.get_by_text("at revision").first).to_contain_text("GPT-2")
        assert "get=org%2Ftyped" in page.url
        main_button(page, "Download")
        page.wait_for_url(OPENED)
        has_page(page, "Explore")
        has_checkpoint(page, server.name("org/typed"))
        has_text(page, TEXT)
        no_complaint(page)
        assert "get=" not in page.url
        assert entries(page) == before + 2, "one for the id that was asked for, one for Explore"
        back(page, "Models")
        expect(page.get_by_text("org/typed at revision").first).to_contain_text("is here")
        page.wait_for_timeout(1000)
        assert "/checkpoints?" in page.url, "it opens by itself once"


def test_a_download_shows_how_far_it_is_stops_goes_on_and_holds_nobody(browser, server):
    server.switches.rate = SLOW
    try:
        with visitor(browser) as page, visitor(browser) as other:
            open_page(page, server.address, "Models", get="org/large")
            main_button(page, "Download")
            expect(page.get_by_text("of 32 MB").first).to_be_visible()
            first = page.get_by_text("of 32 MB").first.inner_text()
            expect(page.get_by_text("of 32 MB").first).not_to_have_text(first)
            open_page(other, server.address, "Models", get="org/large")
            expect(other.get_by_text("Another visitor started this download.")).to_be_visible()
            expect(other.get_by_text("of 32 MB").first).to_be_visible()
            go_to(other, "Explore")
            no_complaint(other)
            page.get_by_role("button", name="Stop", exact=True).click()
            expect(page.get_by_role("button").filter(has_text="of 32 MB are here")).to_be_visible()
            server.switches.rate = None
            main_button(page, "Go on")
            page.wait_for_url(OPENED)
            has_page(page, "Explore")
            has_checkpoint(page, server.name("org/large"))
        asked = server.switches.asked("model.safetensors")
        assert any(not headers.get("range", "bytes=0-").startswith("bytes=0-") for headers in asked), "it went on"
    finally:
        server.switches.rate = None


def test_a_link_to_a_model_that_is_not_here_asks_before_it_downloads(browser, server):
    query = {"checkpoint": server.name("org/linked"), "text": TEXT, "layer": "1", "head": "2"}
    with visitor(browser) as page:
        page.goto(f"{server.address}/inside?{'&'.join(f'{name}={value}' for name, value in query.items())}")
        asks(page, "This link opens org/linked from Hugging Face.")
        expect(page.get_by_role("button").filter(has_text="Download")).to_be_visible()
        assert not server.switches.asked("org/linked/resolve/main/model.safetensors")
        main_button(page, "Download")
        has_page(page, "Inside a head")
        has_checkpoint(page, server.name("org/linked"))
        has_text(page, TEXT)
        assert "layer=1" in page.url
        assert "head=2" in page.url


def test_a_link_to_a_model_may_be_opened_with_another(browser, server):
    with visitor(browser) as page:
        page.goto(f"{server.address}/?checkpoint={server.name('org/declined')}&text={TEXT}&layer=3")
        asks(page, "This link opens org/declined from Hugging Face.")
        page.get_by_role("button", name="Open with sentiment instead").click()
        has_page(page, "Explore")
        has_checkpoint(page, "sentiment")
        has_text(page, TEXT)
        expect(page).not_to_have_url(re.compile("layer="))


def test_the_bar_takes_an_id_and_back_leads_to_where_one_was(browser, server):
    with visitor(browser) as page:
        open_page(page, server.address, "Explore", text=TEXT)
        before = entries(page)
        page.get_by_label("Model", exact=True).select_option("Another model …")
        field = page.get_by_role("textbox", name="Hugging Face id")
        field.fill("org/from-bar")
        field.press("Enter")
        page.wait_for_url("**/checkpoints?*")
        has_page(page, "Models")
        expect(page.get_by_role("button").filter(has_text="Download").filter(has_text="MB")).to_be_visible()
        assert entries(page) == before + 1
        back(page, "Explore")
        has_text(page, TEXT)


def test_a_model_that_was_asked_for_in_a_bar_opens_on_the_page_of_that_bar(browser, server):
    with visitor(browser) as page:
        open_page(page, server.address, "Inside a head", text=TEXT)
        page.get_by_label("Model", exact=True).select_option("Another model …")
        field = page.get_by_role("textbox", name="Hugging Face id")
        field.fill("org/from-bar")
        field.press("Enter")
        page.wait_for_url("**/checkpoints?*")
        page.get_by_role("button").filter(has_text="Download").filter(has_text="MB").click()
        page.wait_for_url("**/inside?*")
        has_page(page, "Inside a head")
        has_checkpoint(page, server.name("org/from-bar"))
        has_text(page, TEXT)


def can_be_had(page: Page) -> None:
    """Wait until the hub has been asked, and the download is offered."""
    expect(page.get_by_role("button").filter(has_text="Download").filter(has_text="MB")).to_be_visible()


def open_once_downloaded(page: Page, words: str = "Download") -> None:
    """Press the button that brings the model, and see it in Explore."""
    main_button(page, words)
    page.wait_for_url(OPENED)
    has_page(page, "Explore")
    no_complaint(page)


@pytest.mark.parametrize("repo", ["org/sharded", "org/converted"])
def test_weights_in_pieces_and_the_conversion_of_pickled_ones_open(browser, server, repo):
    with visitor(browser) as page:
        open_page(page, server.address, "Models", text=TEXT)
        ask_for(page, repo)
        if repo == "org/converted":
            expect_refusal(page, "the hub's own conversion of it is org/converted@refs/pr/3")
        open_once_downloaded(page)
        expect(page.get_by_label("Model", exact=True)).to_have_value(re.compile(f"{repo}@"))


def test_a_damaged_file_is_named_and_the_next_download_is_whole(browser, server):
    with visitor(browser) as page:
        open_page(page, server.address, "Models", text=TEXT, get="org/damaged")
        can_be_had(page)
        server.switches.damaged = {WEIGHTS}
        try:
            main_button(page, "Download")
            expect_refusal(page, "arrived damaged: its content is not what the hub lists")
        finally:
            server.switches.damaged = set()
        open_once_downloaded(page)


def test_a_download_is_taken_up_where_the_connection_was_cut(browser, server):
    with visitor(browser) as page:
        open_page(page, server.address, "Models", text=TEXT, get="org/cut")
        can_be_had(page)
        server.switches.cut_after, server.switches.cuts = 20_000, 2
        try:
            open_once_downloaded(page)
        finally:
            server.switches.cut_after = None
    ranges = [headers.get("range", "") for headers in server.switches.asked(WEIGHTS)]
    assert "bytes=20000-" in ranges


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of another process can be set on Linux alone")
def test_a_full_disk_is_said_and_the_download_goes_on_once_there_is_room(browser, server):
    with visitor(browser) as page:
        open_page(page, server.address, "Models", text=TEXT, get="org/full-disk")
        can_be_had(page)
        before = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (50_000, before[1]))  # a larger file finds no room
        try:
            main_button(page, "Download")
            expect_refusal(page, "The disk is full. What has arrived is kept")
        finally:
            resource.prlimit(server.pid, resource.RLIMIT_FSIZE, before)
        open_once_downloaded(page, "Go on")


def test_refusals_are_sentences(browser, server):
    with visitor(browser) as page:
        open_page(page, server.address, "Models")
        ask_for(page, "org/gated")
        expect_refusal(page, "HF_TOKEN")
        ask_for(page, "org/pickled")
        expect_refusal(page, "from transformers import GPT2LMHeadModel as M")
        ask_for(page, "no such thing!")
        expect_refusal(page, "is no id of a model")
        ask_for(page, "org/missing")
        expect_refusal(page, "The hub has no model org")


def test_uploaded_files_and_a_zip_open_and_nobody_else_sees_them(browser, server, tmp_path):
    folder = server.repositories["org/small"]
    files = [folder / name for name in ("config.json", "model.safetensors", "tokenizer.json")]
    inside = tmp_path / "inside"
    inside.mkdir()
    for one in files:
        shutil.copy(one, inside)
    zipped = Path(shutil.make_archive(str(tmp_path / "My model"), "zip", inside))
    for given, begins in ((files, "upload-"), ([zipped], "My-model-")):
        with visitor(browser) as page, visitor(browser) as other:
            open_page(page, server.address, "Models", text=TEXT)
            upload(page, *given)
            page.wait_for_url(OPENED)
            has_page(page, "Explore")
            name = page.get_by_label("Model", exact=True).input_value()
            assert name.startswith(begins)
            no_complaint(page)
            go_to(page, "Inside a head")
            has_checkpoint(page, name)
            open_page(other, server.address, "Explore")
            assert name not in other.get_by_label("Model", exact=True).inner_html()
            other.goto(f"{server.address}/?checkpoint={name}")
            has_page(other, "Explore")
            has_checkpoint(other, "sentiment")
            expect(other.get_by_text("gives no usable value for checkpoint")).to_be_visible()


def test_an_upload_that_is_no_checkpoint_is_refused_in_a_sentence(browser, server, tmp_path):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"nothing")
    (tmp_path / "mine.zip").write_bytes(b"PK no zip")
    with visitor(browser) as page:
        open_page(page, server.address, "Models")
        upload(page, tmp_path / "mine.zip")
        expect_refusal(page, "mine.zip is damaged or no plain zip")
        upload(page, tmp_path / "config.json")
        expect_refusal(page, "has no model.safetensors")
        upload(page, tmp_path / "config.json", tmp_path / "model.safetensors")
        expect_refusal(page, "model.safetensors: header")


def test_a_folder_of_this_machine_opens_for_everybody_here(browser, server, tmp_path):
    folder = tmp_path / "my-folder"
    shutil.copytree(server.repositories["org/small"], folder)
    with visitor(browser) as page:
        open_page(page, server.address, "Models")
        field = page.get_by_role("textbox", name="A folder on this machine")
        field.fill(str(tmp_path))
        field.press("Enter")
        expect_refusal(page, "holds no config.json")
        field.fill(str(folder))
        field.press("Enter")
        page.wait_for_url(OPENED)
        has_page(page, "Explore")
        has_checkpoint(page, "my-folder")
        no_complaint(page)
