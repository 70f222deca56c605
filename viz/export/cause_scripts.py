"""What the pages about causes show as the few lines of Python that compute it again and assert the figures."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float

from model.edits.sites import SublayerSite
from viz.export.loading_code import loading_code, loading_import
from viz.export.package_check import package_check
from viz.export.provenance import Provenance, comment
from viz.export.trace_code import Target, trace_code

HEADS = '''\
"""The answer of a text without each head of one attention, as Headlight shows it."""

{facts}{check}{path}import numpy as np

from model import SublayerSite, load_checkpoint
from model.measures.causes.ablation import {names}

{loading}
{trace}
{reference}ablation = head_ablation(checkpoint, trace, baseline={baseline!r}{given})

# The {number} without each head: one list for each layer. Layers and heads count from 0.
shown = {shown}
for layer, expected in enumerate(shown):
    said = ablation.after[SublayerSite({stack!r}, layer, {sublayer!r})]
    np.testing.assert_allclose(said.{number}, expected, atol=1e-4)
    for head, after in enumerate(said.{number}):
        print(f"layer {{layer}}, head {{head}}: {{after:.6f}}, with it {{float(ablation.before.{number}):.6f}}")
'''
LOGIT = """
from model.measures.causes.contributions import logit_parts

parts = logit_parts(checkpoint, trace, {against!r})
np.testing.assert_allclose(sum(parts.values()), {total!r}, atol=1e-3)
for part, value in parts.items():
    print(f"{{part}}: {{value:+.6f}}")
"""
REFERENCE = """\
texts = {texts!r}
reference = mean_contexts(checkpoint, [checkpoint.trace(text) for text in texts])
"""
TOKENS = '''\
"""What every token of a text is worth to the answer by five measures, as Headlight shows it."""

{facts}{check}{path}import numpy as np

from model import load_checkpoint
from model.measures.causes.ablation import said_before
from model.measures.causes.gradients import attribution_steps
from model.measures.causes.omission import leave_one_out
from model.measures.causes.token_shares import attention_shares, gradient_shares, moved_shares
from model.measures.outcome import outcome_of

{loading}
{trace}
before = float(said_before(checkpoint, trace, outcome_of(checkpoint, trace)).probability)
lost = np.full(len(trace.text_stack.ids), np.nan)
for places, said in leave_one_out(checkpoint, trace):
    lost[places] = before - said.probability
*_, integrated = (found for found in attribution_steps(checkpoint, trace) if found is not None)
measures = {{
    "attention": attention_shares(checkpoint, trace, residual={residual})[-1],
    "moved": moved_shares(checkpoint, trace)[-1],
    "gradient": gradient_shares(checkpoint, trace)[-1],
    "integrated": integrated.tokens,
    {omission!r}: lost,
}}

# Each measure of every token; None: it cannot be left out.
shown = {shown}
for name, values in measures.items():
    expected = np.array(shown[name], dtype=float)
    np.testing.assert_allclose(values, expected, atol=1e-3 * max(1.0, float(np.nanmax(np.abs(expected)))))
    print(name, [round(float(value), 6) for value in values])
'''


def heads_script(
    checkpoint: str | Path,
    provenance: Provenance,
    site: SublayerSite,
    shown: Float[np.ndarray, "layer head"],
    *,
    target: Target | None = None,
    baseline: str = "zero",
    texts: Sequence[str] = (),
    stream: bool = False,
    total: tuple[int | None, float] | None = None,
) -> str:
    """A script that mutes every head again, and asserts what is left of the answer and what the logit's parts sum to.

    checkpoint: as in ``loading_code``. site: the attention, of any layer. shown: the answer's probability without each
    head; stream: instead, how far the last vectors move. texts: of whose passes the means are, for the baseline
    "reference". total: the runner-up that is taken off, or None, and the sum; None: there is no such sum.
    """
    named = baseline == "reference"
    written = HEADS.format(
        facts=comment(provenance),
        check=package_check("model"),
        path=loading_import(checkpoint),
        names="head_ablation, mean_contexts" if named else "head_ablation",
        loading=loading_code(checkpoint),
        trace=trace_code(provenance.text, pair=provenance.pair, target=target),
        reference=REFERENCE.format(texts=list(texts)) if named else "",
        baseline=baseline,
        given=", reference=reference" if named else "",
        number="distance" if stream else "probability",
        shown=rows(shown),
        stack=site.stack,
        sublayer=site.sublayer,
    )
    return written if total is None else written + LOGIT.format(against=total[0], total=total[1])


def tokens_script(
    checkpoint: str | Path,
    provenance: Provenance,
    shown: Mapping[str, Float[np.ndarray, " token"]],
    omission: str,
    *,
    residual: bool,
    target: Target | None = None,
) -> str:
    """A script that computes the five measures of every token again and asserts them.

    checkpoint: as in ``loading_code``. shown: NaN where there is none. omission: the name of what is lost without the
    token.
    """
    columns = {name: [finite(value) for value in values] for name, values in shown.items()}
    return TOKENS.format(
        facts=comment(provenance),
        check=package_check("model"),
        path=loading_import(checkpoint),
        loading=loading_code(checkpoint),
        trace=trace_code(provenance.text, pair=provenance.pair, target=target),
        residual=residual,
        omission=omission,
        shown="{\n" + "".join(f"    {name!r}: {values},\n" for name, values in columns.items()) + "}",
    )


def rows(numbers: Float[np.ndarray, "row column"]) -> str:
    """A list of lists, a line for each row."""
    return "[\n" + "".join(f"    {[finite(value) for value in row]},\n" for row in numbers) + "]"


def finite(value: float) -> float | None:
    """Seven digits of a number; None for NaN."""
    return float(f"{value:.7g}") if np.isfinite(value) else None
