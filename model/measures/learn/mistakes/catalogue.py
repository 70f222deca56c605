"""The mistakes by their names: the lines in both forms, what they change, and which models they can be tried on."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from model.config import Config
from model.measures.learn.mistakes import effects, forms
from model.measures.learn.mistakes.classifier_pass import can_read
from model.measures.learn.mistakes.effect import Effect, Subject


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """wrong, right: the lines. effect: what they change in a text. can_use: whether it shows in models of a config."""

    wrong: Callable[..., Any]
    right: Callable[..., Any]
    effect: Callable[[Subject], Effect]
    can_use: Callable[[Config], bool]


def any_model(config: Config) -> bool:
    """Every attention has heads, a mask and weights."""
    return True


def adds_sinusoids(config: Config) -> bool:
    """Whether positions are those of the paper's formula."""
    return config.positions == "sinusoidal"


def has_dropout(config: Config) -> bool:
    """Whether there is dropout that can be left on before a classifier's answer."""
    return can_read(config) and config.dropout > 0


MISTAKES = {
    "sign": Mistake(
        wrong=forms.sinusoids_without_the_minus,
        right=forms.sinusoids_as_in_the_paper,
        effect=effects.sign,
        can_use=adds_sinusoids,
    ),
    "batch": Mistake(
        wrong=forms.positions_along_the_batch,
        right=forms.positions_along_the_sentence,
        effect=effects.batch_positions,
        can_use=can_read,
    ),
    "mask": Mistake(
        wrong=forms.mask_by_head, right=forms.mask_by_sentence, effect=effects.head_mask, can_use=any_model
    ),
    "billion": Mistake(
        wrong=forms.softmax_with_a_billion,
        right=forms.softmax_with_infinity,
        effect=effects.billion,
        can_use=any_model,
    ),
    "mean": Mistake(
        wrong=forms.mean_of_everything, right=forms.mean_of_tokens, effect=effects.padded_mean, can_use=can_read
    ),
    "weights": Mistake(
        wrong=forms.weights_after_dropout,
        right=forms.weights_before_dropout,
        effect=effects.dropped_weights,
        can_use=any_model,
    ),
    "view": Mistake(
        wrong=forms.split_by_view, right=forms.split_by_transpose, effect=effects.viewed_split, can_use=any_model
    ),
    "reshape": Mistake(
        wrong=forms.join_by_reshape, right=forms.join_by_transpose, effect=effects.reshaped_join, can_use=any_model
    ),
    "norm": Mistake(wrong=forms.post_norm, right=forms.pre_norm, effect=effects.post_norm, can_use=can_read),
    "dropout": Mistake(
        wrong=forms.answer_as_in_training,
        right=forms.answer_in_use,
        effect=effects.live_dropout,
        can_use=has_dropout,
    ),
}


def usable(config: Config) -> list[str]:
    """The mistakes that show in a model of this config."""
    return [name for name, mistake in MISTAKES.items() if mistake.can_use(config)]
