"""What an LSTM and a Transformer of as many parameters cost: time and memory, by the length of the text.

The Transformer is measured twice: ours, which keeps every weight, and the same layers of PyTorch, which keep none and
have one kernel for all of attention.
"""

import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from jaxtyping import Bool, Int
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from model.config import Config
from model.measures.learn.durations import least_seconds
from model.measures.learn.recurrence.recurrent_classifier import Classified, RecurrentClassifier, state_width
from model.transformer import Transformer

LENGTHS = (16, 32, 64, 128, 256, 512, 1024)
MODELS = ("lstm", "transformer", "fused")
MILLISECONDS = 1000
LONG_ENOUGH = 0.5  # seconds
VOCABULARY = 1000  # pieces: looking a row up takes as long in any table


@dataclass(frozen=True, kw_only=True)
class Cost:
    """One model at one length, one text at a time. Milliseconds are the least of several, bytes are at their peak.

    waits: steps of a forward pass of one layer that each need the one before. The weights are not counted.
    """

    model: str
    tokens: int
    forward_ms: float
    training_ms: float
    forward_bytes: int
    training_bytes: int
    waits: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def measured_config() -> Config:
    """The Transformer that is measured, and trained beside the LSTM, but for its vocabulary."""
    return Config(
        architecture="encoder", vocabulary=VOCABULARY, width=64, heads=4, layers=2, hidden=256, max_length=LENGTHS[-1],
        norm_order="pre", activation="gelu", dropout=0.0, labels=("negative", "positive"),
    )  # fmt: skip


def measured_models(seed: int = 0) -> dict[str, nn.Module]:
    """All, by the names of MODELS, with fresh weights."""
    config = measured_config()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        transformer = Transformer(config)
        lstm = RecurrentClassifier(config, state_width(config, transformer.parameter_count()))
        return {"lstm": lstm, "transformer": transformer, "fused": FusedTransformer(config)}


class FusedTransformer(nn.Module):
    """The same layers as PyTorch has them; positions are left out, for they cost nothing."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.embedding = nn.Embedding(config.vocabulary, config.width)
        layer = nn.TransformerEncoderLayer(
            config.width, config.heads, config.hidden, config.dropout, config.activation, batch_first=True,
            norm_first=config.norm_order == "pre",
        )  # fmt: skip
        self.layers = nn.TransformerEncoder(
            layer, config.layers, norm=nn.LayerNorm(config.width), enable_nested_tensor=False
        )
        self.classifier = nn.Linear(config.width, len(config.labels))

    def forward(self, ids: Int[Tensor, "text position"], *, padding_mask: Bool[Tensor, "text position"]) -> Classified:
        """The logits of texts without padding."""
        return Classified(self.classifier(self.layers(self.embedding(ids)).mean(dim=1)))


def described_models() -> dict[str, int]:
    """How many parameters each has."""
    return {name: sum(each.numel() for each in model.parameters()) for name, model in measured_models().items()}


def costs(lengths: Sequence[int] = LENGTHS, rounds: int = 5, *, long_enough: float = LONG_ENOUGH) -> Iterator[Cost]:
    """Every model at every length, shortest first, each as soon as it is measured.

    long_enough: seconds after which no further round of the same pass begins.
    """
    models = measured_models()
    for tokens in lengths:
        for name, model in models.items():
            yield cost(name, model, tokens, rounds, long_enough)


def cost(name: str, model: nn.Module, tokens: int, rounds: int, long_enough: float) -> Cost:
    """One model at one length; a first round is not counted."""
    ids = torch.randint(VOCABULARY, (1, tokens), generator=torch.Generator().manual_seed(tokens))
    forward, step = passes(model, ids)
    forward(), step()
    return Cost(
        model=name,
        tokens=tokens,
        forward_ms=least_ms(forward, rounds, long_enough),
        training_ms=least_ms(step, rounds, long_enough),
        forward_bytes=peak_bytes(forward),
        training_bytes=peak_bytes(step),
        waits=waits(name, tokens),
    )


def passes(model: nn.Module, ids: Tensor) -> tuple[Callable[[], object], Callable[[], object]]:
    """A forward pass without gradients, and a training step: forward, loss, backward."""
    everything, truth = torch.ones_like(ids, dtype=torch.bool), torch.ones(len(ids), dtype=torch.int64)

    def forward() -> object:
        with torch.no_grad():
            return model(ids, padding_mask=everything)

    def step() -> object:
        model.zero_grad(set_to_none=True)
        nn.functional.cross_entropy(model(ids, padding_mask=everything).logits, truth).backward()
        return None

    return forward, step


def least_ms(call: Callable[[], object], rounds: int, long_enough: float) -> float:
    """Milliseconds that one call takes on the clock: the least of so many rounds, or of those in the time."""
    return MILLISECONDS * least_seconds([call], rounds, long_enough)[0]


def waits(name: str, tokens: int) -> int:
    """Steps of one layer that each need the one before: "Attention Is All You Need", table 1, sequential operations."""
    return tokens if name == "lstm" else 1


def ratio(cost: Cost, other: Cost) -> float:
    """How many times as long a forward pass takes."""
    return cost.forward_ms / other.forward_ms


def faster_from(costs: Sequence[Cost], name: str, other: str = "lstm") -> int | None:
    """The shortest length from which on one model's forward pass is faster than the other's; None where it never is."""
    times = {(cost.model, cost.tokens): cost.forward_ms for cost in costs}
    lengths = sorted({cost.tokens for cost in costs})
    faster = [times[name, tokens] < times[other, tokens] for tokens in lengths]
    return next((tokens for place, tokens in enumerate(lengths) if all(faster[place:])), None)


def peak_bytes(call: Callable[[], object]) -> int:
    """The most memory that tensors made by a call held at one time, in this thread alone."""
    with LiveBytes() as live:
        result = call()
    del result
    return live.peak


class LiveBytes(TorchDispatchMode):
    """Counts the bytes behind the tensors that operations return, as long as anything holds them.

    What an operation needs while it runs, and gives back, is not seen.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.now, self.peak = 0, 0
        self.sizes: dict[weakref.ref[torch.UntypedStorage], int] = {}
        self.lock = threading.RLock()  # storages may go in another thread

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = {id(storage) for storage in storages((args, kwargs))}
        result = func(*args, **(kwargs or {}))
        for storage in storages(result):
            if id(storage) not in given:
                self.hold(storage)
        return result

    def hold(self, storage: torch.UntypedStorage) -> None:
        """Count a storage until it is gone."""
        reference = weakref.ref(storage, self.let_go)
        with self.lock:
            if reference not in self.sizes:
                self.sizes[reference] = storage.nbytes()
                self.now += storage.nbytes()
                self.peak = max(self.peak, self.now)

    def let_go(self, reference: "weakref.ref[torch.UntypedStorage]") -> None:
        with self.lock:
            self.now -= self.sizes.pop(reference, 0)


def storages(values: Any) -> list[torch.UntypedStorage]:
    return [leaf.untyped_storage() for leaf in tree_leaves(values) if isinstance(leaf, Tensor)]
