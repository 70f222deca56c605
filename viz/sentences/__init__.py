"""A text as a picture of its tokens: what the browser's components are given to draw.

The components themselves are in pages/parts.
"""
