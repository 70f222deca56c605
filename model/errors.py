"""The two refusals that a caller of this package sees, each one plain sentence."""


class CheckpointError(ValueError):
    """A checkpoint that cannot be used: which file, which field, what was found and what was expected."""


class InputError(ValueError):
    """A text, a list of ids or an edit that cannot be used, and what to do about it."""
