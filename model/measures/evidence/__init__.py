"""Every kind of number of a pass, compared with a computation that shares no code with the one that made it."""

from collections.abc import Callable, Iterator

from model.checkpoint import Checkpoint
from model.edits import NO_EDITS, Edits, HeadSite
from model.measures.evidence import laws, plain_loops, torch_kernels
from model.measures.evidence.agreement import Check, CheckResult, Comparison, Skipped, gather
from model.measures.evidence.checked_numbers import CHECKS
from model.measures.evidence.checked_pass import Pass
from model.measures.evidence.numpy_pass import from_stored_weights
from model.trace import Trace

__all__ = ["CHECKS", "STAGES", "Check", "CheckResult", "Comparison", "Skipped", "evidence", "gather"]

# What is computed, in the words of a line that says so, and by what.
STAGES: dict[str, Callable[[Pass], Iterator[Comparison | Skipped]]] = {
    "every step again in NumPy, from the stored weights": from_stored_weights,
    "torch's fused attention on the same queries, keys and values": torch_kernels.fused_attention,
    "torch's own layers with the same weights": torch_kernels.layers,
    "the sums of all rows": laws.rows,
    "the sums of the stream": laws.sums,
    "the same pass once more": laws.same_bits,
    "the text in a padded batch": laws.batch,
    "half of the text": laws.causal,
    "the text at other positions": laws.shifted_positions,
    "the chosen head muted in two ways": laws.muted_head,
    "sines and cosines": plain_loops.sinusoids,
    "the statistics of heads in plain loops": plain_loops.statistics,
}


def evidence(
    checkpoint: Checkpoint,
    trace: Trace,
    edits: Edits = NO_EDITS,
    *,
    head: HeadSite | None = None,
    tell: Callable[[str], object] = lambda stage: None,
) -> list[CheckResult]:
    """One finding for each of CHECKS, of the pass that made the trace with these edits.

    head: which one is muted for the check of muting; None: the first. ``tell`` is called with each of STAGES as it
    begins.
    """
    first = HeadSite("encoder" if trace.encoder is not None else "decoder", 0, 0)
    one = Pass(checkpoint=checkpoint, trace=trace, edits=edits, head=head or first)

    def results() -> Iterator[Comparison | Skipped]:
        for stage, compare in STAGES.items():
            tell(stage)
            yield from compare(one)

    return gather(CHECKS, results())
