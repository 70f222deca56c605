"""The steps that lead from the layer of a weight to the answer, in sentences and formulas."""

from collections.abc import Callable, Mapping

from model.edits import NormSite
from model.measures.one_weight import Quantity, WeightPath
from viz.tokens import counted, markdown_text, position_name
from viz.walkthrough.step_numbers import answer_names, names_of, quoted_answer, share, short

DENSE = {
    "first-tanh": "a learned matrix and the function tanh",
    "first-relu": "a learned matrix and a rectifier, which sets negative numbers to 0",
}
NO_HEAD = "This model has no head that gives an answer: it ends in the vectors of its tokens."
NO_TERM = "This model's formula has no term for this step: the model leaves it out."
NORM_OF_MEMORY = "In the formula, this norm stands in the decoder, around the *x* that its cross-attention reads."
NOT_POOLED = "**Pooling**, which makes one vector of a whole text, is left out"


def _layers(path: WeightPath, quantities: Mapping[str, Quantity]) -> str:
    query, _ = names_of(path)
    of_stack = f" of the {path.site.stack}" if path.model.config.is_encoder_decoder else ""
    first, last = counted(path.site.layer + 1), counted(len(path.queries.blocks) - 1)
    if not path.layers_left:
        return f"Layer {counted(path.site.layer)} is the last{of_stack}: the vector of {query} leaves it as it is."
    several = f"Layers {first} {'and' if path.layers_left == 2 else 'to'} {last}{of_stack} do"
    which = f"Layer {last}{of_stack} does" if first == last else several
    moved = share(float(quantities["moved"].values))
    return (
        f"{which} the same again, with matrices of {'its' if first == last else 'their'} own. The picture has the "
        f"vector of {query} after each layer. The last differs from the first by a vector that has {moved} of the "
        "first one's length."
    )


def _last_norm(path: WeightPath, quantities: Mapping[str, Quantity]) -> str:
    query, _ = names_of(path)
    config, stack = path.model.config, path.site.stack
    if config.norm_order == "post":
        return "This model normalises after each sublayer, so no norm follows the last layer."
    if NormSite(stack, None, "final") in path.edits.without_norm:
        return f"An edit leaves out the norm after the last layer: the vector of {query} stays as it is."
    kind = "to mean 0 and standard deviation 1" if config.norm == "layer" else "to a mean square of 1"
    return (
        f"A norm follows the last layer, because the layers only added to the stream. The vector of {query} is scaled "
        f"{kind}, then multiplied by learned factors."
    )


def _pooling(path: WeightPath, quantities: Mapping[str, Quantity]) -> str:
    kind = path.answer.kind
    if kind == "label":
        return _pooled(path)
    if kind == "written" and path.site.stack == "encoder":
        return _of_memory(path, float(quantities["reading"].values.max()))
    if kind in ("next", "written"):
        return _of_decoder(path)
    return _without_head(path) if kind == "none" else _of_mask(path)


def _pooled(path: WeightPath) -> str:
    """Of a classifier: the mean of all tokens, or the first."""
    query, _ = names_of(path)
    count, kind = len(path.queries.ids), path.model.config.pooling
    if kind == "mean":
        tokens = f"the vectors of all {count} tokens" if count > 1 else "the vectors of all tokens, here of one"
        return f"**Pooling** makes one vector of the text: the mean of {tokens}. That of {query} counts 1 / {count}."
    first = markdown_text(position_name(0, path.queries.names()[0]))
    pooled = (
        f"**Pooling** makes one vector of the text: that of the first token, {first}, passed through {DENSE[kind]}."
    )
    return pooled if path.site.query == 0 else f"{pooled} {_reach(path)}"


def _reach(path: WeightPath) -> str:
    """How a token that the head does not read bears on the answer."""
    query, _ = names_of(path)
    if path.layers_left:
        return f"The vector of {query} bears on it only through the attention of later layers."
    return f"No later layer attends to {query}, so this weight changes nothing in the answer."


def _without_head(path: WeightPath) -> str:
    pooled = path.trace.pooled is not None
    return NO_HEAD + (" It also makes one vector of the text, from that of the first token." if pooled else "")


def _of_decoder(path: WeightPath) -> str:
    query, _ = names_of(path)
    return (
        f"{NOT_POOLED}: a decoder has an answer at each token, the token that comes next. The one at {query} is "
        "computed from this vector alone."
    )


def _of_mask(path: WeightPath) -> str:
    """Of a model that predicts masked words."""
    query, _ = names_of(path)
    position = path.answer.position or 0
    if path.answer.kind == "placed":
        place = f"The text has no mask, so the walk goes on to the answer in place of {query}."
    elif position == path.site.query:
        place = f"The walk goes on to the answer in place of {query}."
    else:
        mask = markdown_text(position_name(position, path.queries.names()[position]))
        place = f"The walk goes on to the answer in place of the mask, {mask}. {_reach(path)}"
    return (
        f"{NOT_POOLED}: this model has an answer at each token. {place} The vector there is multiplied by one more "
        "learned matrix, passed through an activation and normed."
    )


def _of_memory(path: WeightPath, most: float) -> str:
    """Of the encoder beside a decoder. most: the largest average weight that a query of the decoder gives."""
    query, _ = names_of(path)
    return (
        f"An encoder beside a decoder gives no answer: the decoder does. Each layer of the decoder makes a key and a "
        f"value of the vector of {query}, for its cross-attention. Of the decoder's queries, {_answering(path)} "
        f"attends to it most: with {share(most)} of its attention, on average over all layers and heads. The next two "
        "steps show the answer there."
    )


def _answering(path: WeightPath) -> str:
    """The token whose answer is followed, as Markdown."""
    position = path.answer.position or 0
    return markdown_text(position_name(position, path.trace.output_stack.names()[position]))


def _logits(path: WeightPath, quantities: Mapping[str, Quantity]) -> str:
    if path.answer.kind == "none":
        return NO_HEAD
    name, number = _likeliest(path, quantities), short(float(quantities["logits"].values.max()))
    count = quantities["all_logits"].values.size
    if path.answer.kind == "label":
        return (
            f"The **classifier**, a learned matrix, turns the pooled vector into one number for each of the {count} "
            f"labels, its **logit**. The largest is that of {name}, {number}."
        )
    table = "the token table *E*" if path.model.config.tie_embeddings else "a learned matrix"
    return (
        f"The vector is multiplied with each row of {table}: the product is the **logit** of one of {count:,} tokens"
        f"{_additions(path)}. The largest is that of {name}, {number}.{_where(path)}"
    )


def _additions(path: WeightPath) -> str:
    """What else is done to logits, beside the product."""
    config = path.model.config
    parts = [
        f", after the vector was multiplied by {short(config.output_scale)}" if config.output_scale != 1 else "",
        ", with a learned bias added" if config.vocabulary_bias else "",
    ]
    if config.logit_cap is not None:
        parts.append(f", kept between −{short(config.logit_cap)} and {short(config.logit_cap)} by a smooth cap")
    return "".join(parts)


def _where(path: WeightPath) -> str:
    """Which token's answer it is, where the walk came from an encoder."""
    followed = path.answer.kind == "written" and path.site.stack == "encoder"
    return f" The vector is that of {_answering(path)} in the decoder." if followed else ""


def _answer(path: WeightPath, quantities: Mapping[str, Quantity]) -> str:
    if path.answer.kind == "none":
        return NO_HEAD
    name, number = _likeliest(path, quantities), share(float(quantities["probability"].values))
    softmax = "The softmax turns the logits into **probabilities** that add up to 1, as it did with the scores."
    if path.answer.kind == "label":
        return f"{softmax} The answer of the model is {name}, with {number}."
    place = f"{'in place of' if path.answer.kind in ('masked', 'placed') else 'after'} {_answering(path)}"
    return f"{softmax} The likeliest token {place} is {name}, with {number}.{_going_on(path, quantities)}"


def _going_on(path: WeightPath, quantities: Mapping[str, Quantity]) -> str:
    """What stands in the text after the token, and its probability."""
    stack, position = path.trace.output_stack, path.answer.position
    if path.answer.kind not in ("next", "written") or position is None or position + 1 >= len(stack.ids):
        return ""
    following, text = int(stack.ids[position + 1]), "text" if path.answer.kind == "next" else "target"
    if following == int(quantities["ids"].values[0]):
        return f" That is how the {text} goes on."
    number = share(float(quantities["all_probabilities"].values[following]))
    return f" The {text} goes on with {quoted_answer(path, stack.names()[position + 1])}, which has {number}."


def _likeliest(path: WeightPath, quantities: Mapping[str, Quantity]) -> str:
    """The label or token with the largest logit, as Markdown."""
    best = int(quantities["ids"].values[int(quantities["logits"].values.argmax())])
    return quoted_answer(path, answer_names(path, [best])[0])


IDEAS: dict[str, Callable[[WeightPath, Mapping[str, Quantity]], str]] = {
    "layers": _layers,
    "last-norm": _last_norm,
    "pooling": _pooling,
    "logits": _logits,
    "answer": _answer,
}


STEPS_TO_ANSWER = tuple(IDEAS)


def no_term(path: WeightPath, step: str) -> str:
    """Why the formula of the page has no term for a step."""
    config = path.model.config
    of_memory = step == "last-norm" and path.site.stack == "encoder" and config.is_encoder_decoder
    return NORM_OF_MEMORY if of_memory and config.norm_order != "post" else NO_TERM


def _layers_formula(path: WeightPath) -> str:
    first, last = path.site.layer + 1, len(path.queries.blocks)
    if first == last:
        return rf"x_i^{{({last})}}"
    numbers = rf"\ell = {first + 1}" + (rf", \dots, {last}" if first + 1 < last else "")
    return rf"x^{{(\ell)}} = \mathrm{{layer}}_\ell\left(x^{{(\ell-1)}}\right), \quad {numbers}"


def _last_norm_formula(path: WeightPath) -> str:
    last = rf"x_i^{{({len(path.queries.blocks)})}}"
    return rf"u_i = {last}" if path.model.config.norm_order == "post" else rf"u_i = \mathrm{{norm}}\left({last}\right)"


def _pooling_formula(path: WeightPath) -> str:
    config, kind = path.model.config, path.answer.kind
    if kind == "written" and path.site.stack == "encoder":
        return r"\bar a_{ti} = \frac{1}{L H} \sum_{\ell=1}^{L} \sum_{h=1}^{H} a_{ti}^{(\ell, h)}"
    if kind == "label" and config.pooling == "mean":
        return r"r = \frac{1}{n} \sum_{m=1}^{n} u_m"
    if path.trace.pooled is not None:
        return r"r = \tanh(W_P\, u_1 + b_P)" if config.pooling == "first-tanh" else r"r = \max(0,\ W_P\, u_1 + b_P)"
    if kind in ("masked", "placed"):
        return r"r = \mathrm{norm}(\phi(W_H\, u_t + b_H))"
    return "r = u_i"


def _logits_formula(path: WeightPath) -> str:
    config, kind = path.model.config, path.answer.kind
    if kind == "none":
        return "u_i"
    if kind == "label":
        return r"y = W_C\, r + b_C"
    inner = rf"{'E' if config.tie_embeddings else 'W'}\, {_scaled(path)}r"
    inner += " + b" if config.vocabulary_bias else ""
    return rf"y = {inner}" if config.logit_cap is None else rf"y = g\,\tanh\!\left(\tfrac{{1}}{{g}}({inner})\right)"


def _scaled(path: WeightPath) -> str:
    return r"c\, " if path.model.config.output_scale != 1 else ""


def _answer_formula(path: WeightPath) -> str:
    return "u_i" if path.answer.kind == "none" else r"P_k = \frac{e^{y_k}}{\sum_m e^{y_m}}"


FORMULAS: dict[str, Callable[[WeightPath], str]] = {
    "layers": _layers_formula,
    "last-norm": _last_norm_formula,
    "pooling": _pooling_formula,
    "logits": _logits_formula,
    "answer": _answer_formula,
}
STREAM = ("x", "x: stream; the number above it is the layer that it leaves")
HANDED_ON, READ = ("u_", "u: final vectors, after the last norm where there is one"), "r: what the head reads"
# As the symbols of the steps before.
SYMBOLS: dict[str, tuple[tuple[str, str], ...]] = {
    "layers": (STREAM, (r"\mathrm{layer}", "ℓ: the layer")),
    "last-norm": (STREAM, HANDED_ON),
    "pooling": (
        HANDED_ON,
        ("r =", READ),
        ("u_t", "t: the token whose answer is followed"),
        ("{ti}", "i: the query"),
        ("{n}", "n: how many tokens there are"),
        ("W_", "W, b: learned"),
        (r"\phi", "φ: activation"),
        (r"\bar a", "ā: what query t of the decoder gives the token, averaged over L layers of H heads"),
    ),
    "logits": (
        HANDED_ON,
        ("y =", READ),
        ("y =", "y: logits"),
        ("W", "W: learned"),
        ("E", "E: token table"),
        ("+ b", "b: learned"),
        (r"c\,", "c: a fixed factor"),
        (r"g\,", "g: cap"),
    ),
    "answer": (HANDED_ON, ("P_k", "P: probability"), ("P_k", "y: logits"), ("P_k", "k, m: labels or tokens")),
}
