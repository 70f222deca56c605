"""The pictures of the page Learn, one function each: arrays and tokens in, a chart out.

Sentences are in viz/text/learn.
"""
