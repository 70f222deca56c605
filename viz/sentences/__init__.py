"""A text as a picture of its tokens: what the browser's components are given to draw."""
