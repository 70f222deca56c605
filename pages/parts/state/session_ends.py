"""What is done once a visitor has left: Streamlit tells nobody, and may keep what the session held for ever."""

import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from threading import Lock, Thread

import streamlit as st
from streamlit.runtime import get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx

PATIENCE = 60  # seconds: a browser that lost its connection finds its session again for half as long
INTERVAL = 10  # seconds


class SessionEnds:
    """Calls, by the session whose end they wait for.

    is_connected: whether a browser is connected to the session of this id.
    """

    def __init__(self, is_connected: Callable[[str], bool], patience: float = PATIENCE) -> None:
        self.is_connected, self.patience = is_connected, patience
        self.lock = Lock()
        self.calls: defaultdict[str, dict[str, Callable[[], object]]] = defaultdict(dict)
        self.last_seen: dict[str, float] = {}

    def when_over(self, session: str, name: str, call: Callable[[], object]) -> None:
        """Have this called once the session is over, in the place of what was called so for it until now."""
        with self.lock:
            self.calls[session][name] = call
            self.last_seen[session] = time.monotonic()

    def look(self) -> None:
        """Make the calls of the sessions that nobody has been connected to for so long."""
        now, due = time.monotonic(), list[Callable[[], object]]()
        with self.lock:
            for session in list(self.calls):
                if self.is_connected(session):
                    self.last_seen[session] = now
                elif now - self.last_seen[session] >= self.patience:
                    due += self.calls.pop(session).values()
                    del self.last_seen[session]
        for call in due:
            with suppress(Exception):  # whatever happened to it, the others are due, and whoever leaves later
                call()


@st.cache_resource(show_spinner=False)
def session_ends() -> SessionEnds:
    """Those of this server, looked at every ten seconds."""
    ends = SessionEnds(get_instance().is_active_session)

    def follow() -> None:
        while True:
            time.sleep(INTERVAL)
            ends.look()

    Thread(target=follow, daemon=True).start()
    return ends


def session_now() -> str:
    """The id of the present visitor's session; "" outside of a server."""
    context = get_script_run_ctx()
    return context.session_id if context is not None and st.runtime.exists() else ""


def is_connected(session: str) -> bool:
    """Whether a browser is connected to the session of this id."""
    return get_instance().is_active_session(session)


def when_over(name: str, call: Callable[[], object]) -> None:
    """Have this called once the present visitor has left; outside of a server, as in a test of one page, never."""
    if session := session_now():
        session_ends().when_over(session, name, call)
