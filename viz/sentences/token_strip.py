"""The text written so far, token by token, as the browser draws it: shaded by probability, the number beneath."""

from collections.abc import Sequence
from typing import Any

from viz.theme import LIGHT, Theme, channels, colour_at, colour_scale
from viz.tokens import percent, visible

BRIGHT = 0.179  # the relative luminance from which black is read more easily than white


def written_row(
    prompt: str, tokens: Sequence[str], probabilities: Sequence[float], at: int, *, theme: Theme = LIGHT
) -> dict[str, Any]:
    """The prompt and one record for each written token; ``at``: how many of them have been read at this step.

    ValueError where tokens and probabilities are not equally many.
    """
    return {
        "prompt": prompt,
        "at": at,
        "colours": {"text": theme.text, "quiet": theme.quiet, "line": theme.grid, "accent": theme.accent},
        "tokens": [
            record(place, token, float(probability), theme)
            for place, (token, probability) in enumerate(zip(tokens, probabilities, strict=True))
        ],
    }


def record(place: int, token: str, probability: float, theme: Theme) -> dict[str, object]:
    """How one token is drawn, and what is said of it."""
    return {
        "text": printed_token(token),
        "spaced": token[:1].isspace(),
        "breaks": token.count("\n"),
        "number": percent(probability),
        "said": f"Token {place + 1}, {visible(token)}, {percent(probability, 1)}: go back to this step",
        "shade": shade(probability, theme),
        "ink": ink_on(shade(probability, theme)),
    }


def printed_token(token: str) -> str:
    """The token as it reads in a text; a blank of its own or a line's end is made visible."""
    inner = token.strip(" ")
    if set(token) == {"\n"}:
        return "↵" * len(token)
    return visible(inner) if inner else visible(token)


def shade(probability: float, theme: Theme) -> str:
    """The colour of a probability on the scale of weights."""
    return colour_at(colour_scale(theme.weights), probability)


def ink_on(colour: str) -> str:
    """Black or white: whichever is read more easily on a colour, at 4.5 : 1 or more (WCAG 2.2, relative luminance)."""
    shares = [value / 255 for value in channels(colour)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    luminance = sum(part * share for part, share in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return "#000000" if luminance > BRIGHT else "#ffffff"
