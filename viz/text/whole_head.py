"""The words around a whole head: which one it is, and how its matrices belong together."""

from model.measures.one_weight import WeightSite
from model.measures.whole_head import WholeHead
from viz.tokens import counted

OF = {"encoder": "", "decoder": "", "cross": ", cross-attention"}
ROWS = {
    "query": "the query's row of Q",
    "key": "the key's row of K, which is its column of Kᵀ",
    "value": "the key's row of V",
    "products": "the query's row of QKᵀ",
    "bias": "the query's row of the bias",
    "mask": "the query's row of the mask: True where it may see the key",
    "scores": "the query's row of scores",
    "weights": "the query's row of weights",
    "context": "the query's row of the context",
}
SIZE = "{} · ({} numbers)"


def caption(site: WeightSite) -> str:
    """ "Layer 4, head 4"."""
    return f"Layer {counted(site.layer)}, head {counted(site.head)}{OF[site.attention]}"


def idea(head: WholeHead) -> str:
    """What to point at. Markdown."""
    queries, keys = head.weights.shape
    hidden = int((~head.mask).sum())
    masked = f"The mask hides {hidden:,} of {queries * keys:,} cells." if hidden else "The mask hides nothing here."
    return (
        "Point at a weight, or tap it: the row of Q and the column of Kᵀ that make it light up, and the row of V "
        f"that it multiplies. {masked}"
    )
