"""Which training the page Watch it learn shows, at which step, and what the next one is to learn."""

from dataclasses import dataclass

from model.training.watched import tasks
from model.training.watched.run_settings import BOUNDS, CHOICES, RunSettings
from pages.parts.state.codec import PageState
from pages.parts.state.fields import address_field, one_of, whole, word_like

# What can be watched without training: a film by its name, and the recorded trainings that it shows side by side.
FILMS = {
    "induction": ("induction-two-layers", "induction-one-layer"),
    "reverse": ("reverse-with-positions", "reverse-without-positions"),
}
LANGUAGE, OWN = "language", "own"
DEFAULT = RunSettings()
SHOWN = frozenset({"watch.film"})
LONGEST_LINE = tasks.TEXT_LENGTH
LONGEST_PACKED = 1500  # of an address, which has room for 1,900 characters
LINE = rf"[^~]{{0,{LONGEST_LINE}}}"  # what lies between two of an address's values stands in none


@dataclass(frozen=True, kw_only=True)
class Watch:
    """film: of ``FILMS``, the language model's, or the visitor's own training.

    step: the moment that is looked at; None: the film plays as it opens. line: what the heads' pictures are of; "": as
    the task has it. learned: the visitor's own text, as ``learned_text.packed`` writes it. The others are those of
    ``RunSettings``, of the training that is asked for.
    """

    film: str = address_field("induction", one_of((*FILMS, LANGUAGE, OWN)))
    step: int | None = address_field(None, whole(0, BOUNDS["steps"][1]), reset_by=SHOWN)
    line: str = address_field("", word_like(LINE), reset_by=SHOWN)
    task: str = address_field(DEFAULT.task, one_of(CHOICES["task"]))
    layers: int = address_field(DEFAULT.layers, whole(*BOUNDS["layers"]))
    heads: int = address_field(DEFAULT.heads, whole(*BOUNDS["heads"]))
    width: int = address_field(DEFAULT.width, whole(*BOUNDS["width"]))
    positions: str = address_field(DEFAULT.positions, one_of(CHOICES["positions"]))
    norm_order: str = address_field(DEFAULT.norm_order, one_of(CHOICES["norm_order"]))
    mask: str = address_field(DEFAULT.mask, one_of(CHOICES["mask"]))
    steps: int = address_field(DEFAULT.steps, whole(*BOUNDS["steps"]))
    seed: int = address_field(DEFAULT.seed, whole(0, 999_999))
    learned: str = address_field("", word_like(rf"[A-Za-z0-9_-]{{0,{LONGEST_PACKED}}}"))

    def asked(self, text: str) -> RunSettings:
        """The training that is asked for; ``text`` is what it learns from where its task is a text's.

        Raises InputError where there can be none.
        """
        return RunSettings(
            task=self.task,
            layers=self.layers,
            heads=self.heads,
            width=self.width,
            positions=self.positions,
            norm_order=self.norm_order,
            mask=self.mask,
            steps=self.steps,
            seed=self.seed,
            text=text if self.task == tasks.TEXT else "",
        )


STATE = PageState(settings=Watch, packed="watch", follows=True)
