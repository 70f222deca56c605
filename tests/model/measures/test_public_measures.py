"""``from model.measures import …``: as docs/measures.md lists it, and every function runs on a small model."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import model.measures
from model import Checkpoint, HeadSite, load_checkpoint
from model.checkpoint import CHECKPOINTS
from model.measures import MEASURES
from model.trace import Trace

LISTED = Path(__file__).parents[3] / "docs/measures.md"
SITE = HeadSite("encoder", 1, 2)
TEXT, OTHER = "The film was slow, but I loved it.", "The book was slow, but I hated it."


@pytest.fixture(scope="module")
def checkpoint() -> Checkpoint:
    return load_checkpoint("sentiment")


def shapes(found: Any) -> tuple[int, ...]:
    """The shape of an array, or of the first of several."""
    return tuple(next(iter(found.values())).shape) if isinstance(found, dict) else tuple(found.shape)


# Of each function: how it is called, and the shape that its axes have for ten tokens, four layers of eight heads.
CALLS: dict[str, tuple[Callable[[Any, Checkpoint, Trace, Trace], Any], tuple[int, ...]]] = {
    "kinds_in_text": (lambda f, c, a, b: f(c, a, "encoder").scores["points_at"], (4, 8)),
    "read_head_scores": (lambda f, c, a, b: f(CHECKPOINTS / "sentiment").kinds["encoder"]["broad"].scores, (4, 8)),
    "attention_rollout": (lambda f, c, a, b: f(a.encoder), (4, 10, 10)),
    "value_weighted_attention": (lambda f, c, a, b: f(c, a), (8, 10, 10)),
    "attention_shares": (lambda f, c, a, b: f(c, a), (4, 10)),
    "moved_shares": (lambda f, c, a, b: f(c, a), (4, 10)),
    "gradient_shares": (lambda f, c, a, b: f(c, a), (4, 10)),
    "weight_gradients": (lambda f, c, a, b: f(c, a), (8, 10, 10)),
    "integrated_gradients": (lambda f, c, a, b: f(c, a).tokens, (10,)),
    "leave_one_out": (lambda f, c, a, b: np.array([place for places, _ in f(c, a) for place in places]), (10,)),
    "rank_agreement": (lambda f, c, a, b: np.array(f(np.arange(5.0), np.arange(5.0)).tau), ()),
    "head_ablation": (lambda f, c, a, b: next(iter(f(c, a).after.values())).probability, (8,)),
    "attention_ablation": (lambda f, c, a, b: next(iter(f(c, a).after.values())).probability, ()),
    "weight_ablation": (lambda f, c, a, b: f(c, a, SITE, torch.tensor([[0, 1], [2, 3]])).probability, (2,)),
    "cumulative_ablation": (lambda f, c, a, b: f(c, a, [SITE]).probability, (2,)),
    "mean_contexts": (lambda f, c, a, b: f(c, [a, b]), (8, 16)),
    "head_patching": (lambda f, c, a, b: next(iter(f(c, a, b).after.values())).probability, (8,)),
    "weight_patching": (lambda f, c, a, b: next(iter(f(c, a, b).after.values())).probability, (8,)),
    "stream_patching": (lambda f, c, a, b: f(c, a, b)["encoder"].probability, (4, 10)),
    "logit_parts": (lambda f, c, a, b: np.array(sum(f(c, a).values())), ()),
    "score_sources": (lambda f, c, a, b: np.array(f(c, a, SITE, 3, 7).score), ()),
    "followed_back": (lambda f, c, a, b: np.array(f(c, a, SITE, 3, 7)[0].position), ()),
}


def test_the_page_of_the_documentation_lists_every_measure_and_no_other():
    listed = re.findall(r"^\| `(\w+)` \|", LISTED.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert sorted(listed) == sorted(MEASURES) == sorted([*CALLS, "lens_logits"])
    assert set(MEASURES) <= set(dir(model.measures))


@pytest.mark.parametrize("name", CALLS)
def test_every_measure_gives_arrays_with_the_axes_that_are_listed(name, checkpoint):
    call, expected = CALLS[name]
    measure = getattr(model.measures, name)
    assert measure.__doc__
    assert shapes(call(measure, checkpoint, checkpoint.trace(TEXT), checkpoint.trace(OTHER))) == expected


def test_the_lens_of_a_decoder_has_a_row_for_every_layer():
    writer = load_checkpoint("stories")
    logits = model.measures.lens_logits(writer.model, writer.trace("Once upon a time").decoder)
    assert logits.shape[-1] == writer.config.vocabulary


def test_what_is_no_measure_is_refused_as_any_missing_name():
    with pytest.raises(AttributeError, match="importance"):
        _ = model.measures.importance
