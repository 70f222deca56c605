"""Eight small models of the Hugging Face hub that are worth a look, and why."""

from dataclasses import dataclass
from difflib import get_close_matches

from model.loading.hub import HubName, parse_hub_name


@dataclass(frozen=True)
class SmallModel:
    """A model by what it is interesting for.

    shows: its stacks and what is drawn of them. megabytes: about, of its weights as the hub has them.
    """

    id: str
    for_what: str
    why: str
    shows: str
    megabytes: int

    @property
    def name(self) -> HubName:
        """Its id, of the main branch."""
        return parse_hub_name(self.id)

    @property
    def title(self) -> str:
        """Its id without the owner."""
        return self.id.rpartition("/")[2]


# Sizes: parameters times the bytes of the precision in which the hub has them; the hub is asked before a download.
SMALL_MODELS = (
    SmallModel(
        "gpt2",
        "induction heads",
        "Some of its heads look for what followed the same word before, which is how it goes on with a pattern.",
        "decoder, 12 × 12 heads",
        498,
    ),
    SmallModel(
        "distilgpt2",
        "GPT-2 at half the depth",
        "A student of GPT-2 with six of its layers: compare which kinds of head it has kept.",
        "decoder, 6 × 12 heads",
        328,
    ),
    SmallModel(
        "google-bert/bert-base-uncased",
        "syntax heads",
        "Some of its heads follow grammar, from a verb to its object or from a noun to its article.",
        "encoder, 12 × 12 heads",
        438,
    ),
    SmallModel(
        "sentence-transformers/all-MiniLM-L6-v2",
        "sentence vectors",
        "Made for comparing sentences. It is the smallest of these, and a good first one.",
        "encoder, 6 × 12 heads",
        91,
    ),
    SmallModel(
        "Helsinki-NLP/opus-mt-en-de",
        "alignments",
        "Translates English to German: its decoder's heads look at the word that they translate.",
        "encoder and decoder, 6 × 8 heads each",
        301,
    ),
    SmallModel(
        "HuggingFaceTB/SmolLM-135M",
        "grouped queries, rotary positions",
        "Built as the large models of today: three query heads share one key head, and positions rotate the vectors.",
        "decoder, 30 × 9 heads",
        269,
    ),
    SmallModel(
        "EleutherAI/pythia-70m",
        "parallel layers, partly rotary positions",
        "One of a family that was trained for research: attention and feed-forward read the same input.",
        "decoder, 6 × 8 heads",
        141,
    ),
    SmallModel(
        "google-t5/t5-small",
        "relative positions",
        "Knows positions only by a learned bias for each distance, which the page Positions draws.",
        "encoder and decoder, 6 × 8 heads each",
        242,
    ),
)


def nearest_to(name: str) -> SmallModel | None:
    """The one whose id, with its owner or without, is nearly this; None where there is none, or it has this very id."""
    spelt = {spelling.lower(): model for model in SMALL_MODELS for spelling in (model.id, model.title)}
    close = get_close_matches(name.lower(), spelt, n=1, cutoff=0.75)  # "gpt-2" and "pythia" are near enough
    return next((spelt[spelling] for spelling in close if spelt[spelling].id != name), None)
