"""The words of the field: each explained in one sentence, with the place of this app where it can be seen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from viz.tokens import markdown_text


@dataclass(frozen=True, kw_only=True)
class TermPage:
    """Where something is seen. changes: of the selection, by the names of the codec.

    needs: the architectures of the checkpoints that show it; of all, where it is empty.
    """

    page: str
    label: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Term:
    """A word of the field. sentence: one, in plain text. symbol: LaTeX, or "". others: its other names."""

    name: str
    sentence: str
    place: TermPage
    symbol: str = ""
    others: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """What an address calls it: "causal-mask"."""
        return self.name.lower().replace("_", "-").replace(" ", "-")


ENCODERS, DECODERS, BOTH = ("encoder", "encoder-decoder"), ("decoder", "encoder-decoder"), ("encoder-decoder",)


def step(name: str, title: str) -> TermPage:
    """A step of the walk to one weight."""
    return TermPage(page="inside", label=f"Inside a head: {title}", changes={"step": name})


def experiment(name: str, title: str, needs: tuple[str, ...] = ()) -> TermPage:
    """A part of the formula that can be taken out, or a subject beside it."""
    return TermPage(page="break", label=f"Break the formula: {title}", changes={"experiment": name}, needs=needs)


def explore(title: str, **changes: Any) -> TermPage:
    """A view of the explorer."""
    return TermPage(page="explore", label=f"Explore: {title}", changes=changes)


def translate(title: str, **changes: Any) -> TermPage:
    """The page that translates; its own settings are packed under one name."""
    named = {f"translation.{name}": value for name, value in changes.items()}
    return TermPage(page="translate", label=f"Translate: {title}", changes={"attention": "cross"} | named, needs=BOTH)


TOKENS = TermPage(page="learn", label="Learn: your tokens, each over its id", changes={"stop": 4})


# By what they are about, in the order in which a text meets them.
GLOSSARY: dict[str, tuple[Term, ...]] = {
    "Text": (
        Term(
            name="token",
            sentence="A piece of text that the model reads as one unit: a word, part of a word, or a punctuation mark.",
            others=("word piece", "subword"),
            place=explore("your text, token by token", show="text"),
        ),
        Term(
            name="tokenizer",
            sentence="The program that splits a text into tokens and gives each its id.",
            place=TOKENS,
        ),
        Term(
            name="vocabulary",
            sentence="The fixed list of all tokens that a model knows.",
            symbol=r"V",
            place=TermPage(page="checkpoints", label="Models: how large each vocabulary is"),
        ),
        Term(
            name="id",
            sentence="The number of a token in the vocabulary, which is all that the model is given of it.",
            others=("token id", "index"),
            place=TOKENS,
        ),
        Term(
            name="padding",
            sentence="Tokens without meaning that fill up shorter texts, so that several texts fit one array.",
            others=("pad tokens",),
            place=experiment("padding", "padding with and without its mask"),
        ),
    ),
    "Vectors": (
        Term(
            name="embedding",
            sentence="The vector that a token begins with: a row of a learned table, found by the id.",
            symbol="E",
            others=("token vector", "word vector"),
            place=step("embedding", "embedding"),
        ),
        Term(
            name="position vector",
            sentence="A vector that is added to an embedding and tells the model at which place of the text the token "
            "stands.",
            symbol="P",
            others=("positional encoding", "position embedding"),
            place=TermPage(page="positions", label="Positions: how words get their order"),
        ),
        Term(
            name="d_model",
            sentence="How many numbers the vector of a token has, the same in every layer.",
            others=("width", "hidden size", "embedding dimension"),
            place=TermPage(page="checkpoints", label="Models: the width of each model"),
        ),
        Term(
            name="residual stream",
            sentence="The vector of a token on its way through the layers, to which each layer adds its results.",
            symbol="x",
            others=("stream", "hidden states"),
            place=step("layers", "the stream layer by layer"),
        ),
    ),
    "Attention": (
        Term(
            name="attention",
            sentence="The part of a layer in which each token takes information from other tokens, more from some than "
            "from others.",
            others=(
                "self-attention, where all are of one text",
                "multi-head attention, where several heads work side by side",
            ),
            place=explore("all heads of all layers", show="grid"),
        ),
        Term(
            name="head",
            sentence="One of several attentions that work side by side in a layer, each with matrices of its own.",
            symbol="h",
            others=("attention head",),
            place=step("heads", "the heads of a layer, joined"),
        ),
        Term(
            name="query",
            sentence="The vector with which a token looks at others; also the token that looks.",
            symbol="q",
            others=("destination token", "target position"),
            place=step("projection", "query and key"),
        ),
        Term(
            name="key",
            sentence="The vector that a token is compared by when it is looked at; also the token that is looked at.",
            symbol="k",
            others=("source token", "source position"),
            place=step("product", "the product of query and key"),
        ),
        Term(
            name="value",
            sentence="The vector that a token passes on to those that attend to it.",
            symbol="v",
            place=step("value", "value"),
        ),
        Term(
            name="d_k",
            sentence="How many numbers a query or a key of one head has, mostly d_model / number of heads.",
            others=("head width", "head dimension"),
            place=experiment("split", "the width cut into heads"),
        ),
        Term(
            name="score",
            sentence="The product of a query and a key, scaled and masked: the number that enters the softmax.",
            symbol=r"s",
            others=("attention logit",),
            place=step("mask", "the score after bias and mask"),
        ),
        Term(
            name="scale",
            sentence="The factor that keeps scores from growing with the width of a head, in the paper one divided by "
            "the square root of d_k.",
            symbol=r"\frac{1}{\sqrt{d_k}}",
            others=("scaling factor",),
            place=step("scale", "scale"),
        ),
        Term(
            name="mask",
            sentence="What forbids a query to look at certain keys: their scores become minus infinity and their "
            "weights 0.",
            symbol="M",
            others=("attention mask",),
            place=experiment("hide", "forbid looking at a token"),
        ),
        Term(
            name="causal mask",
            sentence="The mask of a decoder, which hides from each token all tokens after it.",
            symbol="M",
            others=("look-ahead mask", "autoregressive mask"),
            place=experiment("unmask", "no mask", DECODERS),
        ),
        Term(
            name="softmax",
            sentence="The function that turns any numbers into positive ones that add up to 1: each becomes a power of "
            "e, divided by the sum of all.",
            symbol=r"\frac{e^{s_j}}{\sum_m e^{s_m}}",
            place=step("softmax", "softmax"),
        ),
        Term(
            name="weight",
            sentence="The share of a query's attention that a key gets; the weights of a query add up to 1.",
            symbol="a",
            others=("attention weight", "attention probability", "attention pattern, of all weights of a head"),
            place=explore("the weights as a matrix", show="matrix"),
        ),
        Term(
            name="context",
            sentence="The result of a head for one query: the sum of all values, each multiplied by its weight.",
            symbol="o",
            others=("head output", "z"),
            place=step("heads", "the contexts of all heads"),
        ),
        Term(
            name="output projection",
            sentence="The matrix that mixes the contexts of all heads into one vector, as wide as the stream.",
            symbol="W_O",
            place=step("output", "output projection"),
        ),
        Term(
            name="cross-attention",
            sentence="Attention with queries from one text and keys and values from another, as in a decoder that "
            "reads an encoder.",
            others=("encoder-decoder attention",),
            place=translate("which source words are looked at"),
        ),
        Term(
            name="entropy",
            sentence="How widely a query spreads its attention, in bits: 0 where one key gets all, most where all "
            "keys get the same.",
            symbol="H",
            place=explore("the entropy of every head", across="entropy"),
        ),
    ),
    "Layers": (
        Term(
            name="layer",
            sentence="One round of attention and feed-forward layer; a model has several, each of which reads what the "
            "one before left in the stream.",
            symbol=r"\ell",
            others=("block",),
            place=TermPage(page="checkpoints", label="Models: the layers of each model"),
        ),
        Term(
            name="residual connection",
            sentence="The addition of what a part of a layer computed to the vector that it read, which "
            "changes the vector and does not replace it.",
            symbol=r"x + f(x)",
            others=("skip connection",),
            place=step("residual", "residual"),
        ),
        Term(
            name="norm",
            sentence="A step that brings the numbers of a vector to a fixed spread and multiplies them by learned "
            "factors.",
            others=("LayerNorm", "layer normalisation", "RMSNorm"),
            place=step("norm", "norm"),
        ),
        Term(
            name="dropout",
            sentence="In training, some numbers of a vector, chosen at random, are set to 0 and the others scaled up; "
            "a trained model runs without it.",
            place=TermPage(page="mistakes", label="Mistakes: weights after dropout", changes={"mistake": "weights"}),
        ),
        Term(
            name="pre-norm and post-norm",
            sentence="Whether a norm stands before each part of a layer, as in GPT-2, or after each addition, as "
            "in “Attention Is All You Need”.",
            place=experiment("depth", "pre-norm, post-norm, no residuals"),
        ),
        Term(
            name="feed-forward layer",
            sentence="A small network of two matrices with an activation between them, which reads each token on its "
            "own.",
            symbol=r"\mathrm{FFN}",
            others=("MLP", "position-wise feed-forward network"),
            place=step("feed-forward", "feed-forward"),
        ),
        Term(
            name="encoder",
            sentence="A stack of layers in which every token sees the whole text; it reads and does not write.",
            place=TermPage(
                page="explore", label="Explore: an encoder's heads", changes={"attention": "encoder"}, needs=ENCODERS
            ),
        ),
        Term(
            name="decoder",
            sentence="A stack of layers in which a token sees itself and those before it; it predicts the next token.",
            place=TermPage(
                page="explore", label="Explore: a decoder's heads", changes={"attention": "decoder"}, needs=DECODERS
            ),
        ),
    ),
    "Answer": (
        Term(
            name="pooling",
            sentence="The step in which a classifier makes one vector of all tokens, as their mean or from the first.",
            place=step("pooling", "pooling"),
        ),
        Term(
            name="logits",
            sentence="The numbers, one for each label or token, from which the last softmax makes probabilities.",
            symbol="y",
            place=step("logits", "logits"),
        ),
        Term(
            name="temperature",
            sentence="A number that logits are divided by before the softmax: below 1 the likeliest token wins more "
            "often, above 1 others get more chances.",
            symbol="T",
            place=TermPage(
                page="write", label="Write: sampling at a temperature", changes={"method": "sample"}, needs=("decoder",)
            ),
        ),
        Term(
            name="greedy decoding",
            sentence="Writing a text by taking the likeliest token at each step.",
            place=translate("greedy decoding", method="greedy"),
        ),
        Term(
            name="beam search",
            sentence="Writing a text by keeping the few most probable hypotheses (texts so far) at each step.",
            place=translate("beam search", method="beam"),
        ),
        Term(
            name="teacher forcing",
            sentence="Giving a decoder the right text to read, as in training, whatever it would have written itself.",
            place=TermPage(
                page="translate",
                label="Translate: a French text that is given",
                changes={
                    "checkpoint": "translate-en-fr",
                    "text": "The red house is big.",
                    "target": "La maison rouge est petite.",
                    "attention": "cross",
                },
            ),
        ),
    ),
    "Causes": (
        Term(
            name="mute",
            sentence="To set the context of a head to 0 and run the model again, to see what the head contributes.",
            others=("zero-ablation", "head ablation"),
            place=experiment("mute", "mute one head"),
        ),
        Term(
            name="null",
            sentence="For comparison: what a measure gives where there is nothing to find, as for the same words in "
            "another order; only what exceeds it is a finding.",
            others=("null model", "baseline"),
            place=explore("heads worth a look, each beside its null"),
        ),
    ),
}
TERMS: dict[str, Term] = {term.key: term for terms in GLOSSARY.values() for term in terms}


def matching_terms(words: str) -> dict[str, tuple[Term, ...]]:
    """The terms in which all of some words occur, in name, symbol, other names or sentence, whatever the case."""
    filter_words = words.casefold().split()
    by_group = {
        group: tuple(term for term in terms if all(word in search_text(term) for word in filter_words))
        for group, terms in GLOSSARY.items()
    }
    return {group: terms for group, terms in by_group.items() if terms}


def search_text(term: Term) -> str:
    """All that is said of a term, in small letters."""
    return "\n".join((term.name, term.symbol, plain_symbol(term.symbol), *term.others, term.sentence)).casefold()


def plain_symbol(symbol: str) -> str:
    """A symbol as one types it: "1/√d_k" for the LaTeX of a fraction with a root."""
    typed = symbol.replace("{", "").replace("}", "").replace("\\frac1", "1/")
    return typed.replace("\\sqrt", "√").replace("\\mathrm", "")


def index_rows(groups: Mapping[str, Sequence[Term]]) -> list[str]:
    """A Markdown table: a row for each group, with links to the terms on the same page."""
    rows = [
        f"| **{group}** | {' · '.join(f'[{unbroken(term.name)}](#{term.key})' for term in terms)} |"
        for group, terms in groups.items()
    ]
    return ["| About | Words |", "|---|---|", *rows]


def unbroken(name: str) -> str:
    """A name as Markdown that stays in one line: a finger on the middle of a link has to meet it."""
    return markdown_text(name).replace(" ", "\u00a0").replace("\\-", "\u2011")


def heading(term: Term) -> str:
    """The name and its symbol, as Markdown: "softmax"."""
    return markdown_text(term.name) + (f" $\\; {term.symbol}$" if term.symbol else "")


def explanation(term: Term) -> str:
    """The sentence, and the other names, as Markdown."""
    names = f" *Also called {markdown_text(', '.join(term.others))}.*" if term.others else ""
    return markdown_text(term.sentence) + names
