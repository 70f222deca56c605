"""Mistakes that tutorials make: the wrong lines and the right ones, run on a text, and what comes out of each.

The wrong lines live here alone: nothing of ``model`` imports them.
"""
