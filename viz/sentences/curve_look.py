"""The look of a head's weights as curves from query to key: one set of numbers, for the browser and for files."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class CurveLook:
    """How wide and how dark a curve is; ``share`` is its weight as a share of the largest.

    faintest: the smallest share that is drawn. most: how many curves are. crowded: of more words, curves are thinner.
    """

    faintest: float = 0.01
    most: int = 600
    thinnest: float = 0.75  # pixels
    thicker: float = 5.5
    crowded: int = 14
    lightest: float = 0.14  # opacity
    darker: float = 0.76
    faded: float = 0.03  # of a curve that is not looked at

    def width(self, share: float, words: int) -> float:
        """In pixels, among so many words."""
        return self.thinnest + self.thicker * min(1, self.crowded / max(words, 1)) * share

    def opacity(self, share: float) -> float:
        """Of a curve that is looked at."""
        return self.lightest + self.darker * share

    def to_message(self) -> dict[str, float]:
        """For a script in the browser."""
        return asdict(self)


LOOK = CurveLook()
