"""How we know: why should I believe this number?"""

from collections.abc import Sequence
from functools import partial
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

import pages
from model import Checkpoint, Edits, HeadSite
from model.measures.evidence import STAGES, CheckResult, evidence
from model.trace import Trace
from pages.parts.explore.explorer_panel import trace_and_kinds
from pages.parts.frame.downloads import alone, button, download_name, files, selected_pass, share
from pages.parts.frame.finding import picture, picture_alone, show_caveats, show_finding
from pages.parts.frame.page_links import next_page_link
from pages.parts.frame.theme import theme
from pages.parts.lru_cache import LRUCache
from pages.parts.passes import edits_of, provenance_of, trace_key
from pages.parts.shared_cache import checkpoint_named
from pages.parts.state.selection import Selection
from pages.parts.state.session import address_notice, address_of, current, current_selection, fit, remember
from pages.parts.widgets.charts import show_chart
from viz.charts.evidence_agreement import share_chart
from viz.export.data_files import SITES
from viz.export.provenance import Provenance
from viz.text import evidence_tables as report
from viz.tokens import list_of

QUESTION = "Why should I believe this number?"
CHART_SAID = "Every check, by its largest difference as a share of the allowed difference; the tables have all numbers."
HOW_TO_READ = """
- In the picture each dot is a check, placed by its largest difference as a share of the allowed difference. At the left
  end the numbers are the same to the last bit; a cross beyond the dashed line has failed.
- Each row is a kind of number that this app shows. All numbers of that kind, in every layer and head, were compared
  just now with a **reference**, unless the row says that it covers only some of them. The reference comes from other
  code, or is a law that has to hold. The row gives **ours** and the reference where they differ most, relative to the
  allowed difference there.
- **Allowed** is the largest difference that a check accepts. The model computes with 32-bit numbers, which have about
  seven digits, and rounding errors add up. So it is mostly 0.00001 (1e-05) for numbers near 1, and more where an array
  holds larger numbers. Where it is 0, both must be the same to the last bit.
- **Does not apply** is not a result; the row says why. NaN, infinity and a wrong shape count as differences. Tokens,
  layers and heads count from 1, coordinates and ids from 0.
"""
IN_THE_REPOSITORY = """
The repository's tests compare more than this page can: every layer's queries, keys, values, scores, weights, context,
stream and logits with the library `transformers`, for every family of models that can be loaded
(`tests/model/families/`), and attention and whole models with torch's own (`tests/model/test_attention.py`,
`tests/model/test_transformer.py`). `tests/model/measures/test_evidence.py` falsifies each number of this page in turn
and expects the row of that number to fail.
"""
CSV_HELP = "Every row with all digits, the allowed difference and its reason; places count from 0."
EDITED_ELSEWHERE = (
    "The edits kept on the pages Break the formula and Edit are not part of this pass. The checks run on the pass that "
    "Explore and Inside a head show."
)
SIDEWAYS = "← Scroll the table sideways for its other columns →"
FINDINGS_KEPT = 64


@st.cache_resource(show_spinner=False)
def findings_cache() -> LRUCache:
    """What was found of the last passes, of all visitors."""
    return LRUCache(FINDINGS_KEPT)


def show() -> None:
    """The page, from top to bottom."""
    selection = current_selection()
    pages.show_bar(selection)
    place, title_and_sentence, caveats = st.container(), ("", ""), None
    with pages.plain_refusals():
        checkpoint = checkpoint_named(selection.checkpoint)
        trace, kinds = trace_and_kinds(selection, checkpoint)
        selection = fit(selection, kinds)
        remember(selection)
        address_notice()
        findings = findings_of(selection, checkpoint, trace)
        title_and_sentence = report.title(findings), report.sentence(findings)
        edits, caveats = edits_of(selection, checkpoint), partial(show_caveats, checkpoint, trace)
        show_picture(findings, trace_key(selection, edits))
        if not picture_alone():
            show_pass(selection, edits)
            show_findings(findings, urlencode(address_of("explore")), provenance_of(selection, checkpoint, edits))
            next_page_link("evidence")
    with place:
        show_finding(QUESTION, *title_and_sentence)
        if caveats:
            caveats()


def show_picture(findings: Sequence[CheckResult], key: object) -> None:
    """All checks at once."""
    with picture():
        show_chart(("shares", key, tuple(findings)), lambda: share_chart(findings, theme=theme()), CHART_SAID)


def findings_of(selection: Selection, checkpoint: Checkpoint, trace: Trace) -> list[CheckResult]:
    """All checks of the pass on the screen, run now unless they were run for it before."""
    edits, site = edits_of(selection, checkpoint), head_of(selection)
    key = (trace_key(selection, edits), site)
    place = st.empty()

    stages = list(STAGES)

    def tell(stage: str) -> None:
        place.progress(stages.index(stage) / len(stages), text=f"Comparing with {stage}")

    def run() -> list[CheckResult]:
        return [*evidence(checkpoint, trace, edits, head=site, tell=tell), *report.picture_findings(trace)]

    findings: list[CheckResult] = findings_cache().get(key, run, lambda _: 1)
    place.empty()
    return findings


def head_of(selection: Selection) -> HeadSite:
    """The head that is looked into on the other pages."""
    stack, attention = SITES[selection.view.attention]
    return HeadSite(stack, selection.view.layer, selection.head, attention)


def show_pass(selection: Selection, edits: Edits) -> None:
    """Which pass is checked, where it is not the plain one."""
    if edits.muted:
        layers = sorted({site.layer for site in edits.muted})
        st.info(
            f"Muted heads: {len(edits.muted)}, in layer {list_of(layers)}. The checks and the references both use this "
            "pass."
        )
    if selection.edits:
        st.info(EDITED_ELSEWHERE)


def show_findings(findings: Sequence[CheckResult], address: str, source: Provenance) -> None:
    """A table for each group of what the visitor saw."""
    make = partial(report.findings_csv, findings, provenance=source)
    with files():
        button("Table (CSV)", download_name("evidence", "csv"), make, CSV_HELP)
        selection = current()
        share("evidence", alone(selected_pass(selection), selection.view.layer, selection.head))
    st.markdown(f"**How to read this**\n{HOW_TO_READ}")
    for group, title in report.GROUPS.items():
        rows = [finding for finding in findings if finding.check.group == group]
        st.subheader(title, anchor=False)
        with st.container(key=f"checks_{group}", gap="xsmall"):
            st.caption(SIDEWAYS)  # seen where the table is cut
            st.table(pd.DataFrame(report.table(rows, address)), hide_index=True)
    st.subheader("Tested in the repository", anchor=False)
    st.markdown(IN_THE_REPOSITORY)


pages.frame("evidence")
show()
pages.freeze_imports("evidence")
