"""What the steps to one weight are called, what they do in a sentence, and their formulas: words of ours alone."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from model.edits import NO_EDITS, Edits, HeadSite, HiddenKey
from model.measures.one_weight import Quantities, Quantity, WeightPath
from model.measures.score_parts import ScoreParts
from viz.export.loading_code import loading_code, loading_import
from viz.export.package_check import package_check
from viz.export.provenance import Provenance, comment
from viz.export.trace_code import Target, trace_code
from viz.text.head_findings import token_name
from viz.tokens import counted, decimal, list_of_names, markdown_text, token_named
from viz.walkthrough import answer_sentences
from viz.walkthrough.step_numbers import names_of, share, short, weight_text

MOST_MUTED = 3  # heads that are named
TITLES = {
    "embedding": "embedding",
    "position": "position",
    "norm": "norm",
    "projection": "query and key",
    "product": "product",
    "scale": "scale",
    "mask": "bias and mask",
    "softmax": "softmax",
    "value": "value",
    "heads": "heads joined",
    "output": "output projection",
    "residual": "residual",
    "feed-forward": "feed-forward",
    "layers": "later layers",
    "last-norm": "last norm",
    "pooling": "pooling",
    "logits": "logits",
    "answer": "answer",
}
LABELS = {
    "query_token": "token vector of the query",
    "key_token": "token vector of the key",
    "query_position": "position vector of the query",
    "key_position": "position vector of the key",
    "query_segment": "segment vector of the query",
    "key_segment": "segment vector of the key",
    "query_total": "what enters layer 1 at the query",
    "key_total": "what enters layer 1 at the key",
    "query_stream": "stream at the query",
    "key_stream": "stream at the key",
    "query_input": "input of the query projection",
    "key_input": "input of the key projection",
    "query_matrix": "this head's rows of the query matrix",
    "query_bias": "this head's query bias",
    "query_projected": "projected query, before norm and rotation",
    "key_matrix": "this head's rows of the key matrix",
    "key_bias": "this head's key bias",
    "key_projected": "projected key, before norm and rotation",
    "query": "query q",
    "key": "key k",
    "terms": "q · k, coordinate by coordinate",
    "product": "q · k",
    "all_keys": "every key",
    "all_terms": "q · k of every key, coordinate by coordinate",
    "all_products": "q · k of every key",
    "scale": "scale",
    "all_scaled": "scaled product of every key",
    "scaled": "scaled product",
    "all_biases": "bias of every key",
    "cap": "cap",
    "allowed": "may the query see the key?",
    "all_scores": "score of every key",
    "score": "score",
    "all_exponentials": "exponential of every key",
    "sum_of_exponentials": "sum of the exponentials",
    "all_weights": "weight of every key",
    "weight": "weight",
    "value": "value v of the key",
    "weighted_value": "weight × v of the key",
    "all_values": "value of every key",
    "all_weighted_values": "weight × value of every key",
    "context": "context: the sum over all keys",
    "joined": "the contexts of all heads, joined",
    "output_matrix": "output matrix",
    "output_bias": "output bias",
    "output_of_head": "this head's part of the output",
    "output": "output of the attention",
    "stream_before": "stream before the attention",
    "stream_after": "stream after the attention",
    "feed_forward_input": "input of the feed-forward layer",
    "hidden": "hidden values, after the activation",
    "feed_forward_output": "what the feed-forward layer adds",
    "stream_out": "stream that leaves the layer",
    "streams": "stream at the query after this layer and each later one",
    "last_stream": "stream that leaves the last layer at the query",
    "moved": "length of the difference between first and last, as a share of the first",
    "final": "final vector of the query",
    "finals": "final vectors of all tokens",
    "first_final": "final vector of the first token",
    "pooled": "pooled vector",
    "reading": "what each query of the decoder gives this token, on average",
    "answering": "final vector of the token that is answered",
    "read": "what the logits are computed from",
    "ids": "number of each label, or id of each token",
    "logits": "logit of each",
    "all_logits": "every logit",
    "probabilities": "probability of each",
    "all_probabilities": "every probability",
    "probability": "largest probability",
}
PARTS = {"content": "word", "position": "position", "segment": "segment", "bias": "bias"}
NOTHING_ADDED = {
    "rotary": (
        "This model adds no position vector. It rotates query and key by angles that depend on their positions, two "
        "steps further on."
    ),
    "relative": "This model adds no position vector: it adds a bias to the scores, in the step “bias and mask”.",
    "alibi": "This model adds no position vector: it lowers the scores by distance, in the step “bias and mask”.",
    "none": "This model adds no position vector, and has no other way to know the order of the words.",
}


def shape(quantity: Quantity) -> str:
    """ "(key 19, head width 16)"; a single number is "one number"."""
    if not quantity.axes:
        return "one number"
    sizes = zip(quantity.axes, quantity.values.shape, strict=True)
    return f"({', '.join(f'{name} {size}' for name, size in sizes)})".replace("_", " ")


def exactly(values: np.ndarray) -> str:
    """Numbers as the shortest decimals that give the same back: one, a list, or a list of lists, as Python reads them.

    -inf is what Python writes as float("-inf").
    """
    if values.ndim == 0:
        return str(values[()])
    inner = [exactly(np.asarray(value)) for value in values]
    return f"[{', '.join(inner)}]" if values.ndim == 1 else "[\n  " + ",\n  ".join(inner) + ",\n]"


def title(path: WeightPath) -> str:
    """ "“it” attends to “loved” with 99.12 %.", as Markdown."""
    query, key = (
        token_named([token_name(name) for name in stack.names()], place)
        for stack, place in ((path.queries, path.site.query), (path.keys, path.site.key))
    )
    if not path.is_allowed():
        return f"{query} may not see {key}."
    return f"{query} attends to {key} with {share(path.weight())}."


def answer(path: WeightPath) -> str:
    """ "In head 2 of layer 1, query 3 · slow gives 12.05 % of its attention to key 5 · film."."""
    query, key = names_of(path)
    where = f"head {counted(path.site.head)} of layer {counted(path.site.layer)}"
    if not path.is_allowed():
        return f"In {where}, query {query} may not see key {key}: its weight is 0.{_edited(path)}"
    given = (
        f"query {query} gives {share(path.weight())} of its attention to key {key}{'' if key.endswith('.') else '.'}"
    )
    largest = f" {_largest(path)}" if path.is_largest() else ""
    return f"In {where}, {given}{largest}{_edited(path)}"


def _largest(path: WeightPath) -> str:
    """That the head gives nowhere more; it may give as much to others."""
    alike = int((path.attention.weights[path.site.head] == path.weight()).sum())
    return "It is the largest weight of the head." if alike == 1 else "No weight of the head is larger."


def in_full(path: WeightPath) -> str:
    """The weight with all its digits, how many the sentences of the page give, and where all are. Markdown."""
    return (
        f"The weight in full: {path.weight()!r}. Sentences give four significant digits. To see all digits, point at a "
        "picture or choose the depth “Every number”."
    )


def _edited(path: WeightPath) -> str:
    """Which heads are muted, and what that means for this one, or else the edits as an address holds them."""
    edits, site = path.edits, path.site
    if edits == NO_EDITS:
        return ""
    if edits != Edits(muted=edits.muted):
        return f" This pass is edited: {markdown_text(edits.to_text())}."
    sites = sorted(edits.muted)
    names = [f"head {counted(one.head)} of layer {counted(one.layer)}" for one in sites[:MOST_MUTED]]
    names += [f"{len(sites) - MOST_MUTED} more heads"] if len(sites) > MOST_MUTED else []
    kind = "cross" if site.attention == "cross" else "self"
    here = HeadSite(site.stack, site.layer, site.head, kind) in edits.muted
    looks = " A muted head still computes its weights; its context is set to zero." if here else ""
    return f" The model ran with {list_of_names(names)} muted.{looks}"


def idea(path: WeightPath, step: str, quantities: Mapping[str, Quantity]) -> str:
    """The idea of a step, with its number where it has one. Markdown."""
    if step in answer_sentences.IDEAS:
        return answer_sentences.IDEAS[step](path, quantities)
    if step == "mask":
        return _mask(path, quantities)
    query, key = names_of(path)
    numbers = {name: short(float(each.values)) for name, each in quantities.items() if not each.axes}
    number = numbers.get
    sentences = {
        "embedding": f"The token table *E* gives query {query} and key {key} a row each: *d* = "
        f"{path.attention.input.shape[-1]} numbers, learned in training{_times_root(path)}.",
        "position": _position(path),
        "norm": _norm(path),
        "projection": f"Two learned matrices of this head multiply the vectors. The query's vector becomes "
        f"{path.head_width} numbers that say what it looks for, the key's vector {path.head_width} numbers that say "
        "what it offers." + _turned(path),
        "product": f"Query and key are multiplied coordinate by coordinate; the sum of the products is "
        f"{number('product')}. The sum is larger where both vectors point the same way.",
        "scale": f"Every product of a query and a key is multiplied by {number('scale')}{_divided(path)}, so that "
        f"heads with more coordinates do not give larger scores. Here the result is {number('scaled')}.",
        "softmax": _softmax(path),
        "value": f"A third matrix computes each key's value, which is what the key passes on. The value of {key} is "
        f"multiplied by its weight, {weight_text(path)}, and the values of the other keys by theirs. The sum is the "
        f"head's context, its result.{_muted(path)}",
        "heads": f"The layer's {path.module.heads} heads did the same at the same time. Their contexts are put side by "
        f"side; the outline marks head {counted(path.site.head)}.",
        "output": "One more matrix mixes the contexts of all heads into a vector as wide as the stream. The picture "
        "shows this head's part above the output of all heads together.",
        "residual": f"The result is added to the vector of {query}: attention changes the vector and does not replace "
        f"it.{_normed_after(path)}",
        "feed-forward": f"A small network, the same at every position, reads the vector of {query} and adds its output "
        f"to it. {_goes_on(path)}",
    }
    return sentences[step]


def _goes_on(path: WeightPath) -> str:
    if path.site.layer + 1 < len(getattr(path.model, path.site.stack).blocks):
        return "The result enters the next layer."
    return "This is the last layer of its stack: no layer after it changes the result."


def _times_root(path: WeightPath) -> str:
    return ", times √*d*" if path.model.config.scale_embeddings else ""


def _position(path: WeightPath) -> str:
    if path.queries.embedding.position is None:
        return NOTHING_ADDED[path.model.config.positions]
    fixed = path.model.config.positions.startswith("sinusoidal")
    kind = "made of sines and cosines and not changed by training" if fixed else "learned in training"
    segment = (
        ", and so is a vector for the text that the token belongs to"
        if path.queries.embedding.segment is not None
        else ""
    )
    normed = ". The sum is normed" if path.model.config.embedding_norm else ""
    return f"A vector *P* for the token's position, {kind}, is added to each token vector{segment}{normed}."


def _norm(path: WeightPath) -> str:
    cross = path.site.attention == "cross"
    before = "" if path.site.layer == 0 else f"By now {_layers(path.site.layer)} changed the vectors. "
    if cross:
        before = "The query's vector has passed through the decoder up to here, the key's through the whole encoder. "
    if path.model.config.norm_order == "post":
        return f"{before}This model normalises after each sublayer, so the projections read the stream as it is."
    kind = "to mean 0 and standard deviation 1" if path.model.config.norm == "layer" else "to a mean square of 1"
    whose = "The query's vector is" if cross else "Each vector is"
    return f"{before}{whose} scaled {kind}, then multiplied by learned factors, before the head reads it."


def _layers(count: int) -> str:
    return "layer 1 has" if count == 1 else f"layers 1 to {count} have"


def _turned(path: WeightPath) -> str:
    normed = " Each is then scaled to a mean square of 1." if path.model.config.query_key_norm else ""
    rotated = " Then both are rotated by an angle that grows with their position."
    return normed + (rotated if path.model.config.positions == "rotary" else "")


def _divided(path: WeightPath) -> str:
    divisor, layer = _divisor(path), counted(path.site.layer)
    if divisor == BY_LAYER:
        return f" = 1 / ({layer} · √{path.head_width}), for this is layer {layer}"
    return f" = 1 / √{path.head_width}" if divisor else ""


def _divisor(path: WeightPath) -> str:
    """What products are divided by, as LaTeX; "" where it is no root: an edit's number, or one of the model's own."""
    by_layer = path.model.config.score_scale_by_layer
    number = math.sqrt(path.head_width) * (path.site.layer + 1 if by_layer else 1)
    if not np.isclose(path.attention.scale * number, 1):
        return ""
    return BY_LAYER if by_layer else r"\sqrt{d_k}"


def _mask(path: WeightPath, quantities: Mapping[str, Quantity]) -> str:
    """What is added to the scores, which keys are hidden from the query, and the score of this key."""
    allowed, score = quantities["allowed"].values, short(float(quantities["score"].values))
    if allowed[path.site.key]:
        verb = "is" if "all_biases" in quantities or "cap" in quantities else "stays"
        end = f"This key is not hidden: its score {verb} {score}."
    else:
        end = "This key is one of them."
    return f"{_added(path, quantities)} {_hidden(path, allowed)} {end}"


def _added(path: WeightPath, quantities: Mapping[str, Quantity]) -> str:
    """The bias of this score, and the cap of all."""
    bias = "A **bias** of the scores is a number that is added to each; this attention has none."
    if "all_biases" in quantities:
        origin = "a formula gives" if path.model.config.positions == "alibi" else "training found"
        number = short(float(quantities["all_biases"].values[path.site.key]))
        bias = f"A **bias** is added to the score, a number that {origin} for the distance from query to key: {number}."
    if "cap" not in quantities:
        return bias
    cap = short(float(quantities["cap"].values))
    return f"{bias} A smooth **cap** keeps every score between −{cap} and {cap}."


def _hidden(path: WeightPath, allowed: np.ndarray) -> str:
    """Which keys are hidden from the query: none, the future, those outside a window, those that an edit names.

    Padding is none of them: the text on the screen is read alone.
    """
    meaning = "A **mask** hides keys from a query"
    hidden = set(np.flatnonzero(~allowed).tolist())
    if not hidden:
        return f"{meaning}; here it hides nothing, {_why_all(path)}."
    edited = hidden & {each.position for each in path.edits.hidden if _is_of(each, path)}
    later = sum(place > path.site.query for place in hidden - edited)
    counts = {
        "after the query (the future)": later,
        "before the query, outside the window of this layer": len(hidden) - len(edited) - later,
        "that an edit names": len(edited),
    }
    parts = [f"{count} {'token' if count == 1 else 'tokens'} {which}" for which, count in counts.items() if count]
    return (
        f"{meaning}; here it hides {' and '.join(parts)}. The score of a hidden key becomes minus infinity, and the "
        "softmax gives it a weight of 0."
    )


def _why_all(path: WeightPath) -> str:
    """Why a query sees every key."""
    if path.site.attention == "cross":
        return "because each written token may see the whole source text, and a text that is read alone has no padding"
    if path.site.stack in path.edits.unmasked - path.edits.causal:
        return "because an edit took it away"
    if path.site.attention == "decoder" or path.site.stack in path.edits.causal:
        return "because it hides the tokens after the query (the future), and this query is the last token"
    if path.site.layer in path.model.config.windowed_layers:
        return "because all tokens are within the window of this layer"
    return "because each token of this encoder may see every other, and a text that is read alone has no padding"


def _is_of(hidden: HiddenKey, path: WeightPath) -> bool:
    """Whether an edit hides a key of this attention."""
    kind = "cross" if path.site.attention == "cross" else "self"
    return (hidden.stack, hidden.attention) == (path.site.stack, kind)


def _softmax(path: WeightPath) -> str:
    if path.replaced:
        return f"An edit sets the weights of this query in place of the softmax: this one is {weight_text(path)}."
    if not path.attention.mask.expand_as(path.attention.weights)[path.site.head, path.site.query].any():
        return "The query may see no key at all: each of its weights is 0."
    return (
        f"The number e ≈ 2.718 is raised to the power of each score, and each result is divided by the sum of all "
        f"results, which gives a weight of {weight_text(path)}. The weights of one query add up to 1."
    )


def _muted(path: WeightPath) -> str:
    """A head whose weights are not all 0 and whose context is, was muted."""
    context = path.attention.context[path.site.head]
    weighed = path.attention.weights[path.site.head].any() and path.attention.value[path.kv_head].any()
    return " This head is muted: its context was set to 0." if weighed and not context.any() else ""


def _normed_after(path: WeightPath) -> str:
    if path.model.config.norm_order == "post":
        return " The sum is normed."
    return " What is added is normed first." if path.model.config.norm_order == "both" else ""


def formula(path: WeightPath, step: str) -> str:
    """The step as LaTeX; i is the query, j the key, h the head."""
    if step in answer_sentences.FORMULAS:
        return answer_sentences.FORMULAS[step](path)
    config = path.model.config
    scaled = r"\sqrt{d}\;" if config.scale_embeddings else ""
    summands = "e" + (" + p" if path.queries.embedding.position is not None else "")
    summands += " + s" if path.queries.embedding.segment is not None else ""
    normed = r"\mathrm{norm}" if config.norm_order != "post" else ""
    rotation = "R" if config.positions == "rotary" else ""
    divisor = _divisor(path)
    biased = rf"\frac{{q_i \cdot k_j}}{{{divisor}}}" if divisor else r"c\,(q_i \cdot k_j)"
    return {
        "embedding": rf"e_i = {scaled}E_{{\mathrm{{id}}(i)}}",
        "position": rf"x_i = \mathrm{{norm}}({summands})" if config.embedding_norm else rf"x_i = {summands}",
        "norm": rf"z_i = {normed}(x_i)" if normed else "z_i = x_i",
        "projection": _projections(path, rotation),
        "product": r"q_i \cdot k_j = \sum_{c=1}^{d_k} q_{i,c}\, k_{j,c}",
        "scale": biased,
        "mask": _scores(path, biased),
        "softmax": r"a_{ij} = \frac{e^{s_{ij}}}{\sum_m e^{s_{im}}}",
        "value": r"o_i = \sum_j a_{ij}\, v_j",
        "heads": r"o_i = [\,o_i^1;\ o_i^2;\ \dots\,]",
        "output": r"y_i = W_O\, o_i" + (" + b_O" if path.module.output.bias is not None else ""),
        "residual": _residual(config.norm_order),
        "feed-forward": _feed_forward(path),
    }[step]


def _projections(path: WeightPath, rotation: str) -> str:
    lines = []
    for small, large, place in (("q", "Q", "i"), ("k", "K", "j")):
        bias = f" + b_{large}" if path.module.query.bias is not None else ""
        inner = f"W_{large} z_{place}{bias}"
        inner = rf"\mathrm{{norm}}({inner})" if path.model.config.query_key_norm else inner
        turn = f"{rotation}_{place}" if rotation else ""
        wrapped = f"({inner})" if turn and bias and not path.model.config.query_key_norm else inner
        lines.append(rf"{small}_{place} &= {turn}{wrapped}")
    return r"\begin{aligned}" + r" \\ ".join(lines) + r"\end{aligned}"


def _scores(path: WeightPath, scaled: str) -> str:
    inner = scaled + (" + b_{ij}" if path.attention.bias is not None else "")
    if path.module.cap is not None:
        inner = rf"g\,\tanh\!\left(\tfrac{{1}}{{g}}\,{inner}\right)"
    return rf"s_{{ij}} = \begin{{cases}} {inner} & \text{{seen}} \\ -\infty & \text{{masked}} \end{{cases}}"


def _residual(order: str) -> str:
    if order == "post":
        return r"x'_i = \mathrm{norm}(x_i + y_i)"
    return r"x'_i = x_i + \mathrm{norm}(y_i)" if order == "both" else r"x'_i = x_i + y_i"


def _feed_forward(path: WeightPath) -> str:
    """The feed-forward layer alone; z is what it reads."""
    bias = path.model.config.hidden_bias
    one, two = (" + b_1", " + b_2") if bias else ("", "")
    if path.model.config.gated:
        return rf"f_i = W_2\,(\phi(W_1 z_i{one}) \odot (V z_i)){two}"
    return rf"f_i = W_2\,\phi(W_1 z_i{one}){two}"


BY_LAYER = r"\ell\,\sqrt{d_k}"  # GPT-2's scale_attn_by_inverse_layer_idx
FACTOR, LAYER = (r"c\,", "c: the factor that this model uses"), (r"\ell", "ℓ: the layer, counted from 1")

# Per step: how a symbol stands in the formula, and what it is; those that do not stand in it are left out.
SYMBOLS: dict[str, tuple[tuple[str, str], ...]] = {
    "embedding": (("E_", "E: token table"), (r"\sqrt{d}", "d: width")),
    "position": (("e", "e: token vector"), (" p", "p: position vector"), (" s", "s: segment vector")),
    "norm": (("x", "x: stream"), ("z", "z: what the head reads")),
    "projection": (("z", "z: what is read"), ("W", "W, b: learned"), ("R_", "R: rotation by the position")),
    "product": (("c", "c counts the coordinates of the head, d_k of them"),),
    "scale": (("d_k", "d_k: coordinates of the head"), LAYER, FACTOR),
    "mask": (("b_{ij}", "b: bias"), (r"g\,", "g: cap"), LAYER, FACTOR),
    "softmax": (("s", "s: score"), ("a", "a: weight"), ("m}", "m runs over all keys")),
    "value": (("a", "a: weight"), ("v", "v: value"), ("o", "o: context")),
    "heads": (("o", "o: context; the number above it is the head"),),
    "output": (("W", "W, b: learned"), ("o", "o: the contexts, joined")),
    "residual": (("x", "x: stream before"), ("y", "y: what the attention gives")),
    "feed-forward": (("z", "z: what is read"), (r"\phi", "φ: activation"), (r"\odot", "⊙: number by number")),
    **answer_sentences.SYMBOLS,
}


def symbols(path: WeightPath, step: str) -> str:
    """What the letters in the formula stand for."""
    written = formula(path, step)
    places = [("_i", "i: the query")] if step in answer_sentences.FORMULAS else [("", "i: the query; j: the key")]
    return "; ".join(meaning for symbol, meaning in [*places, *SYMBOLS[step]] if symbol in written) + "."


SCRIPT = '''\
"""Compute one attention weight in two ways and assert that both agree."""

{facts}{check}{path}import numpy as np

from model import {names}
from model.edits import NO_EDITS, Edits
from model.measures.one_weight import WeightSite, path_of
from model.measures.numpy_reference import recheck

{loading}
edits = {edits}
{trace}
site = {site!r}  # all counted from 0
path = path_of(checkpoint.model, trace, site, edits)
attention = path.attention

{by_hand}# Along a path of its own: NumPy in float64, from the token ids and the stored weights.
rechecked = recheck(checkpoint.model, trace, site, edits)

shown = {weight!r}
print("on the screen", shown)
print("in this trace", path.weight())
print("rechecked    ", rechecked.weight)
assert abs(path.weight() - shown) < 1e-4
assert abs(rechecked.weight - shown) < 1e-4
{compared}'''
BY_HAND = """\
# By hand, from the query and the keys that the trace holds.
query = attention.query[site.head, site.query].double().numpy()
keys = attention.key[path.kv_head].double().numpy()
scores = keys @ query * attention.scale
if attention.bias is not None:
    scores = scores + attention.bias[site.head, site.query].double().numpy()
if path.module.cap is not None:
    scores = path.module.cap * np.tanh(scores / path.module.cap)
seen = attention.mask.expand_as(attention.weights)[site.head, site.query].numpy()
exponentials = np.where(seen, np.exp(scores - scores[seen].max(initial=-np.inf)), 0)
by_hand = exponentials[site.key] / max(exponentials.sum(), np.finfo(float).tiny)

"""
COMPARED = """\
print("by hand      ", by_hand)
assert abs(by_hand - shown) < 1e-4
"""


def script(
    path: WeightPath,
    *,
    checkpoint: str | Path,
    text: str,
    pair: str,
    target: Target | None = None,
    written: Sequence[int] | None = None,
    provenance: Provenance | None = None,
) -> str:
    """Python that computes the weight from the checkpoint and asserts that it is the one shown.

    checkpoint: as in ``loading_code``.
    What is computed by hand is the softmax; it is left out where an edit sets the weights instead. target, written:
    what the decoder read besides, as in ``trace_code``.
    """
    return SCRIPT.format(
        names=", ".join([*path.edits.class_names(), "load_checkpoint"]),
        path=loading_import(checkpoint),
        loading=loading_code(checkpoint),
        edits=repr(path.edits),
        by_hand="" if path.replaced else BY_HAND,
        compared="" if path.replaced else COMPARED,
        facts=comment(provenance),
        check=package_check("model"),
        trace=trace_code(text, ", edits=edits", pair=pair, target=target, written=written),
        site=path.site,
        weight=path.weight(),
    )


def arrays_of(steps: Mapping[str, Quantities]) -> dict[str, np.ndarray]:
    """The numbers of some steps as one flat table of arrays, "product_terms", for a file."""
    return {
        f"{step.replace('-', '_')}_{name}": each.values
        for step, quantities in steps.items()
        for name, each in quantities.items()
    }


def names_of_parts(parts: ScoreParts) -> dict[str, float]:
    """The parts of the score by their names on the screen: "word → position"."""
    return {
        "biases" if query == key == "bias" else f"{PARTS[query]} → {PARTS[key]}": part
        for (query, key), part in parts.scores().items()
    }


def parts_sentence(parts: ScoreParts) -> str:
    """Which part is the largest, and that they sum to the score before bias and mask."""
    scores = names_of_parts(parts)
    largest = max(scores, key=lambda name: abs(scores[name]))
    whole, sum_of_them = decimal(parts.product * parts.scale, ".7g"), decimal(sum(scores.values()), ".7g")
    return (
        f"The largest part is **{largest}**, {short(scores[largest])}. The parts add up to {sum_of_them}; the trace "
        f"has {whole} for product × scale."
    )


def parts_as_python(parts: ScoreParts) -> str:
    """The parts of the score at full precision, as a dict."""
    return "{" + ", ".join(f"{name!r}: {part!r}" for name, part in names_of_parts(parts).items()) + "}"
