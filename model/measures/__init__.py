"""What is measured on a finished trace: weights in, matrices out. No figure and no sentence lives here.

``from model.measures import attention_rollout, head_ablation, …`` gives one function for each measure; docs/measures.md
lists them with their arrays and their papers. A module is imported when one of its names is first asked for.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "head_kinds": ("kinds_in_text",),
    "head_scores.score_file": ("read_head_scores",),
    "logit_lens": ("lens_logits",),
    "causes.flow": ("attention_rollout", "value_weighted_attention"),
    "causes.token_shares": ("attention_shares", "moved_shares", "gradient_shares"),
    "causes.gradients": ("weight_gradients", "integrated_gradients"),
    "causes.omission": ("leave_one_out",),
    "causes.rank_agreement": ("rank_agreement",),
    "causes.ablation": (
        "head_ablation",
        "attention_ablation",
        "weight_ablation",
        "cumulative_ablation",
        "mean_contexts",
    ),
    "causes.patching": ("head_patching", "weight_patching", "stream_patching"),
    "causes.contributions": ("logit_parts",),
    "causes.score_sources": ("score_sources",),
    "causes.source_chain": ("followed_back",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
MEASURES = tuple(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *MEASURES})
