"""Which boxes of the map a step of the walk through a head stands in."""

ATTENTION_STEPS = frozenset(
    {"whole", "projection", "product", "scale", "mask", "softmax", "value", "heads", "output"}  # "whole": all of it
)
STACK_PARTS = {
    "embedding": ("embedding",),
    "position": ("positions", "segments", "embedding_norm"),
    "feed-forward": ("feed_forward",),
    "layers": ("self_attention", "feed_forward"),
    "last-norm": ("norm",),
}
ANSWER_PARTS = {
    "pooling": ("pooling",),
    "logits": ("classifier", "word_head", "projection"),
    "answer": ("probabilities",),
}


def boxes_of_step(attention: str, step: str) -> frozenset[str]:
    """The names of the boxes of one step; none for a step that is not known.

    attention: by its name in a trace, "encoder", "decoder" or "cross".
    """
    stack = "decoder" if attention == "cross" else attention
    name = "cross_attention" if attention == "cross" else "self_attention"
    if step in STACK_PARTS:
        return frozenset(f"{stack}.{part}" for part in STACK_PARTS[step])
    if step in ANSWER_PARTS:
        return frozenset(ANSWER_PARTS[step])
    if step in ATTENTION_STEPS:
        return frozenset({f"{stack}.{name}"})
    own = {"norm": f"{stack}.{name}.norm_before", "residual": f"{stack}.{name}.add"}
    return frozenset({own[step]}) if step in own else frozenset()
