"""The map of a model: figure 1 of the paper as this checkpoint has it, with its sizes and parameters.

Nothing is measured here.
"""
