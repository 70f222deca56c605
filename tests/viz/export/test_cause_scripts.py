"""The scripts of the pages about causes: they run, and fail where a figure is another."""

from typing import Any

import numpy as np
import pytest

from model import SublayerSite, load_checkpoint
from model.measures.causes.ablation import head_ablation, mean_contexts
from model.measures.causes.contributions import logit_parts, runner_up
from model.measures.causes.token_shares import attention_shares
from pages.parts.explanation.token_measures import measured_steps
from tests.scripts import run_script
from viz.export.cause_scripts import heads_script, tokens_script
from viz.export.provenance import Provenance
from viz.text.causes.token_measures import OMISSION

TEXT = 'A good "film".'
SITES = {"sentiment": ("encoder", "self"), "stories": ("decoder", "self"), "translate-en-fr": ("decoder", "cross")}


def script_of_heads(name: str, baseline: str, wrong: float = 0.0) -> str:
    checkpoint = load_checkpoint(name)
    trace, (stack, kind) = checkpoint.trace(TEXT), SITES[name]
    reference = mean_contexts(checkpoint, [checkpoint.trace("a dog")]) if baseline == "reference" else None
    ablation = head_ablation(checkpoint, trace, baseline=baseline, reference=reference)
    shown = np.stack(
        [said.probability for site, said in ablation.after.items() if (site.stack, site.sublayer) == (stack, kind)]
    )
    shown[0, 0] += wrong
    other = runner_up(checkpoint, trace)
    total = (other, sum(logit_parts(checkpoint, trace, other).values()))
    source = Provenance(checkpoint=name, text=TEXT)
    site = SublayerSite(stack, 0, kind)
    return heads_script(name, source, site, shown, baseline=baseline, texts=["a dog"], total=total)


@pytest.mark.parametrize(
    ("name", "baseline"), [("sentiment", "zero"), ("stories", "reference"), ("translate-en-fr", "mean")]
)
def test_the_script_of_heads_asserts_what_the_page_shows(name, baseline):
    ran = run_script(script_of_heads(name, baseline))
    assert ran.returncode == 0, ran.stderr
    assert "layer 0, head 0:" in ran.stdout
    assert "Part(kind=" in ran.stdout


def test_the_script_of_heads_fails_where_a_number_is_another():
    assert run_script(script_of_heads("sentiment", "zero", wrong=0.01)).returncode == 1


@pytest.mark.parametrize(("name", "residual"), [("sentiment", True), ("stories", False)])
def test_the_script_of_tokens_asserts_all_five_measures(name, residual):
    checkpoint: Any = load_checkpoint(name)
    trace = checkpoint.trace(TEXT)
    *_, measured = measured_steps(checkpoint, trace)
    measures = measured.rolled_out(attention_shares(checkpoint, trace, residual=residual).double().numpy())
    source = Provenance(checkpoint=name, text=TEXT)
    ran = run_script(tokens_script(name, source, measures.values, OMISSION, residual=residual))
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count("[") == 5
    wrong = measures.values | {"gradient": measures.values["gradient"] + 0.1}
    assert run_script(tokens_script(name, source, wrong, OMISSION, residual=residual)).returncode == 1
