"""How the checkpoints are made: ``python -m model.training.<task>``.

The app imports nothing of it.
"""
