"""The map of a model: its boxes, their sizes and their links."""
