"""Tokenizers that are not bundled: read and used in a process of their own, whose answers are checked.

A small file can end the process, exhaust the memory or take hours inside the tokenizers library, and while it works it
holds the interpreter's lock; in another process, with limits, that costs one sentence.
"""

from model.loading.foreign_tokenizers.library import LIBRARY_FILE, read_library_tokenizer
from model.loading.foreign_tokenizers.marian import MARIAN_FILES, TARGET_VOCABULARY, read_marian_tokenizer

__all__ = ["LIBRARY_FILE", "MARIAN_FILES", "TARGET_VOCABULARY", "read_library_tokenizer", "read_marian_tokenizer"]
