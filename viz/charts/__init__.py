"""Charts: one figure, one function, from arrays and tokens. Sentences about them live in viz/text."""
