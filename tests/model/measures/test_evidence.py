"""How we know: each check passes on models of every kind, and fails, by name, where the number it checks is false."""

import math
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
import torch

from model import Edits, HeadSite, load_checkpoint
from model.measures.evidence import CHECKS, Check, CheckResult, Comparison, Skipped, evidence, gather
from model.measures.head_statistics import head_statistics
from tests import tiny
from tests.folders import KINDS, make_folders
from tests.model.edits.test_edits import VARIANTS, edits_for

TEXT = "the dog bit the man . a cat saw"
IDS = [5, 9, 2, 30, 41, 7]
NAMES = [check.name for check in CHECKS]


def checkpoint_of(variant: str) -> Any:
    settings = dict(VARIANTS[variant])
    return tiny.checkpoint(settings.pop("architecture", "encoder"), **settings)


def traced(checkpoint: Any, edits: Any = None) -> Any:
    both = checkpoint.config.architecture == "encoder-decoder"
    return checkpoint.trace_ids(IDS, [1, 7, 8, 9] if both else None, edits=edits or Edits())


def failed(findings: list[CheckResult]) -> set[str]:
    return {finding.check.name for finding in findings if finding.passed is False}


def named(findings: list[CheckResult], name: str) -> CheckResult:
    return next(finding for finding in findings if finding.check.name == name)


def falsified(record: Any, path: str, by: float = 0.01) -> Any:
    """The record with the first number of one of its tensors, named by the way to it, changed."""
    name, _, rest = path.partition(".")
    if isinstance(record, tuple):
        place = int(name)
        return (*record[:place], falsified(record[place], rest, by), *record[place + 1 :])
    value = getattr(record, name)
    if rest:
        return replace(record, **{name: falsified(value, rest, by)})
    if isinstance(value, float):
        return replace(record, **{name: value + by})
    wrong, first = value.clone(), (0,) * value.ndim
    wrong[first] = ~wrong[first] if wrong.dtype == torch.bool else wrong[first] + by
    if not isinstance(getattr(type(record), name, None), property):
        return replace(record, **{name: wrong})
    # What a record computes of its fields is falsified by a subclass; a copy of the record stays one of it.
    false_kind = type(type(record).__name__, (type(record),), {name: property(lambda self: wrong)})
    return false_kind(**{field.name: getattr(record, field.name) for field in fields(record)})


# What is right passes


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_check_passes_or_says_why_not_with_every_edit(variant):
    checkpoint = checkpoint_of(variant)
    for edits in [Edits(), *(edits for edits, _ in edits_for(variant).values())]:
        findings = evidence(checkpoint, traced(checkpoint, edits), edits)
        assert [finding.check.name for finding in findings] == NAMES
        assert failed(findings) == set(), edits
        for finding in findings:
            assert finding.count > 0 if finding.passed else finding.reason.endswith("."), finding


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {folder.name: folder for folder in make_folders(tmp_path_factory.mktemp("checkpoints"))}


@pytest.mark.parametrize("kind", [*KINDS, "own"])
def test_every_family_passes_with_a_text_of_its_own(kind, folders):
    checkpoint = load_checkpoint(folders[kind], device="cpu")
    findings = evidence(checkpoint, checkpoint.trace(TEXT))
    assert failed(findings) == set()
    assert sum(finding.passed is True for finding in findings) >= 24


def test_a_pair_of_texts_passes(folders):
    checkpoint = load_checkpoint(folders["bert"], device="cpu")
    assert failed(evidence(checkpoint, checkpoint.trace(TEXT, pair="a cat saw"))) == set()


@pytest.mark.parametrize("ids", [[5], [5] * 30, [5] * 32])
def test_one_token_and_a_full_model_pass(ids):
    for architecture in ("encoder", "decoder"):
        checkpoint = tiny.checkpoint(architecture, positions="learned")
        findings = evidence(checkpoint, checkpoint.trace_ids(ids))
        assert failed(findings) == set()
        assert (named(findings, "batch").passed is None) == (len(ids) == 32)


def test_weights_kept_in_half_precision_pass():
    checkpoint = tiny.checkpoint("decoder", norm_order="pre")
    tiny.stored_in(checkpoint.model, torch.bfloat16)
    assert failed(evidence(checkpoint, traced(checkpoint))) == set()


# What is false fails


BLOCK = "blocks.1.self_attention"
# Check → the variant, and the tensor of its trace that is falsified.
FALSE: dict[str, tuple[str, str]] = {
    **{
        name: ("pre", f"encoder.{BLOCK}.{name}")
        for name in ("input", "query", "key", "value", "products", "scale", "mask", "scores", "weights", "context")
    },
    "output": ("pre", f"encoder.{BLOCK}.output"),
    "bias": ("t5", f"decoder.{BLOCK}.bias"),
    "fused": ("paper", "decoder.blocks.1.cross_attention.context"),
    "rows": ("llama", f"decoder.{BLOCK}.weights"),
    "causal": ("gpt", f"decoder.{BLOCK}.weights"),
    "entering": ("gpt", "decoder.embedding.total"),
    "stream": ("gemma", "decoder.blocks.1.stream_in"),
    "fed": ("neox", "decoder.blocks.1.feed_forward.input"),
    "hidden": ("llama", "decoder.blocks.1.feed_forward.hidden"),
    "fed-forward": ("t5", "encoder.blocks.0.feed_forward.output"),
    "final": ("t5", "encoder.final"),
    "residual": ("neox", "decoder.blocks.1.stream_out"),
    "layers": ("paper", "decoder.blocks.1.stream_out"),
    "batch": ("uneven", "decoder.final"),
    "again": ("alibi", f"decoder.{BLOCK}.key"),
    "tokens": ("bert", "encoder.embedding.token"),
    "positions": ("bert", "encoder.embedding.position"),
    "sinusoids": ("paper", "decoder.embedding.position"),
    "sum": ("bert", "encoder.embedding.total"),
    "shifted": ("llama", f"decoder.{BLOCK}.weights"),
    "pooled": ("pre", "pooled"),
    "logits": ("bert", "logits"),
    "probabilities": ("pre", "logits"),
}
# A number that others are made of falsifies what is made of it on the screen.
ALSO = {
    "input": set(), "query": {"fused", "products", "scores"}, "key": {"fused", "products", "scores"},
    "value": {"fused"}, "products": {"scores"}, "scale": {"fused", "scores"}, "scores": set(),
    "mask": {"forbidden", "fused", "layers", "scores"}, "weights": {"rows", "statistics", "batch"},
    "context": {"fused"}, "output": {"residual"}, "bias": {"fused", "scores"}, "pooled": set(),
    "final": {"batch", "shifted"},
    "fed": set(), "hidden": set(), "entering": {"sum"}, "sum": {"entering"}, "stream": {"residual"},
    "fed-forward": {"residual"},
}  # fmt: skip
COMPUTED = {"products", "scores"}  # a trace stores neither, so that "again" has nothing to compare


@pytest.mark.parametrize("name", FALSE)
def test_a_false_number_fails_its_own_check_which_names_the_place(name):
    variant, path = FALSE[name]
    checkpoint = checkpoint_of(variant)
    trace = traced(checkpoint)
    finding = named(evidence(checkpoint, falsified(trace, path)), name)
    assert named(evidence(checkpoint, trace), name).passed is True
    assert finding.passed is False
    assert finding.difference > finding.allowed
    assert abs(abs(finding.ours - finding.expected) - finding.difference) < 1e-12
    place = dict(finding.place)
    assert place.get("stack", path.split(".")[0]) == path.split(".")[0]
    if "blocks.1" in path and name != "again":
        assert place["layer"] == 1


@pytest.mark.parametrize("name", ALSO)
def test_a_false_number_fails_no_check_of_another_number(name):
    variant, path = FALSE[name]
    checkpoint = checkpoint_of(variant)
    failures = failed(evidence(checkpoint, falsified(traced(checkpoint), path)))
    assert ({name} if name in COMPUTED else {name, "again"}) <= failures
    assert failures <= {name, "again", *ALSO[name]}


def test_weight_that_the_mask_forbids_is_found():
    checkpoint = checkpoint_of("gpt")
    trace = traced(checkpoint)
    weights = trace.decoder.blocks[0].self_attention.weights.clone()
    weights[2, 1, 3] += 1e-30  # far too little for any other check
    attention = replace(trace.decoder.blocks[0].self_attention, weights=weights)
    blocks = (replace(trace.decoder.blocks[0], self_attention=attention), *trace.decoder.blocks[1:])
    finding = named(evidence(checkpoint, replace(trace, decoder=replace(trace.decoder, blocks=blocks))), "forbidden")
    assert finding.passed is False
    assert finding.ours == pytest.approx(1e-30)
    assert dict(finding.place)["head"] == 2


def test_a_weight_that_changed_since_fails_from_its_own_number_on():
    checkpoint = checkpoint_of("pre")
    trace = traced(checkpoint)
    with torch.no_grad():
        checkpoint.model.encoder.blocks[1].self_attention.key.weight[0, 0] += 0.5
    findings = evidence(checkpoint, trace)
    assert {"key", "products", "scores", "weights", "context", "stream", "logits", "layers", "again"} <= failed(
        findings
    )
    assert not {"input", "query", "value", "tokens", "positions", "entering", "sum"} & failed(findings)
    assert dict(named(findings, "key").place)["layer"] == 1


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_none_is_a_failure(wrong):
    checkpoint = checkpoint_of("pre")
    finding = named(evidence(checkpoint, falsified(traced(checkpoint), f"encoder.{BLOCK}.query", wrong)), "query")
    assert finding.passed is False
    assert finding.difference == math.inf


def test_a_head_that_is_not_muted_is_found(monkeypatch):
    monkeypatch.setattr("model.attention.zero_ablate", lambda context, heads: context)
    checkpoint = checkpoint_of("uneven")
    findings = evidence(checkpoint, traced(checkpoint), head=HeadSite("decoder", 2, 1, "cross"))
    assert failed(findings) == {"muted"}
    assert named(findings, "muted").place[:3] == (("stack", "decoder"), ("layer", 2), ("head", 1))


@pytest.mark.parametrize("statistic", ["entropy", "distance", "first"])
def test_a_false_statistic_is_found(statistic, monkeypatch):
    right = head_statistics

    def wrong(*given: Any, **options: Any) -> Any:
        statistics = right(*given, **options)
        return statistics | {statistic: statistics[statistic] * 1.001}

    monkeypatch.setattr("model.measures.evidence.plain_loops.head_statistics", wrong)
    checkpoint = checkpoint_of("pre")
    findings = evidence(checkpoint, traced(checkpoint))
    assert failed(findings) == {"statistics"}
    assert dict(named(findings, "statistics").place)["statistic"] == statistic


def test_padding_that_is_seen_is_found(monkeypatch):
    monkeypatch.setattr("model.transformer.restrict", lambda mask, padding_mask: mask)
    checkpoint = checkpoint_of("pre")
    assert failed(evidence(checkpoint, traced(checkpoint))) == {"batch"}


# The findings themselves


CHECK = Check(name="a", group="stream", quantity="a", screen="", reference="", absolute=0.1, relative=0.0)


def compared(ours: Any, expected: Any, **place: int) -> Comparison:
    return Comparison(check="a", ours=np.array(ours), expected=np.array(expected), place=place, axes=("row",))


def test_of_all_numbers_the_worst_is_told_and_all_are_counted():
    comparisons = [compared([1.0, 2.0], [1.0, 2.05], layer=0), compared([1.0, 5.0, 3.0], [1.0, 4.0, 3.0], layer=1)]
    (finding,) = gather([CHECK], comparisons)
    assert (finding.passed, finding.count, finding.place) == (False, 5, (("layer", 1), ("row", 1)))
    assert (finding.ours, finding.expected, finding.difference, finding.allowed) == (5.0, 4.0, 1.0, 0.1)


def test_what_is_silent_empty_or_of_another_shape_fails_and_a_comparison_counts_more_than_a_reason():
    assert gather([CHECK], [])[0].passed is False
    assert gather([CHECK], [compared([], [])])[0].passed is False
    assert gather([CHECK], [compared([1.0], [1.0, 1.0])])[0].passed is False
    skipped = Skipped(check="a", reason="No.")
    assert gather([CHECK], [skipped])[0].passed is None
    assert gather([CHECK], [skipped, compared([1.0], [1.0])])[0].passed is True
    assert gather([CHECK], [compared([1.0], [1.0]), skipped])[0].passed is True


def test_two_infinities_are_the_same_and_two_nans_are_not():
    assert gather([CHECK], [compared([-math.inf], [-math.inf])])[0].passed is True
    assert gather([CHECK], [compared([-math.inf], [math.inf])])[0].passed is False
    assert gather([CHECK], [compared([math.nan], [math.nan])])[0].passed is False


def test_each_part_that_torch_has_not_is_named():
    reasons = {
        "llama": "RMS norms, rotary positions inside attention, keys that heads share",
        "neox": "sublayers side by side, rotary positions inside attention",
        "gemma": "capped scores, normed queries and keys",
        "t5": "relative positions inside attention, another scale",
        "alibi": "alibi positions inside attention",
    }
    for variant, reason in reasons.items():
        checkpoint = checkpoint_of(variant)
        finding = named(evidence(checkpoint, traced(checkpoint)), "layers")
        assert finding.passed is None
        assert reason in finding.reason


def test_every_check_is_made_of_some_variant():
    passed_names = set()
    for variant in VARIANTS:
        checkpoint = checkpoint_of(variant)
        passed_names |= {finding.check.name for finding in evidence(checkpoint, traced(checkpoint)) if finding.passed}
    assert passed_names == set(NAMES)
    assert {field.name for field in fields(CheckResult)} >= {"ours", "expected", "difference", "count"}
