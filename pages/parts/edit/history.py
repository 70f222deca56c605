"""Undo and redo: the edits of each text in one session, in the order in which they were made."""

from dataclasses import dataclass, field

MOST, MOST_TEXTS = 200, 20  # steps of a text, and texts


@dataclass
class Steps:
    """The edits before the present one, the last of them last, and those that were undone, the next of them last."""

    present: str
    past: list[str] = field(default_factory=list)
    future: list[str] = field(default_factory=list)

    def visit(self, edits: str) -> None:
        """Note what is shown now."""
        if edits == self.present:
            return
        if self.past and self.past[-1] == edits:
            self.future.append(self.present)
            self.present = self.past.pop()
        elif self.future and self.future[-1] == edits:
            self.past.append(self.present)
            self.present = self.future.pop()
        else:
            self.past = [*self.past, self.present][-MOST:]
            self.present, self.future = edits, []


@dataclass
class History:
    """The steps of every text that was edited.

    subject: what is shown. left_behind: whether the one before had an edit, and this one has had none yet.
    """

    subject: object = None
    left_behind: bool = False
    steps: dict[object, Steps] = field(default_factory=lambda: {None: Steps("")})

    def visit(self, subject: object, edits: str) -> None:
        """Note what is shown now, however it came: made, undone, or by the browser's Back and Forward."""
        left = self.left_behind if subject == self.subject else bool(self.shown.present)
        self.left_behind = left and not edits
        self.subject = subject
        known = self.steps.pop(subject, None) or Steps(edits)
        known.visit(edits)
        self.steps = dict([*self.steps.items(), (subject, known)][-MOST_TEXTS:])

    @property
    def shown(self) -> Steps:
        """Those of what is shown."""
        return self.steps[self.subject]

    @property
    def before(self) -> str | None:
        """What undoing gives; None where nothing can be undone."""
        return self.shown.past[-1] if self.shown.past else None

    @property
    def after(self) -> str | None:
        """What redoing gives."""
        return self.shown.future[-1] if self.shown.future else None
