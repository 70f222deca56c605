"""Who trains and who waits: one training a visitor, and few at once, for each takes a core and some memory."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from threading import RLock

from model.loading.memory import all_memory
from model.training.watched.run_settings import RunSettings
from model.training.watched.trainer_process import Trainer

LITTLE_MEMORY = 2_000_000_000  # bytes of a server on which one trains at a time; on others two do


@dataclass(eq=False)
class Turn:
    """A visitor's training, from the line to its end. session: in which it was asked for. trainer: None: it waits."""

    visitor: str
    settings: RunSettings
    session: str = ""
    trainer: Trainer | None = None
    is_left: bool = False

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes of it: it has ended, or its visitor left the line."""
        return self.is_left if self.trainer is None else self.trainer.is_over


class WaitingLine:
    """The trainings of a server, ``at_once`` of which run at a time; others wait in the order in which they came."""

    def __init__(self, at_once: int) -> None:
        self.at_once = at_once
        self.lock = RLock()
        self.running: list[Turn] = []
        self.waiting: list[Turn] = []

    def enter(self, visitor: str, settings: RunSettings, session: str = "") -> Turn:
        """A training of this visitor's, at the end of the line; the one before is stopped."""
        with self.lock:
            self.stop(visitor)
            turn = Turn(visitor, settings, session)
            self.waiting.append(turn)
            self.advance()
            return turn

    def stop(self, visitor: str) -> None:
        """End this visitor's training soon, with what it has come to; or leave the line."""
        for turn in self.leave_line(visitor):
            if turn.trainer is not None:
                turn.trainer.stop()

    def kill(self, visitor: str) -> None:
        """End this visitor's training at once: the visitor is gone."""
        for turn in self.leave_line(visitor):
            if turn.trainer is not None:
                turn.trainer.kill()

    def hand_over(
        self, settings: RunSettings, visitor: str, session: str, is_here: Callable[[str], bool]
    ) -> Turn | None:
        """Have a training whose session is gone, as after a reload, be this visitor's from now on; None: there is none.

        is_here: whether anybody is connected to a session.
        """
        with self.lock:
            for turn in (*self.running, *self.waiting):
                if turn.settings == settings and turn.session and not is_here(turn.session):
                    turn.visitor, turn.session = visitor, session
                    return turn
        return None

    def place(self, turn: Turn) -> int:
        """How many trainings must begin before this one, itself included; 0: it does not wait."""
        with self.lock:
            return self.waiting.index(turn) + 1 if turn in self.waiting else 0

    def leave_line(self, visitor: str) -> list[Turn]:
        """Take a visitor out of the line; the visitor's trainings that run."""
        with self.lock:
            for turn in self.waiting:
                turn.is_left = turn.is_left or turn.visitor == visitor
            self.waiting = [turn for turn in self.waiting if not turn.is_left]
            return [turn for turn in self.running if turn.visitor == visitor]

    def advance(self) -> None:
        """Let those at the head of the line begin, as many as there is room for."""
        with self.lock:
            while self.waiting and len(self.running) < self.at_once:
                turn = self.waiting.pop(0)
                self.running.append(turn)
                turn.trainer = Trainer(turn.settings, partial(self.leave, turn))

    def leave(self, turn: Turn) -> None:
        """A training has ended."""
        with self.lock:
            self.running = [other for other in self.running if other is not turn]
            self.advance()


def trainings_at_once() -> int:
    """How many this server trains at a time."""
    return 1 if all_memory() < LITTLE_MEMORY else 2
