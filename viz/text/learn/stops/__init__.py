"""The words of the twelve questions, a module each. No arithmetic, no drawing."""
