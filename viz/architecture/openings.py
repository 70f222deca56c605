"""Which page shows what a box of the map stands for, and how a link to it is called."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from model import Config
from viz.architecture.boxes import Box, ModelMap


@dataclass(frozen=True, kw_only=True)
class BoxLink:
    """A page, what is changed in the address on the way there, and what the link says."""

    page: str
    label: str
    changes: Mapping[str, str] = field(default_factory=dict)


def box_links(model_map: ModelMap, config: Config) -> dict[str, BoxLink]:
    """What each box opens, by its name."""
    return {box.name: box_link(box, config) for box in model_map.boxes}


def box_link(box: Box, config: Config) -> BoxLink:
    """What one box opens."""
    stack, _, part = box.name.partition(".")
    if box.kind in ("output", "softmax"):
        return answer(config)
    attention = "cross" if part.startswith("cross_attention") else stack
    if box.kind == "attention":
        label = "Opens Explore: which words each head looks at"
        return BoxLink(page="explore", label=label, changes={"attention": attention})
    if part == "positions":
        return BoxLink(page="positions", label="Opens Positions: how the model knows the order of words")
    if part == "norm":
        return BoxLink(page="break", label="Opens Break the formula: what each part is for")
    step, name = step_of(part)
    label = f"Opens Inside a head at the step {name}"
    return BoxLink(page="inside", label=label, changes={"attention": attention, "step": step})


def step_of(part: str) -> tuple[str, str]:
    """The step of the walk that shows a box, and its name."""
    if part == "embedding":
        return "embedding", "embedding"
    if part in ("segments", "embedding_norm"):
        return "position", "position"
    if part.startswith("feed_forward"):
        return "feed-forward", "feed-forward"
    return ("norm", "norm") if part.endswith("norm_before") else ("residual", "residual")


def answer(config: Config) -> BoxLink:
    """The page on which the model's answer is seen to come about."""
    if config.is_encoder_decoder:
        return BoxLink(page="translate", label="Opens Translate: how the answer is produced, token by token")
    if config.has_decoder:
        return BoxLink(page="write", label="Opens Write: how the next token is chosen")
    return BoxLink(page="explore", label="Opens Explore: what the model says of this text")
