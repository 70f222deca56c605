"""What is known of every position of a trace beside its numbers: token, span, word, special mark, segment."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from model.config import Config
from model.tokenizer import Encoding, Tokenizer
from model.trace import StackTrace, Trace


@dataclass(frozen=True, kw_only=True)
class CutText:
    """The tokens of a text that a stack reads, and how many at its end did not fit."""

    encoding: Encoding
    dropped: int = 0


def cut(encoding: Encoding, longest: int) -> CutText:
    """A text of at most so many tokens."""
    kept = encoding.cut(longest)
    return CutText(encoding=kept, dropped=len(encoding.ids) - len(kept.ids))


def typed_target(text: str, tokenizer: Tokenizer, config: Config) -> Encoding:
    """A target text as the decoder reads it: the start token, then the text, without the end that it predicts."""
    typed = tokenizer.encode_target(text)
    if typed.ids[-1] == config.end_id:
        typed = Encoding(**{name: values[:-1] for name, values in vars(typed).items()})
    start = int(config.start_id or 0)
    added = Encoding(
        ids=(start,), tokens=tokenizer.pieces([start]), spans=(None,), words=(None,), special=(True,), segments=(0,)
    )
    return Encoding(**{name: values + getattr(typed, name) for name, values in vars(added).items()})


def produced_target(ids: Sequence[int], tokenizer: Tokenizer, config: Config) -> Encoding:
    """Ids that the decoder of a pair has read: the start, then what it produced itself.

    The words are known where the text of the ids is cut into the same tokens again; else every token is its own.
    """
    start, *rest = ids
    text = tokenizer.decode(rest)
    again = tokenizer.encode_target(text) if text.strip() else None
    same = again is not None and list(again.ids[: len(rest)]) == rest
    return Encoding(
        ids=(start, *rest),
        tokens=tokenizer.pieces(list(ids)),
        spans=(None,) * len(ids),
        words=(None, *(again.words[: len(rest)] if again is not None and same else range(len(rest)))),
        special=(True, *(token_id == config.end_id for token_id in rest)),
        segments=(0,) * len(ids),
    )


def with_tokens(trace: Trace, tokenizer: Tokenizer) -> Trace:
    """The trace with display pieces for its ids, which is all that is known of ids without a text."""

    def named(stack: StackTrace | None) -> StackTrace | None:
        return None if stack is None else replace(stack, tokens=tokenizer.pieces(stack.ids.tolist()))

    return replace(trace, encoder=named(trace.encoder), decoder=named(trace.decoder))


def with_texts(trace: Trace, source: CutText, target: CutText | None = None) -> Trace:
    """The trace with the facts of the text that it is of, and of the decoder's text in a pair.

    A decoder that went on after its text is left as it is: the tokens that it wrote have no place in the text.
    """
    if trace.encoder is not None:
        trace = replace(trace, encoder=with_text(trace.encoder, source))
    elif trace.decoder is not None and len(source.encoding.ids) == len(trace.decoder.ids):
        trace = replace(trace, decoder=with_text(trace.decoder, source))
    if target is not None and trace.decoder is not None:
        trace = replace(trace, decoder=with_text(trace.decoder, target))
    return trace


def with_text(stack: StackTrace, text: CutText) -> StackTrace:
    """A stack's trace with the tokens, spans, words, special marks and segments of its text."""
    facts = {name: value for name, value in vars(text.encoding).items() if name != "ids"}
    return replace(stack, dropped=text.dropped, **facts)
