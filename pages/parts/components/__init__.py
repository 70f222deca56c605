"""Browser components: each a Python file beside its script and style sheet. No state of a page lives here."""
