"""Texts that no address has room for: an address has their digest, and the server holds them for whoever has that."""

import hashlib

import streamlit as st

from pages.parts.lru_cache import LRUCache

HELD_BYTES = 12_000_000
DIGITS = 16  # of a digest: 64 bits, which nobody guesses


@st.cache_resource(show_spinner=False)
def held_texts() -> LRUCache:
    """Those of all visitors, by their digests."""
    return LRUCache(HELD_BYTES)


def digest_of(text: str) -> str:
    """Sixteen hexadecimal digits of what a text says."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]


def hold(text: str) -> str:
    """Keep a text; its digest."""
    digest = digest_of(text)
    held_texts().get(digest, lambda: text, lambda kept: len(kept.encode("utf-8", "surrogatepass")))
    return digest


def held_text(digest: str) -> str | None:
    """The text; None where the server does not hold it, or not any longer."""
    text: str | None = held_texts().find(digest)
    return text
