"""What .streamlit/config.toml sets and why: the file watcher, and how long a browser keeps large elements."""

import os
import re
import subprocess
import threading
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path

from playwright.sync_api import WebSocketRoute, expect
from streamlit.watcher.path_watcher import NoOpPathWatcher, get_path_watcher_class

from tests.running import comes_true, idle, running_app, visitor

ROOT = Path(__file__).parent.parent


def planned(target: str) -> str:
    """The command that starts the app for a target of the Makefile, which is not run."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    plan = subprocess.run(["make", "-n", target], cwd=ROOT, env=own, capture_output=True, text=True, check=True)
    (line,) = [line for line in plan.stdout.splitlines() if "streamlit run" in line]
    return line


def option(command: str, name: str) -> str:
    """What follows an option in a command."""
    words = command.split()
    return words[words.index(name) + 1]


def test_the_app_runs_without_the_watcher_unless_a_command_says_otherwise():
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert get_path_watcher_class(config["server"]["fileWatcherType"]) is NoOpPathWatcher
    assert "--server" not in planned("run")


def test_make_dev_runs_the_app_with_a_watcher_and_runs_it_again_on_every_save():
    command = planned("dev")
    assert get_path_watcher_class(option(command, "--server.fileWatcherType")) is not NoOpPathWatcher
    assert option(command, "--server.runOnSave") == "true"


LARGE = """import streamlit as st

@st.fragment
def part():
    if (shown := st.number_input("Picture", 0, key="shown")) == 0:
        st.code("a large element" * 1000)
    st.write(f"picture {shown}")

part()
st.button("First", on_click=lambda: st.session_state.update(shown=0))
"""


def test_an_element_that_a_browser_may_draw_again_is_kept_by_it_while_another_run_ends(browser, tmp_path):
    """The browser says what it keeps when it asks for a run; another that ends before this one begins may drop it."""
    script = tmp_path / "page.py"
    script.write_text(LARGE, encoding="utf-8")
    on_its_way: list[Callable[[], None]] = []
    slow = threading.Event()

    def take_time(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()
        send = server.send
        socket.on_message(lambda message: on_its_way.append(partial(send, message)) if slow.is_set() else send(message))

    def both_are_on_their_way() -> None:
        assert len(on_its_way) == 2

    with running_app(script) as (address, _), visitor(browser) as page:
        page.route_web_socket(re.compile("_stcore/stream"), take_time)
        page.goto(address)
        expect(page.get_by_text("picture 0")).to_be_visible()
        idle(page)
        page.get_by_label("Picture").fill("1")
        page.get_by_label("Picture").press("Enter")
        expect(page.get_by_text("picture 1")).to_be_visible()
        idle(page)
        slow.set()
        page.get_by_label("Picture").fill("2")
        page.get_by_label("Picture").press("Enter")
        page.get_by_role("button", name="First").click()
        comes_true(page, both_are_on_their_way)
        on_its_way.pop(0)()
        expect(page.get_by_text("picture 2")).to_be_visible()
        idle(page)
        on_its_way.pop(0)()
        expect(page.get_by_text("picture 0")).to_be_visible()
        idle(page)
