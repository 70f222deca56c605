"""A round of a stop as without a browser, and what stands on it."""

from streamlit.testing.v1 import AppTest

from tests.pages.test_every_page import opened

LONG = " ".join(["it is so"] * 200)  # 600 tokens, in fewer characters than a page refuses
ODD_TEXTS = ("Fine.", "A dog saw a cat.", LONG, "🎬", "שלום עולם", "<b>x</b> $y$ [a](b)")


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


def assert_bears(stop: int, number: int, text: str) -> None:
    """Before a guess and after it, a round asks about a text, or offers one that has a clear answer."""
    for guess in ("", "a"):
        app = at(stop, number, guess=guess, text=text)
        assert not app.exception
        assert not app.error
        assert options(app) or "clear_text" in [each.key for each in app.button]
