"""The page How we know, as without a browser: its tables are the findings, of the pass that the selection names."""

import csv
import io
import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import Edits, HeadSite, load_checkpoint
from model.measures.evidence import CHECKS, STAGES, CheckResult, evidence
from pages.parts.frame.page_links import NEXT
from pages.parts.state.selection import EXAMPLES, LONGEST_TEXT
from pages.parts.write.settings import EXAMPLE
from tests import tiny
from tests.model.measures.test_evidence import checkpoint_of, falsified, traced
from tests.pages.test_every_page import SENTENCE, bar, follow, opened, typed
from viz.charts import evidence_agreement
from viz.explorer.attention_kinds import kinds_of
from viz.explorer.packing import pack
from viz.text import evidence_tables
from viz.walkthrough.step_sentences import TITLES

PAGE = "evidence.py"


def plain(text: str) -> str:
    """As it is read and copied: without the marks of Markdown, and without what only says where a line may break."""
    return text.replace("\\", "").replace("\u00a0", " ").replace("\u2011", "-").replace("\u200b", "")


def rows(app: AppTest) -> list[dict[str, str]]:
    """The rows of all tables on the page."""
    assert not app.exception
    assert not app.error
    tables = [table.value for table in app.table]
    return [{name: plain(value) for name, value in row.items()} for table in tables for row in table.to_dict("records")]


def words(app: AppTest) -> str:
    return plain("\n".join(element.value for element in [*app.markdown, *app.info]))


def assert_shown(app: AppTest, findings: list[CheckResult]) -> None:
    """Every finding is a row, with its numbers in full, in the order of the groups."""
    table_rows = rows(app)
    assert len(table_rows) == len(findings)
    of_group = [one for group in evidence_tables.GROUPS for one in findings if one.check.group == group]
    for row, finding in zip(table_rows, of_group, strict=True):
        assert row["Quantity"] == finding.check.quantity
        assert row["Result"] == {True: "✓ agrees", False: "✗ differs", None: "does not apply"}[finding.passed]
        if finding.passed is None:
            assert (row["Ours"], row["Compared with"]) == ("", finding.reason)
        else:
            assert (float(row["Ours"]), float(row["Reference"])) == (finding.ours, finding.expected)
            assert float(row["Largest difference"]) == pytest.approx(finding.difference, rel=0.05)
            assert float(row["Allowed"]) == pytest.approx(finding.allowed, rel=0.05)
            assert row["Numbers"] == f"{finding.count:,}"
            for name, place in finding.place:
                if name in ("layer", "head", "key-value head", "query", "key"):
                    assert f"{name} {int(place) + 1}" in re.split(r",\s+", row["At"])


def test_the_tables_are_the_findings_of_the_text():
    checkpoint = load_checkpoint("sentiment")
    trace = checkpoint.trace(SENTENCE)
    findings = [*evidence(checkpoint, trace), *evidence_tables.picture_findings(trace)]
    app = typed(opened(PAGE), SENTENCE)
    assert_shown(app, findings)
    checked = [finding for finding in findings if finding.passed is not None]
    assert (
        f"**{len(checked)} of {len(checked)} checks agree**, on {sum(one.count for one in checked):,} numbers"
        in words(app)
    )
    assert f"{len(findings) - len(checked)} checks do not apply" in words(app)


def test_heads_that_are_muted_are_muted_in_what_is_checked():
    checkpoint = load_checkpoint("sentiment")
    edits = Edits(muted=frozenset([HeadSite("encoder", 1, 2), HeadSite("encoder", 3, 0)]))
    trace = checkpoint.trace(SENTENCE, edits=edits)
    findings = evidence(checkpoint, trace, edits, head=HeadSite("encoder", 2, 5))
    app = opened(PAGE, text=SENTENCE, mute="1", off="1.2_3.0", layer="2", head="5")
    assert_shown(app, [*findings, *evidence_tables.picture_findings(trace)])
    assert "Muted heads: 2, in layer 2 and 4" in words(app)
    assert any("layer 3, head 6" in row["At"] for row in rows(app) if row["Quantity"] == "the chosen head muted")


def test_of_a_long_text_the_row_says_which_heads_the_loop_has_gone_through():
    checkpoint = load_checkpoint("sentiment")
    heads = checkpoint.config.layers * checkpoint.config.heads
    for text in (SENTENCE, "good film " * 120):
        tokens = len(checkpoint.tokenizer.encode(text).ids)
        through = 60_000 // tokens**2
        (row,) = [one for one in rows(opened(PAGE, text=text)) if one["Quantity"].startswith("entropy")]
        assert (f"only for the first {through} of {heads} heads" in row["Compared with"]) == (through < heads)
        assert ("only" in row["Compared with"]) == (through < heads)
        assert row["Numbers"] == str(8 * min(through, heads))


def test_what_is_broken_on_another_page_is_said_to_be_left_out():
    assert "are not part of this pass" in words(opened(PAGE, edits="temperature_2"))
    assert "are not part of this pass" not in words(opened(PAGE))


def shown_in_bar(app: AppTest) -> tuple[str, str]:
    return bar(app)["text"], bar(app)["model"]


def by_link(app: AppTest, page: str) -> AppTest:
    """Another page, by a link of the menu, which names the page alone.

    Run twice, because AppTest leaves out app.py, where one page's controls are told from another's.
    """
    app.query_params.clear()
    return app.switch_page(f"pages/{page}").run().run()


def test_text_and_model_of_the_page_before_come_along_and_are_left_behind_again():
    app = by_link(opened("write.py"), PAGE)
    assert shown_in_bar(app) == (EXAMPLE, "stories")
    assert {row["Result"] for row in rows(app)} == {"✓ agrees", "does not apply"}
    assert "this page" not in " ".join(caption.value for caption in app.caption)
    app = by_link(app, "explore.py")
    assert shown_in_bar(app) == (EXAMPLES[0], "sentiment"), "nobody chose the others"
    assert "The page before showed stories; this page opens with sentiment." in plain(
        " ".join(caption.value for caption in app.caption)
    )


def test_a_model_that_a_visitor_chose_waits_where_another_is_followed_and_where_it_cannot_be_used():
    app = by_link(opened("explore.py", checkpoint="sentiment", text=SENTENCE), "write.py")
    assert shown_in_bar(app) == (SENTENCE, "stories")
    assert "sentiment does not continue texts, so this page shows stories." in plain(
        " ".join(caption.value for caption in app.caption)
    )
    app = by_link(app, PAGE)
    assert shown_in_bar(app) == (SENTENCE, "stories")
    app = by_link(app, "explore.py")
    assert shown_in_bar(app) == (SENTENCE, "sentiment")


@pytest.mark.parametrize("page", ["mistakes.py", "words.py"])
def test_a_model_that_a_visitor_chose_comes_back_after_a_page_that_cannot_use_it(page):
    app = by_link(opened("explore.py", checkpoint="translate-en-fr"), "write.py")
    assert shown_in_bar(app)[1] == "stories"
    app = by_link(by_link(app, page), "explore.py")
    assert shown_in_bar(app)[1] == "translate-en-fr"


def test_a_model_that_a_visitor_chose_comes_back_on_the_page_itself_also_after_the_one_that_checks_the_other():
    for way in (["write.py", "mistakes.py"], ["write.py", PAGE, "mistakes.py"]):
        app = opened("explore.py", checkpoint="translate-en-fr")
        for page in way:
            app = by_link(app, page)
        assert shown_in_bar(app)[1] == "translate-en-fr"


def test_what_the_page_before_opened_with_is_followed_where_no_other_model_was_chosen():
    app = by_link(by_link(opened("explore.py"), "write.py"), "mistakes.py")
    assert shown_in_bar(app) == (EXAMPLE, "stories")


def test_the_notice_names_the_model_that_waits_and_not_the_one_that_stood_in_for_it():
    app = by_link(opened("explore.py", checkpoint="sentiment", text=SENTENCE), "write.py")
    assert "sentiment does not translate, so this page shows translate-en-fr." in plain(
        " ".join(caption.value for caption in by_link(app, "translate.py").caption)
    )


def test_a_model_with_two_stacks_is_checked_in_all_attentions():
    table_rows = rows(opened(PAGE, checkpoint="translate-en-fr", text="A dog saw it.", attention="cross"))
    assert {row["Result"] for row in table_rows} == {"✓ agrees", "does not apply"}
    assert any("cross-attention" in row["At"] for row in table_rows)
    places = " ".join(f"{row['At']} {row['Compared with']}" for row in table_rows)
    assert not re.search(r"\b(self|cross)\b(?!-attention)", places)


@pytest.mark.parametrize("name", ["gpt2", "gemma3", "t5", "bert-bare", "bert-classifier"])
def test_families_are_checked_and_their_gaps_explained(name, app_folders):
    app = opened(PAGE, checkpoint=name, text="the dog bit the man .")
    assert {row["Result"] for row in rows(app)} == {"✓ agrees", "does not apply"}


def test_a_difference_is_told_first_and_by_name(monkeypatch):
    monkeypatch.setattr("model.measures.numpy_reference.Numbers.scale", lambda numbers, width, layer: 0.3)
    app = typed(opened(PAGE), "A text that no other test checks.")
    (row,) = [row for row in rows(app) if row["Quantity"] == "what products are multiplied by"]
    assert (row["Result"], row["Ours"], row["Reference"]) == ("✗ differs", "0.25", "0.3")
    assert "do not: " in words(app)
    assert "what products are multiplied by" in words(app)


@pytest.mark.parametrize("text", ["", "   ", "x" * (LONGEST_TEXT + 1), "half \ud800 pair"])
def test_a_text_that_cannot_be_read_gets_one_sentence(text):
    app = opened(PAGE)
    app.session_state["_chosen"] = {"text": text}
    app.run()
    assert not app.exception
    assert len(app.error) == 1
    assert not app.table


@pytest.mark.parametrize("text", ["<b>good</b> $x$ &amp;", "![a](//example.org/a.png)", "\u202e\u200b 😀 देव"])
def test_hostile_texts_are_checked_like_others(text):
    table_rows = rows(opened(PAGE, text=text))
    assert {row["Result"] for row in table_rows} == {"✓ agrees", "does not apply"}
    assert not any("<b>" in value or "![" in value or "//" in value for row in table_rows for value in row.values())


def test_hostile_addresses_give_the_default():
    app = opened(PAGE, layer="99", head="-1", off="9.9", mute="1", edits="_~_", attention="cross")
    assert {row["Result"] for row in rows(app)} == {"✓ agrees", "does not apply"}


# What viz makes of the findings


def test_every_place_on_the_screen_that_is_named_is_there():
    named = [place for check in CHECKS for place in check.screen.split("; ") if place.startswith("Inside a head: ")]
    assert len(named) >= 15
    assert {place.removeprefix("Inside a head: ") for place in named} <= set(TITLES.values())
    assert {check.group for check in (*CHECKS, *evidence_tables.PICTURES)} == set(evidence_tables.GROUPS)
    assert len(STAGES) == 12


def test_places_on_the_screen_lead_to_their_pages_with_the_selection():
    assert evidence_tables.page_links_text("Explore: matrix; every page", "text=a+%28b%29") == (
        "[Explore\\:\u00a0matrix](explore?text=a+%28b%29); every\u00a0page"
    )
    assert {place.split(":")[0] for check in CHECKS for place in check.screen.split("; ")} == {
        *evidence_tables.PAGES,
        "every page",
    }
    assert any("(inside?text=An+odd" in row["On the screen"] for row in rows(opened(PAGE, text=SENTENCE)))


def test_the_file_holds_every_number_in_full():
    checkpoint = checkpoint_of("gpt")
    findings = evidence(checkpoint, falsified(traced(checkpoint), "decoder.final"))
    lines = list(csv.DictReader(io.StringIO(evidence_tables.findings_csv(findings).decode("utf-8-sig"))))
    assert [line["check"] for line in lines] == [finding.check.name for finding in findings]
    for line, finding in zip(lines, findings, strict=True):
        assert line["result"] == {True: "agrees", False: "differs", None: "does not apply"}[finding.passed]
        if finding.passed is not None:
            numbers = [float(line[name]) for name in ("ours", "reference", "largest_difference", "allowed")]
            assert numbers == [finding.ours, finding.expected, finding.difference, finding.allowed]
        assert line["place"] == " ".join(f"{name}={value}" for name, value in finding.place)
    assert "differs" in {line["result"] for line in lines}


def test_a_byte_that_is_off_and_a_file_that_is_wrong_are_found(monkeypatch):
    trace = tiny.checkpoint("encoder-decoder").trace_ids([5, 9, 2], [1, 7])
    assert [finding.passed for finding in evidence_tables.picture_findings(trace)] == [True, True]
    count = sum(weights.size for kind in kinds_of(trace).values() for weights in kind.weights)
    assert [finding.count for finding in evidence_tables.picture_findings(trace)] == [count, count]
    monkeypatch.setattr(
        "viz.explorer.packing.quantised", lambda weights: np.sqrt(weights * 65025).astype(np.uint8) // 2
    )
    assert [finding.passed for finding in evidence_tables.picture_findings(trace)] == [False, True]


def test_layers_that_are_sent_later_are_checked_too(monkeypatch):
    trace = tiny.checkpoint("decoder").trace_ids([5, 9, 2])
    whole = evidence_tables.picture_findings(trace)[0]
    monkeypatch.setattr("viz.text.evidence_tables.pack", partial(pack, limit=0))
    assert evidence_tables.picture_findings(trace)[0] == whole


def test_the_title_says_how_many_numbers_agree_or_how_many_checks_differ():
    checkpoint = load_checkpoint("sentiment")
    trace = checkpoint.trace(SENTENCE)
    findings = [*evidence(checkpoint, trace), *evidence_tables.picture_findings(trace)]
    numbers = sum(finding.count for finding in findings if finding.passed)
    assert [title.value for title in opened(PAGE, text=SENTENCE).title] == [
        f"All {numbers:,} compared numbers agree with their references."
    ]
    wrong = evidence(checkpoint, falsified(trace, "encoder.final"))
    differing = sum(finding.passed is False for finding in wrong)
    checked = sum(finding.passed is not None for finding in wrong)
    assert differing > 1
    assert evidence_tables.title(wrong) == f"{differing} of {checked} checks differ from the reference."


def points(chart) -> list[dict]:
    """The data of the dots, as the chart as a whole would be sent."""
    spec = chart.to_dict()
    (dots,) = [layer for layer in spec["layer"] if layer["mark"]["type"] == "point"]
    return dots["data"]["values"] if "data" in dots else spec["data"]["values"]


def test_the_picture_has_every_check_that_applies_at_its_share_of_what_is_allowed():
    checkpoint = checkpoint_of("gpt")
    for trace in (traced(checkpoint), falsified(traced(checkpoint), "decoder.final")):
        findings = [*evidence(checkpoint, trace), *evidence_tables.picture_findings(trace)]
        rows = points(evidence_agreement.share_chart(findings))
        checked = [finding for finding in findings if finding.passed is not None]
        assert [row["quantity"] for row in rows] == [finding.check.quantity for finding in checked]
        assert [row["group"] for row in rows] == [evidence_tables.GROUPS[finding.check.group] for finding in checked]
        for row, finding in zip(rows, checked, strict=True):
            assert row["result"] == ("agrees" if finding.passed else "differs")
            assert (row["place"] > 1) == (not finding.passed)
            apart = abs(finding.ours - finding.expected)
            if apart == 0:
                assert row["place"] == evidence_agreement.EXACT
            elif finding.allowed and evidence_agreement.LEAST < apart / finding.allowed < evidence_agreement.MOST:
                assert row["place"] == pytest.approx(apart / finding.allowed)
        assert all(row["label"] == row["quantity"] for row in rows if row["label"])
    assert any(row["label"] for row in rows)


def test_dots_of_one_place_stand_apart_and_what_is_no_number_stands_beyond_what_is_allowed():
    finding = evidence(checkpoint_of("gpt"), traced(checkpoint_of("gpt")))[0]
    same = evidence_agreement.dots([finding] * 5)
    assert len({(row["place"], row["level"]) for row in same}) == 5
    broken = replace(finding, passed=False, difference=float("nan"))
    assert evidence_agreement.place(broken) == evidence_agreement.MOST
    assert evidence_agreement.place(replace(broken, difference=0.0, count=0)) == evidence_agreement.MOST
    with pytest.raises(ValueError, match="no check that applies"):
        evidence_agreement.share_chart([])


def test_a_place_names_its_attention_and_its_statistic_in_words():
    finding = CheckResult(
        check=CHECKS[0], passed=True, place=(("stack", "encoder"), ("layer", 0), ("attention", "self"))
    )
    assert evidence_tables.where(finding) == "encoder, layer 1, self-attention"
    place = (("stack", "decoder"), ("attention", "cross"), ("layer", 1), ("head", 2), ("statistic", "self"))
    words = "decoder, cross-attention, layer 2, head 3, weight on the token itself"
    assert evidence_tables.where(replace(finding, place=place)) == words


def test_lines_are_not_shorter_than_they_may_be():
    assert evidence_tables.unbroken("a bc def g", 4) == "a\u00a0bc def\u00a0g"
    assert evidence_tables.unbroken("a b", 0) == "a b"
    assert (
        evidence_tables.unbroken("torch's own TransformerEncoderLayer", 20)
        == "torch's\u00a0own TransformerEncoderLayer"
    )
    assert evidence_tables.unbroken("scaled\\_dot", 0) == "scaled\\_\u200bdot"
    assert (
        evidence_tables.place_lines("encoder, layer 2, self, head 3")
        == "encoder,\u00a0layer\u00a02, self,\u00a0head\u00a03"
    )


def test_a_chosen_model_waits_too_where_the_last_link_of_a_page_leads_to_one_that_cannot_use_it():
    app = opened("translate.py", checkpoint="translate-en-fr", text="The dog bit the man.")
    app = follow(app, NEXT["translate"].label)
    assert shown_in_bar(app)[1] == "stories"
    assert "translate-en-fr does not continue texts, so this page shows stories." in plain(
        " ".join(caption.value for caption in app.caption)
    )
    assert shown_in_bar(by_link(app, "inside.py"))[1] == "translate-en-fr"
