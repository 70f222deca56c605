"""Which model the page What it costs counts: one that papers speak of or a checkpoint, with some sizes typed."""

from dataclasses import dataclass, replace

from model import Config, InputError
from model.config import LARGEST_LAYERS
from model.measures.learn.sizes.model_sizes import MODEL_SIZES, MOST_HEADS, WIDEST, resized
from pages.parts.state.codec import PageState
from pages.parts.state.fields import address_field, one_of, whole

OWN = "checkpoint"  # the preset that is the checkpoint on the screen
PRESETS = (*MODEL_SIZES, OWN)
MOST_HIDDEN, MOST_WORDS, MOST_TOKENS = 65_536, 500_000, 100_000
MODEL = frozenset({"costs.preset", "checkpoint"})
SIZES = {
    "width": WIDEST,
    "heads": MOST_HEADS,
    "layers": LARGEST_LAYERS,
    "hidden": MOST_HIDDEN,
    "vocabulary": MOST_WORDS,
}


@dataclass(frozen=True, kw_only=True)
class Costs:
    """A model and the sizes that were typed in place of its own; 0: its own.

    tokens: the length of the text whose attention is counted.
    """

    preset: str = address_field(PRESETS[0], one_of(PRESETS))
    width: int = address_field(0, whole(0, WIDEST), reset_by=MODEL)
    heads: int = address_field(0, whole(0, MOST_HEADS), reset_by=MODEL)
    layers: int = address_field(0, whole(0, LARGEST_LAYERS), reset_by=MODEL)
    hidden: int = address_field(0, whole(0, MOST_HIDDEN), reset_by=MODEL)
    vocabulary: int = address_field(0, whole(0, MOST_WORDS), reset_by=MODEL)
    tokens: int = address_field(512, whole(1, MOST_TOKENS))

    @property
    def typed(self) -> dict[str, int]:
        """The sizes that were typed."""
        return {name: getattr(self, name) for name in SIZES if getattr(self, name)}

    def config(self, own: Config | None) -> Config:
        """The model's config. own: that of the checkpoint on the screen. InputError for sizes that cannot be."""
        return resized(self.base(own), **self.typed)

    def countable(self, own: Config | None) -> tuple["Costs", str]:
        """The settings whose model there can be, and why these are others; "" where they are not.

        A width that the heads cannot share, and the heads, give way to the model's own.
        """
        try:
            self.config(own)
        except InputError as refusal:
            base = self.base(own)
            instead = f"Shown is the model with its own width of {base.width:,} and {base.heads:,} heads."
            return replace(self, width=0, heads=0), f"{refusal} {instead}"
        return self, ""

    def base(self, own: Config | None) -> Config:
        """The same before anything was typed; the first preset where the checkpoint cannot be read."""
        return own if self.preset == OWN and own is not None else MODEL_SIZES.get(self.preset, Config.paper_base)()


STATE = PageState(settings=Costs, packed="costs", follows=True)
