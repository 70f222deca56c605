"""Scripts give the decoder's text back, typed, produced or written, and fail where they do not."""

import json
from functools import cache
from typing import Any

import numpy as np
import pytest

from model import Edits, HeadSite, load_checkpoint
from model.measures.one_weight import WeightSite, path_of
from tests.running import ROOT
from tests.scripts import run_script
from viz.explorer import View
from viz.explorer.snippet import snippet
from viz.export.edited_script import edited_script
from viz.export.trace_code import Target, trace_code
from viz.walkthrough import step_sentences

NAME, TEXT = "translate-en-fr", "The dog's \"old\"\n{bone} \\ wasn't there."
TYPED = "Le chien n'a pas \"vu\"\n{0} l'os."
BEAM = {"max_tokens": 30, "method": "beam", "width": 4, "length_penalty": 0.6}
SAMPLE = {"max_tokens": 30, "method": "sample", "temperature": 1.2, "top_k": 50, "top_p": 0.9, "seed": 3}
EDITS = Edits(muted=frozenset({HeadSite("decoder", 0, 1, "cross")}))
VIEW = View(attention="cross", words=True)
NUMBERS = """
import json
stacks = [trace.decoder] if trace.encoder is None else [trace.encoder, trace.decoder]
print(json.dumps([[stack.ids.tolist(), stack.words, stack.weights().tolist()] for stack in stacks]))
"""


@cache
def checkpoint() -> Any:
    return load_checkpoint(NAME, device="cpu")


def produced(options: dict[str, Any], rank: int, edits: Edits) -> tuple[Target, Any]:
    """A target that was produced, and the trace of it."""
    best = checkpoint().generate(TEXT, edits=edits, **options)
    chosen = [best, *best.alternatives][rank]
    return Target(text=chosen.text, options=options, rank=rank), chosen.trace


CASES: dict[str, Any] = {
    "greedy": lambda: (None, checkpoint().trace(TEXT), Edits()),
    "typed": lambda: (Target(text=TYPED), checkpoint().trace(TEXT, target=TYPED, edits=EDITS), EDITS),
    "third best": lambda: (*produced(BEAM, 2, Edits()), Edits()),
    "sampled, edited": lambda: (*produced(SAMPLE, 0, EDITS), EDITS),
}


def run(script: str, folder: Any = ROOT) -> str:
    code = f"import os, sys; sys.path.insert(0, os.getcwd()); os.chdir({str(folder)!r})\n{script}"
    ran = run_script(code)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def agrees(printed: str, trace: Any) -> None:
    """Ids and words are the same, weights but for the order in which they were added up."""
    stacks = [stack for stack in (trace.encoder, trace.decoder) if stack is not None]
    for (ids, words, weights), stack in zip(json.loads(printed), stacks, strict=True):
        assert ids == stack.ids.tolist()
        assert (words and tuple(words)) == stack.words
        assert np.abs(np.array(weights) - stack.weights().numpy()).max() < 1e-5


@pytest.mark.parametrize("case", CASES)
def test_the_script_of_a_view_reads_the_same_target(case, tmp_path):
    target, trace, edits = CASES[case]()
    agrees(run(snippet(NAME, TEXT, VIEW, edits, target=target) + NUMBERS, tmp_path), trace)


@pytest.mark.parametrize("case", ["typed", "third best"])
def test_the_script_of_a_weight_asserts_the_weight_of_that_target(case):
    target, trace, edits = CASES[case]()
    site = WeightSite(attention="cross", layer=1, head=2, query=4, key=3)
    path = path_of(checkpoint().model, trace, site, edits)
    script = step_sentences.script(path, checkpoint=NAME, text=TEXT, pair="", target=target)
    printed = [float(line.split()[-1]) for line in run(script).splitlines()]
    assert printed == pytest.approx([path.weight()] * 4, abs=1e-5)


def test_a_script_that_produces_another_text_fails():
    target, _ = produced(BEAM, 1, Edits())
    script = snippet(NAME, TEXT, VIEW, Edits(), target=Target(text=target.text + "!", options=BEAM, rank=1))
    ran = run_script(script)
    assert ran.returncode == 1
    assert "AssertionError" in ran.stderr


def test_both_runs_of_a_broken_script_read_the_target(tmp_path):
    script = edited_script(NAME, TEXT, EDITS, Target(text=TYPED), writes=True)
    before = checkpoint().trace(TEXT, target=TYPED)
    checks = f"""
assert before.decoder.ids.tolist() == after.decoder.ids.tolist() == {before.decoder.ids.tolist()}
"""
    assert run(script + checks).count("decoder, layer") == len(before.decoder.blocks)


def test_the_script_of_a_continued_text_reads_its_ids_verbatim(tmp_path):
    stories = load_checkpoint("stories", device="cpu")
    prompt, written = stories.tokenizer.encode("Once upon a time").ids, (17, 30, 5)
    edits = Edits(muted=frozenset({HeadSite("decoder", 0, 1)}))
    script = snippet("stories", "Once upon a time", View(attention="decoder"), edits, written=written)
    agrees(run(script + NUMBERS, tmp_path), stories.trace_ids([*prompt, *written], edits=edits))


def test_a_target_and_written_ids_together_are_refused():
    with pytest.raises(ValueError, match="wanted one of them"):
        trace_code("a", target=Target(text="b"), written=())


@pytest.mark.parametrize(
    ("target", "by"),
    [
        (Target(text="a"), "typed"),
        (Target(text="a", options={"method": "greedy", "max_tokens": 9}), "greedy decoding, max tokens 9"),
        (Target(text="a", options={}), "greedy decoding"),
        (Target(text="a", options={"method": "sample", "seed": 3}), "sampling, seed 3"),
        (Target(text="a", options={"method": "beam", "width": 4}), "beam search, width 4, best"),
        (Target(text="a", options={"method": "beam", "width": 4}, rank=1), "beam search, width 4, second best"),
        (Target(text="a", options={"method": "beam", "width": 8}, rank=5), "beam search, width 8, number 6"),
    ],
)
def test_a_target_says_how_it_came_to_be(target, by):
    assert target.by == by
