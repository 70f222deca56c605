"""A round of a stop as without a browser, and what stands on it."""

from streamlit.testing.v1 import AppTest

from tests.pages.test_every_page import opened


def at(stop: int, number: int, *, guess: str = "", **address: str) -> AppTest:
    """A round of a stop, both counted from 1. guess: the letter of an option, "" before the guess."""
    question = f"{stop}" if number == 1 else f"{stop}.{number}"
    guesses = {"guesses": question + guess} if guess else {}
    return opened("learn.py", stop=str(stop), round=str(number), **guesses, **address)


def options(app: AppTest) -> list[str]:
    """What can be guessed."""
    return [each.label for each in app.button if each.key and each.key.startswith("guess_")]


def title(stop: int, number: int, **address: str) -> str:
    """The answer, as it is read."""
    return at(stop, number, guess="a", **address).title[0].value.replace("\\", "")
