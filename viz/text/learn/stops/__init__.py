"""The words of the twelve questions, a module each."""
