"""The visitor's own text that a model learns: in the address as far as there is room, else held by the server.

In the address it is compressed, so that a text of some 2,000 characters fits, or it is the word ``EXAMPLE``, or the
digest of a text that the server holds for whoever has the link.
"""

import base64
import binascii
import zlib

import streamlit as st

from model.training.watched.run_settings import LONGEST_TEXT
from pages.parts.state.held_texts import digest_of, held_text, hold
from pages.parts.state.session import choose, current
from pages.parts.watch.settings import LONGEST_PACKED, Watch
from viz.text.glossary import TERMS, explanation

KEPT = "_watch_text"  # in the session: a text that no address has room for
EXAMPLE = "example"
HELD = "held-"  # before a digest
MOST_BYTES = 4 * LONGEST_TEXT


def learned_text() -> str:
    """That of the address, or of the session where the address has none; "" where the server no longer holds it."""
    kept: str = st.session_state.get(KEPT, "")
    letters = current().of(Watch).learned
    if letters.startswith(HELD):
        digest = letters.removeprefix(HELD)
        return held_text(digest) or (kept if digest_of(kept) == digest else "")
    return unpacked(letters) or kept


def learn_from(text: str) -> None:
    """Take another text."""
    st.session_state[KEPT] = text
    letters = packed(text)
    if text and not letters:
        letters = HELD + hold(text)
    choose({"watch.learned": letters})


def example_text() -> str:
    """The words of the field, explained."""
    return " ".join(explanation(term) for term in TERMS.values()).replace("\\", "")


def packed(text: str) -> str:
    """What an address holds of a text: letters, digits, - and _; "" where it has no room for all of it."""
    if text == example_text():
        return EXAMPLE
    compressed = zlib.compress(text.encode("utf-8", "replace"), 9, wbits=-zlib.MAX_WBITS)
    letters = base64.urlsafe_b64encode(compressed).decode("ascii").rstrip("=")
    return letters if text and len(letters) <= LONGEST_PACKED else ""


def unpacked(letters: str) -> str:
    """The text; "" for what ``packed`` does not give, and for what would be longer than a training may be told."""
    if letters == EXAMPLE:
        return example_text()
    try:
        compressed = base64.b64decode(letters + "=" * (-len(letters) % 4), altchars=b"-_", validate=True)
        content = zlib.decompressobj(-zlib.MAX_WBITS)
        text = content.decompress(compressed, MOST_BYTES).decode("utf-8")
    except (binascii.Error, ValueError, zlib.error):
        return ""
    return text if content.eof and len(text) <= LONGEST_TEXT else ""
