"""The figures and sentences of the page Learn."""
