"""The kinds of checkpoints that can be read: our own, and one file each for the families from elsewhere.

A family is a table of names and config fields: no forward pass and no reading of files lives here.
"""

from typing import Any

from model.config import Config
from model.errors import UnsupportedTypeError, printable
from model.families import bart, bert, distilbert, gemma, gpt2, gpt_neo, gpt_neox, llama, roberta, t5
from model.families.family import Family, Fields, Source

__all__ = ["OWN", "Family", "Fields", "Source", "family_of", "is_foreign", "supported_types"]

OWN = Family(name="", model_types=(), config=lambda fields, stored: Config.from_json(dict(fields.values)), table=None)
FOREIGN = (
    gpt2.FAMILY, bert.FAMILY, roberta.FAMILY, distilbert.FAMILY, *llama.FAMILIES, *bart.FAMILIES, t5.FAMILY,
    gpt_neox.FAMILY, gpt_neo.FAMILY, *gemma.FAMILIES,
)  # fmt: skip


def supported_types() -> list[str]:
    """Every ``model_type`` that can be read."""
    return sorted(name for family in FOREIGN for name in family.model_types)


def is_foreign(values: dict[str, Any]) -> bool:
    """Whether a config.json is not of our own kind."""
    return "model_type" in values


def family_of(values: dict[str, Any]) -> Family:
    """The family that a config.json belongs to; UnsupportedTypeError where it names one that is not supported."""
    if not is_foreign(values):
        return OWN
    for family in FOREIGN:
        if values["model_type"] in family.model_types:
            return family
    kind = printable(values["model_type"])
    raise UnsupportedTypeError(
        f"config.json: model_type: models of type {kind} cannot be opened; these can: {', '.join(supported_types())}."
    )
