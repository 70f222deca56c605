"""Hashes of what the models compute: a change that only renames or moves code leaves every line of them as it was.

    python -m tests.fingerprints > before.txt        # before the change
    python -m tests.fingerprints | diff before.txt - # after it, on the same machine

A line is one field of one trace, with the digest of its numbers in float32, or what was generated. It uses the public
interface alone (README), so that it runs before and after a change inside. The bundled checkpoints, and one tiny random
model for every class of every family, each without edits and, in one line for all fields, with each edit of an address.
"""

import hashlib
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from model import Checkpoint, Edits, InputError, Trace, load_checkpoint
from tests import reference
from tests.model.families.test_families import BOTH, DECODERS, ENCODERS

TEXTS = {
    "sentiment": ("The film was slow, but I loved it.", "Not bad at all!", "a " * 70),
    "stories": ("Once upon a time there was a little girl who", "Tom had a red ball."),
    "translate-en-fr": ("The red house is big.", "My brother is a doctor, and I am not."),
}
ATTENTION = ("input", "query", "key", "value", "products", "bias", "mask", "scores", "weights", "context", "output")
EMBEDDING, FEED_FORWARD = ("token", "position", "segment", "total"), ("input", "hidden", "output")
OF_STACK = (
    "unplace_{}", "shuffle_{}7", "shift_{}3", "unmask_{}", "causal_{}", "hide_{}2", "uniform_{}0.1", "average_{}1.0",
    "mute_{}0.0_{}1.1", "weight_{}0.1.2.1-0.5", "weight_{}0.1.2.1-0.5n", "mutelayer_{}1", "noresidual_{}0.self",
    "noresidual_{}1.feed-forward", "nonorm_{}0.self.before", "nonorm_{}1.feed-forward.after", "nonorm_{}.embedding",
    "nonorm_{}.final",
)  # fmt: skip
OF_CROSS = (
    "hide_c2", "uniform_c0.1", "average_c1.0", "mute_c0.0_c1.1", "weight_c0.1.2.1-0.5", "mutelayer_c1",
    "noresidual_d0.cross", "nonorm_d0.cross.before",
)  # fmt: skip
OF_ALL = ("scale_1", "temperature_2.5", "scale_1~temperature_0.5")
WRITING = (
    {"method": "greedy"},
    {"method": "sample", "seed": 3, "temperature": 0.8, "top_k": 40, "top_p": 0.9, "repetition_penalty": 1.2},
    {"method": "beam", "width": 3, "length_penalty": 0.6},
)


def digest(value: object) -> str:
    """Of a tensor its shape and the hash of its bytes; of anything else its repr."""
    if not isinstance(value, Tensor):
        return repr(value)
    content = value.detach().cpu().contiguous().numpy().tobytes()
    return f"{tuple(value.shape)} {hashlib.sha256(content).hexdigest()[:16]}"


def of_trace(trace: Trace) -> Iterator[str]:
    """One line for every field that is there."""
    for name in ("pooled", "logits"):
        yield f"{name} {digest(getattr(trace, name))}"
    for side in ("encoder", "decoder"):
        stack = getattr(trace, side)
        if stack is None:
            continue
        for name in ("ids", "tokens", "spans", "words", "special", "segments", "final"):
            yield f"{side}.{name} {digest(getattr(stack, name))}"
        yield from (f"{side}.embedding.{name} {digest(getattr(stack.embedding, name))}" for name in EMBEDDING)
        for layer, block in enumerate(stack.blocks):
            at = f"{side}.{layer}"
            yield from (f"{at}.{name} {digest(getattr(block, name))}" for name in ("stream_in", "stream_out"))
            fed = block.feed_forward
            yield from (f"{at}.feed_forward.{name} {digest(getattr(fed, name))}" for name in FEED_FORWARD)
            for kind in ("self_attention", "cross_attention"):
                attention = getattr(block, kind)
                if attention is not None:
                    yield f"{at}.{kind}.scale {digest(attention.scale)}"
                    yield from (f"{at}.{kind}.{name} {digest(getattr(attention, name))}" for name in ATTENTION)


def of_edits(checkpoint: Checkpoint, trace: Callable[..., Trace]) -> Iterator[str]:
    """The lines of a trace, and for each edit that the model has a place for one of all its fields."""
    yield from of_trace(trace())
    sides = {"encoder": "e", "decoder": "d", "encoder-decoder": "ed"}[checkpoint.config.architecture]
    edits = [*OF_ALL, *(form.replace("{}", side) for side in sides for form in OF_STACK)]
    for text in [*edits, *(OF_CROSS if sides == "ed" else ())]:
        try:
            edited = "\n".join(of_trace(trace(edits=Edits.from_text(text))))
        except InputError:
            yield f"{text} refused"
        else:
            yield f"{text} {hashlib.sha256(edited.encode()).hexdigest()[:16]}"


def of_writing(checkpoint: Checkpoint, text: str) -> Iterator[str]:
    """What every method writes, with the logits and the trace of it."""
    for options in WRITING:
        method = options["method"]
        for edits in (Edits(), Edits.from_text("temperature_1.5")):
            written = checkpoint.generate(text, 24, edits=edits, **options)
            at = f"{method} {edits.to_text() or '-'}"
            yield f"{at} ids {written.token_ids} {written.text!r} {written.score}"
            yield from (f"{at} step {digest(step.logits)} {digest(step.after)}" for step in written.steps)
            yield from (f"{at} {line}" for line in of_trace(written.trace))


def bundled() -> Iterator[str]:
    """The lines of the checkpoints that come with the app."""
    for name, texts in TEXTS.items():
        checkpoint = load_checkpoint(name, device="cpu")
        for text in texts:
            at = f"{name} {text[:12]!r}"
            yield from (f"{at} {line}" for line in of_edits(checkpoint, partial(checkpoint.trace, text)))
            if checkpoint.config.labels:
                yield f"{at} {checkpoint.classify(text)}"
            else:
                yield from (f"{at} {line}" for line in of_writing(checkpoint, text))


def families() -> Iterator[str]:
    """The lines of tiny random models of the families."""
    for number, (kind, fields) in enumerate([*DECODERS, *ENCODERS, *BOTH]):
        with tempfile.TemporaryDirectory() as folder:
            reference.make(kind, Path(folder), **fields)
            checkpoint = load_checkpoint(folder, device="cpu")
            target = [2, *reference.ids(9, 88, seed=1)] if (kind, fields) in BOTH else None
            ids = reference.ids(12, 88)
            lines = of_edits(checkpoint, partial(checkpoint.trace_ids, ids, target))
            yield from (f"{kind}-{number} {line}" for line in lines)


if __name__ == "__main__":
    torch.use_deterministic_algorithms(mode=True)
    for line in (*bundled(), *families()):
        print(line)
