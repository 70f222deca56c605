"""The answer that the way to a weight ends in: whose it is, what vector it is read from, and its numbers.

A classifier has one answer for the whole text. A model that predicts tokens has one at every position.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from model.config import Config
from model.tokenizer import Tokenizer
from model.trace import Trace
from model.transformer import Transformer


@dataclass(frozen=True, kw_only=True)
class Answer:
    """Which answer is followed.

    kind: "label", the classes of a classifier; "next", the token after a position of a decoder; "written", the same
    in a decoder beside an encoder; "masked", the token in place of a mask; "placed", the token that such a model finds
    likeliest in place of one that is no mask; "none" where the model has no head.
    position: of the stack that the head reads, from 0; None where the answer is of the whole text, or there is none.
    """

    kind: str
    position: int | None = None

    @property
    def is_of_tokens(self) -> bool:
        """Whether it is one of all tokens of the vocabulary."""
        return self.position is not None


def answer_of(config: Config, trace: Trace, stack: str, query: int, tokenizer: Tokenizer | None = None) -> Answer:
    """The answer that a query of a stack is followed to.

    It is the query's own, where each position has one. Of an encoder that predicts masked words, it is that of the
    first mask where the query is none; without a tokenizer no mask is known. From an encoder that a decoder reads, it
    is that of the decoder's query that looks at the position most.
    """
    if config.labels:
        return Answer(kind="label")
    if config.is_encoder_decoder:
        return Answer(
            kind="written", position=query if stack == "decoder" else int(mean_cross_attention(trace, query).argmax())
        )
    if config.has_decoder:
        return Answer(kind="next", position=query)
    return masked_answer(trace, query, tokenizer) if config.word_head else Answer(kind="none")


def masked_answer(trace: Trace, query: int, tokenizer: Tokenizer | None) -> Answer:
    """The answer at the query if it is a mask, else at the first mask, else at the query all the same."""
    ids = trace.text_stack.ids.tolist()
    for position, candidates in ((query, ids[query : query + 1]), (None, ids)):
        place = None if tokenizer is None else tokenizer.first_masked(candidates)
        if place is not None:
            return Answer(kind="masked", position=place if position is None else position)
    return Answer(kind="placed", position=query)


def mean_cross_attention(trace: Trace, key: int) -> Float[Tensor, " query"]:
    """What each query of the decoder gives a position of the encoder, averaged over all layers and heads."""
    assert trace.decoder is not None
    attentions = [block.cross_attention for block in trace.decoder.blocks if block.cross_attention is not None]
    return torch.stack([attention.weights[..., key] for attention in attentions]).double().mean(dim=(0, 1))


@torch.no_grad()
def vector_read(model: Transformer, trace: Trace, answer: Answer) -> Float[Tensor, " width"] | None:
    """What the classifier or the projection reads: the pooled vector, or that of a position; None without a head."""
    if answer.kind == "label":
        return trace.pooled
    if answer.position is None:
        return None
    vector = trace.output_stack.final[answer.position]
    if model.word_head is None:
        return vector
    return model.word_head(vector[None].to(model.embedding.weight.device))[0].float().cpu()


@torch.no_grad()
def logits_of(model: Transformer, trace: Trace, answer: Answer) -> Float[Tensor, " answer"] | None:
    """The logits of the answer, read from the trace where it holds them; None without a head."""
    if trace.logits is not None:
        return trace.logits if answer.position is None else trace.logits[answer.position]
    vector = vector_read(model, trace, answer)
    if vector is None:
        return None
    there = vector[None].to(model.embedding.weight.device)
    logits = model.predict(there) if model.classifier is None else model.classifier(there)
    return logits[0].float().cpu()


def probabilities_of(logits: Float[Tensor, " answer"]) -> Float[Tensor, " answer"]:
    """The softmax of the logits, in float64."""
    return logits.double().softmax(dim=-1)
