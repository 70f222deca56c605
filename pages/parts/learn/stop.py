"""What a stop of the path is: a question, what can be guessed, and the answer that the model gives on a text."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from model import Config
from pages.parts.learn.settings import Opening
from pages.parts.state.selection import Selection


@dataclass(frozen=True, kw_only=True)
class Door:
    """The page that shows all of what a stop shows a part of. changes: of the selection, by the names of the codec."""

    page: str
    label: str
    explained: str
    changes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class StopQuestion:
    """One question about one text, with its answer, all measured. Texts are Markdown, what a visitor typed escaped.

    question: one line. setting: one sentence before the guess, which must not give the answer away.
    options: what can be guessed, at most six, in a fixed order that does not tell the right one.
    right: the places in ``options`` of what the measurement says. Empty where this text gives no clear answer.
    answer: a title of one line, with a number of this text. sentence: one, with the numbers behind it.
    picture: draws the picture; called with whether the answer may be seen. It uses the width.
    act: draws the one thing to do, once the answer is seen; None where there is none.
    bars: the numbers of the answer for the picture to share, by their names, from 0 to 1; None is not told yet.
    unclear: why this text gives no clear answer; "" where it does. The page then offers the stop's own text.
    door: the page that shows more of it.
    """

    question: str
    setting: str
    options: Sequence[str]
    right: frozenset[int]
    answer: str
    sentence: str
    picture: Callable[[bool], None]
    door: Door
    act: Callable[[], None] | None = None
    bars: Mapping[str, float | None] = field(default_factory=dict)
    unclear: str = ""


@dataclass(frozen=True, kw_only=True)
class Stop:
    """One stop. rounds: of its questions; the second is asked once the first is answered.

    name: a few words, for lists.
    opening: the model and the text that it opens with, on which every round has a clear answer.
    can_use: whether it can ask a model of this config. needs: what model that is; "": any.
    code: functions that computed the answer, whose lines are shown. paper: where the paper says so, Markdown.
    leans_on_verdict: whether it speaks of what a model that judges texts says of the text, which may be wrong.
    kept_knob: what of its knob holds for its other rounds as well.
    """

    name: str
    opening: Opening
    can_use: Callable[[Config], bool]
    rounds: Sequence[Callable[[Selection], StopQuestion]]
    code: Sequence[Callable[..., Any]]
    paper: str
    needs: str = ""
    leans_on_verdict: bool = False
    kept_knob: Callable[[str], str] = field(default=lambda knob: "")
