"""The reference: a tiny random model of the transformers library, saved as people save it, and what it computes.

Its attention is read off while it runs, as calls of torch: the product before a softmax is of queries and keys, that
after it of weights and values. So nothing here follows the library's own code, whose names change.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor
from torch.overrides import TorchFunctionMode

from model import Trace, load_checkpoint
from model.trace import AttentionTrace, StackTrace

MATMULS = (torch.matmul, Tensor.matmul, Tensor.__matmul__)


@dataclass
class Recorded:
    """One attention of the reference, in the order in which they run; key and value once for every query head."""

    query: Tensor
    key: Tensor
    scores: Tensor
    weights: Tensor
    value: Tensor | None = None
    context: Tensor | None = None


@dataclass
class Recorder(TorchFunctionMode):
    """Keeps what goes into and comes out of every attention that runs inside it."""

    attentions: list[Recorded] = field(default_factory=list)
    factors: tuple[Tensor, Tensor] | None = None

    def __post_init__(self) -> None:
        super().__init__()

    def __torch_function__(
        self, function: Callable[..., Any], types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = function(*args, **(kwargs or {}))
        if function in MATMULS and args[0].ndim == 4:
            waiting = self.attentions and self.attentions[-1].context is None
            if waiting:
                self.attentions[-1].value, self.attentions[-1].context = args[1][0], result[0]
            self.factors = None if waiting else (args[0], args[1])
        if function is torch.nn.functional.softmax and self.factors is not None:
            query, key = self.factors
            self.attentions.append(Recorded(query[0], key[0].mT, args[0][0], result[0]))
        return result


@dataclass
class Reference:
    """A saved reference model and its folder."""

    model: Any
    folder: Path

    def run(self, **inputs: list[int]) -> tuple[Any, list[Recorded]]:
        """The library's output for ids, and every attention on the way."""
        with torch.no_grad(), Recorder() as recorder:
            output = self.model(
                **{name: torch.tensor([ids]) for name, ids in inputs.items()}, output_hidden_states=True
            )
        return output, recorder.attentions


def make(kind: str, folder: Path, seed: int = 0, dtype: torch.dtype = torch.float32, **fields: Any) -> Reference:
    """A model of this class with every tensor random, saved in ``folder``; options of saving start with "save_"."""
    save = {name.removeprefix("save_"): fields.pop(name) for name in list(fields) if name.startswith("save_")}
    model_class = getattr(transformers, kind)
    config = model_class.config_class(**fields)
    config._attn_implementation = "eager"
    torch.manual_seed(seed)
    model = model_class(config).eval()
    randomise(model, seed)
    if dtype != torch.float32:
        model.to(dtype).save_pretrained(folder, **save)
        return reread(Reference(model, folder))
    model.save_pretrained(folder, **save)
    return Reference(model, folder)


def reread(reference: Reference) -> Reference:
    """What the library makes of the folder now, in float32: buffers too, which half precision would have rounded."""
    model = type(reference.model).from_pretrained(reference.folder, dtype=torch.float32, attn_implementation="eager")
    return Reference(model.eval(), reference.folder)


def randomise(model: torch.nn.Module, seed: int) -> None:
    """Noise in every tensor: no bias is 0, no norm does nothing, no attention is even."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, buffer in model.named_buffers():
            if name == "final_logits_bias":
                buffer.copy_(torch.randn(buffer.shape, generator=generator))
        for name, parameter in model.named_parameters():
            if not parameter.requires_grad or ("marian" in type(model).__module__ and "embed_positions" in name):
                continue  # sinusoids, which are not stored
            noise = torch.randn(parameter.shape, generator=generator)
            parameter.copy_(0.25 * noise if parameter.ndim > 1 else parameter + 0.2 * noise)


def ids(count: int, vocabulary: int, seed: int = 0, least: int = 0) -> list[int]:
    """Random ids."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(least, vocabulary, (count,), generator=generator).tolist()


def assert_same(ours: Tensor, theirs: Tensor, what: str) -> None:
    """Equal within 1e-5 and five millionths of the largest number."""
    assert ours.shape == theirs.shape, f"{what}: {tuple(ours.shape)}, expected {tuple(theirs.shape)}"
    bound = 1e-5 + 5e-6 * float(theirs.abs().max())
    apart = float((ours - theirs.float()).abs().max())
    assert apart <= bound, f"{what}: {apart:.2e} apart, at most {bound:.2e} allowed"


def assert_same_attention(ours: AttentionTrace, theirs: Recorded, what: str) -> None:
    """Every step of one attention."""
    assert theirs.value is not None
    assert theirs.context is not None
    group = ours.query.shape[0] // ours.key.shape[0]
    assert_same(ours.query, theirs.query, f"{what} query")
    assert_same(ours.key.repeat_interleave(group, dim=0), theirs.key, f"{what} key")
    assert_same(ours.value.repeat_interleave(group, dim=0), theirs.value, f"{what} value")
    seen = ours.mask.expand_as(ours.scores)
    assert (theirs.scores[~seen] < -1e30).all(), f"{what}: the masks differ"
    assert_same(ours.scores[seen], theirs.scores[seen], f"{what} scores")
    assert (ours.scores[~seen] == -torch.inf).all()
    assert_same(ours.weights, theirs.weights, f"{what} weights")
    assert_same(ours.context, theirs.context, f"{what} context")


def assert_same_stack(ours: StackTrace, attentions: list[Recorded], states: Sequence[Tensor], what: str) -> None:
    """Every attention and the stream of every layer; ``states`` as the library returns them."""
    assert len(ours.blocks) == len(states) - 1
    assert_same(ours.embedding.total, states[0][0], f"{what} embedding")
    for layer, block in enumerate(ours.blocks):
        assert_same_attention(block.self_attention, attentions.pop(0), f"{what} {layer}")
        if block.cross_attention is not None:
            assert_same_attention(block.cross_attention, attentions.pop(0), f"{what} {layer} cross")
        last = layer + 1 == len(ours.blocks)  # where there is a last norm, the library's last state is after it
        assert_same(ours.final if last else block.stream_out, states[layer + 1][0], f"{what} {layer} stream")


def assert_same_model(reference: Reference, inputs: dict[str, list[int]]) -> Trace:
    """Load the saved model as ours, run both on the same ids, compare everything; our trace."""
    checkpoint = load_checkpoint(reference.folder, device="cpu")
    names = {"input_ids": "ids", "token_type_ids": "type_ids", "decoder_input_ids": "target_ids"}
    given: Any = {names[name]: numbers for name, numbers in inputs.items()}
    ours = checkpoint.trace_ids(**given)
    theirs, attentions = reference.run(**inputs)
    if ours.encoder is not None and ours.decoder is not None:
        assert_same_stack(ours.encoder, attentions, theirs.encoder_hidden_states, "encoder")
        assert_same_stack(ours.decoder, attentions, theirs.decoder_hidden_states, "decoder")
    else:
        stack = ours.encoder or ours.decoder
        assert stack is not None
        assert_same_stack(stack, attentions, theirs.hidden_states, "layer")
    assert not attentions
    if "logits" in theirs:
        assert ours.logits is not None
        assert_same(ours.logits, theirs.logits[0], "logits")
    return ours
