"""The text written so far as a browser component: every written token is a button that goes back to its step."""

from collections.abc import Callable, Mapping
from typing import Any

from pages.parts.components.component import component

KEY = "written"
MARKUP = '<div class="text" role="group" aria-label="The text written so far"></div>'


def written_tokens(row: Mapping[str, Any], on_step: Callable[[], None]) -> None:
    """Draw it. After a click the place of the token stands in the session state under the key, as ``.step``."""
    draw = component("written", __file__, MARKUP)
    draw(key=KEY, data=dict(row), height="content", on_step_change=on_step)
