"""Tokenizers in processes of their own: ids as the libraries give them, and refusals within the limits."""
