"""Undo and redo: the edits of one text in one session, in the order in which they were made."""

from dataclasses import dataclass, field

MOST = 200  # steps


@dataclass
class History:
    """The edits before the present one, the last of them last, and those that were undone, the next of them last.

    subject: what they are edits of; with another the history begins anew. left_behind: whether the one before had an
    edit, and this one has had none yet.
    """

    subject: object = None
    present: str = ""
    past: list[str] = field(default_factory=list)
    future: list[str] = field(default_factory=list)
    left_behind: bool = False

    def visit(self, subject: object, edits: str) -> None:
        """Note what is shown now, however it came: made, undone, or by the browser's Back and Forward."""
        left = self.left_behind if subject == self.subject else bool(self.present)
        self.left_behind = left and not edits
        if subject != self.subject:
            self.subject, self.present, self.past, self.future = subject, edits, [], []
        elif edits == self.present:
            return
        elif self.past and self.past[-1] == edits:
            self.future.append(self.present)
            self.present = self.past.pop()
        elif self.future and self.future[-1] == edits:
            self.past.append(self.present)
            self.present = self.future.pop()
        else:
            self.past = [*self.past, self.present][-MOST:]
            self.present, self.future = edits, []

    @property
    def before(self) -> str | None:
        """What undoing gives; None where nothing can be undone."""
        return self.past[-1] if self.past else None

    @property
    def after(self) -> str | None:
        """What redoing gives."""
        return self.future[-1] if self.future else None
