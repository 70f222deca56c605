"""How the checkpoints are made: ``python -m model.training.<task>``."""
