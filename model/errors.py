"""The two refusals that a caller of this package sees, each one plain sentence."""


class CheckpointError(ValueError):
    """A checkpoint that cannot be used: which file, which field, what was found and what was expected."""


class UnsupportedTypeError(CheckpointError):
    """A checkpoint of a kind that this code does not compute."""


class InputError(ValueError):
    """A text, a list of ids or an edit that cannot be used, and what to do about it."""


def printable(value: object, longest: int = 60) -> str:
    """A value as it may stand in a message: cut, and with a ? for every character that does not print."""
    return "".join(character if character.isprintable() else "?" for character in str(value)[:longest])
