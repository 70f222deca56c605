"""The lines of Python that make a trace again, with the decoder's text however it came to be."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

METHODS = {"greedy": "greedy decoding", "beam": "beam search", "sample": "sampling"}
RANKS = ("best", "second best", "third best")


@dataclass(frozen=True, kw_only=True)
class Target:
    """What the decoder of an encoder-decoder read: typed, or produced by ``Checkpoint.generate``.

    options: what ``generate`` was asked for beside text and edits, ``max_tokens`` among it; None: the text was typed.
    rank: which of the texts that a beam search ended with, the best first, from 0.
    """

    text: str
    options: Mapping[str, object] | None = None
    rank: int = 0

    @property
    def by(self) -> str:
        """ "typed"; "beam search, width 4, length penalty 0.6, second best"."""
        if self.options is None:
            return "typed"
        method = str(self.options.get("method", "greedy"))
        named = [f"{name.replace('_', ' ')} {value}" for name, value in self.options.items() if name != "method"]
        rank = RANKS[self.rank] if self.rank < len(RANKS) else f"number {self.rank + 1}"
        return ", ".join([METHODS.get(method, method), *named, *([rank] if method == "beam" else [])])


def trace_code(
    text: str,
    edits: str = "",
    *,
    pair: str = "",
    target: Target | None = None,
    written: Sequence[int] | None = None,
    name: str = "trace",
) -> str:
    """Lines that end with the one that gives ``name`` its trace; ``checkpoint`` is loaded before them.

    edits: the argument as it stands in a call, ", edits=edits". target: of an encoder-decoder; None: greedy decoding,
    as ``Checkpoint.trace`` does it. written: of a decoder, the ids that it read after the text; None: the text alone.
    ValueError for both of them, which no model has.
    """
    if target is not None and written is not None:
        raise ValueError("found a target and written ids, wanted one of them")
    if written is not None:
        return _written(text, edits, written, name)
    if target is not None and target.options is not None:
        return _generated(text, edits, target, target.options, name)
    named = {"pair": pair, "target": target.text if target is not None else ""}
    arguments = "".join(f", {argument}={value!r}" for argument, value in named.items() if value)
    return f"{name} = checkpoint.trace({text!r}{arguments}{edits})"


def _written(text: str, edits: str, written: Sequence[int], name: str) -> str:
    prompt = f"prompt = checkpoint.tokenizer.encode({text!r}).cut(checkpoint.longest).ids"
    ids = "".join(f", {token_id}" for token_id in written)
    return f"{prompt}\n{name} = checkpoint.trace_ids([*prompt{ids}]{edits})"


def _generated(text: str, edits: str, target: Target, options: Mapping[str, object], name: str) -> str:
    asked = "".join(f", {option}={value!r}" for option, value in options.items())
    chosen = f"generation = [generation, *generation.alternatives][{target.rank}]  # the best first, from 0"
    return "\n".join(
        [
            f"generation = checkpoint.generate({text!r}{asked}{edits})",
            *([chosen] if target.rank else []),
            f"assert generation.text == {target.text!r}, generation.text",
            f"{name} = generation.trace",
        ]
    )
