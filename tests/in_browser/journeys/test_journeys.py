"""Ways through the app that people take, in a real browser: what is chosen there is what comes, with its numbers."""

import io
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from model import Edits, HeadSite, load_checkpoint
from model.measures.head_kinds import finding, measure, sides_of
from model.measures.one_weight import strongest
from model.measures.positions.shuffled_order import shuffled_weights
from pages.parts.state.selection import EXAMPLES
from pages.parts.translate.settings import SENTENCES
from pages.parts.write.settings import EXAMPLE as STORY
from tests.in_browser.frame.test_app import exact, told
from tests.in_browser.pages.test_inside import printed
from tests.in_browser.pages.test_translate import BAR, compare
from tests.in_browser.pages.test_write import tokens, written
from tests.running import (
    PRESS_STOP,
    answered,
    back,
    choose,
    choose_checkpoint,
    comes_true,
    download,
    explored,
    forward,
    go_to,
    has_page,
    has_text,
    no_complaint,
    open_page,
    pick,
    press,
    show_example,
    show_text,
    visitor,
)
from tests.walk import heading
from viz.explorer.attention_kinds import kinds_of
from viz.tokens import percent, position_name, visible
from viz.walkthrough.step_numbers import share

OWN = "It rained and they were happy"
DOG = "The dog bit the man."


@pytest.fixture(scope="module")
def sentiment() -> Any:
    return load_checkpoint("sentiment", device="cpu")


@pytest.fixture(scope="module")
def translator() -> Any:
    return load_checkpoint("translate-en-fr", device="cpu")


@pytest.fixture(scope="module")
def stories() -> Any:
    return load_checkpoint("stories", device="cpu")


def names(stack: Any) -> list[str]:
    """The tokens as lists and sentences name them."""
    return [position_name(place, token) for place, token in enumerate(stack.tokens)]


def text_line(page: Page, text: str) -> Any:
    """A text that stands on the page, outside all fields."""
    return page.get_by_test_id("stText").filter(has_text=re.compile(f"^{re.escape(text)}$"))


# Translate


def at_step(page: Page, checkpoint: Any, text: str, target: str, step: int) -> None:
    """Wait until the page says of this token of the target what the trace says."""
    trace = checkpoint.trace(text, target=target)
    ids = [*trace.decoder.ids.tolist()[1:], checkpoint.config.end_id]
    piece = checkpoint.tokenizer.pieces(ids)[step]
    sentence = page.get_by_text(re.compile(r"^To write \d"))
    probability = float(trace.logits[step].double().softmax(dim=-1)[ids[step]])
    expect(sentence).to_contain_text(
        re.compile(rf"^To write {re.escape(position_name(step, piece))}, the model looked most")
    )
    expect(sentence).to_contain_text(
        f"The model gave {position_name(step, piece)} a probability of {percent(probability, 1)}."
    )
    row = trace.decoder.cross_weights()[2].double().mean(dim=0)[step]  # the layer that the card speaks for
    comes_true(page, partial(compare, page, 0, BAR, row))


def to_first_word(page: Page) -> None:
    """Choose the first word of the translation in the picture."""
    with answered(page):
        page.get_by_role("group", name="Translation").get_by_role("button").first.click()


def test_next_and_next_after_a_new_text_show_its_third_token(browser, address, translator):
    target = translator.generate(DOG, 512).text
    with visitor(browser) as page:
        open_page(page, address, "Translate")
        show_text(page, DOG)
        to_first_word(page)
        press(page, "Next")
        press(page, "Next")
        at_step(page, translator, DOG, target, 2)
        no_complaint(page)


def test_next_after_a_text_that_was_shown_twice_in_a_row_shows_its_second_token(browser, address, translator):
    with visitor(browser) as page:
        open_page(page, address, "Translate")
        for text in (SENTENCES[4], SENTENCES[2], SENTENCES[2]):
            show_text(page, text)
        to_first_word(page)
        press(page, "Next")
        at_step(page, translator, SENTENCES[2], translator.generate(SENTENCES[2], 512).text, 1)
        no_complaint(page)


def test_another_token_is_chosen_in_the_list_after_an_example(browser, address, translator):
    target = translator.generate(SENTENCES[4], 512).text
    ids = translator.generate(SENTENCES[4], 512).token_ids
    with visitor(browser) as page:
        open_page(page, address, "Translate")
        show_example(page, SENTENCES[4])
        choose(page, "Produced token", position_name(3, translator.tokenizer.pieces(ids)[3]))
        at_step(page, translator, SENTENCES[4], target, 3)
        no_complaint(page)


def shows_target(page: Page, by: str, text: str, cross: Any) -> None:
    """Explore shows the cross-attention of this target, and says how it came to be."""
    expect(page.get_by_text(re.compile(f"^Target: {by}"))).to_be_visible()
    expect(text_line(page, text)).to_be_visible()
    with answered(page):
        page.get_by_role("button", name="decoder → encoder").click()
    told(page)
    table, facts = exported(page)
    assert (facts["text"], facts["target"]) == (SENTENCES[0], text)
    assert re.match(by, facts["target_by"])
    assert_weights(table, 0, cross[0])


def test_explore_shows_the_beam_that_was_chosen_and_back_returns_to_it(browser, address, translator):
    best = translator.generate(SENTENCES[0], 512, method="beam", width=4, length_penalty=0.6)
    third = best.alternatives[1]
    with visitor(browser) as page:
        open_page(page, address, "Translate")
        pick(page, "Beam search")
        pick(page, third.text)
        expect(text_line(page, third.text)).to_be_visible()
        go_to(page, "Explore")
        expect(text_line(page, third.text)).to_be_visible()
        back(page, "Translate")
        expect(text_line(page, third.text)).to_be_visible()
        expect(page.get_by_role("radio", name=re.compile(re.escape(third.text)))).to_be_checked()
        no_complaint(page)
        forward(page, "Explore")
        shows_target(page, "beam search, .*third best", third.text, third.trace.decoder.cross_weights())
        no_complaint(page)


def test_explore_shows_the_translation_that_was_typed_and_back_returns_to_it(browser, address, translator):
    target = "L'animal était trop fatigué."
    cross = translator.trace(SENTENCES[0], target=target).decoder.cross_weights()
    with visitor(browser) as page:
        open_page(page, address, "Translate")
        page.get_by_text("Type the translation yourself", exact=True).first.click()
        page.get_by_role("textbox", name="Type the translation yourself").fill(target)
        press(page, "Read this")
        to_first_word(page)
        at_step(page, translator, SENTENCES[0], target, 0)
        go_to(page, "Explore")
        back(page, "Translate")
        expect(page.get_by_text("Typed translation")).to_be_visible()
        at_step(page, translator, SENTENCES[0], target, 0)
        no_complaint(page)
        forward(page, "Explore")
        shows_target(page, "typed", target, cross)
        no_complaint(page)


def test_explore_shows_and_gives_away_a_translation_that_was_stopped_as_far_as_it_came(browser, address):
    long = "We were walking along the river when it began to rain, and nobody had brought an umbrella. " * 20
    settings = {"checkpoint": "translate-en-fr", "translation": "method.beam~width.8"}
    with visitor(browser) as page:
        open_page(page, address, "Translate", text=DOG, **settings)
        page.evaluate(PRESS_STOP)
        show_text(page, long)
        stopped = page.get_by_text(re.compile(r"Stopped after \d+ tokens"))
        (count,) = re.findall(r"Stopped after (\d+)", stopped.inner_text())
        go_to(page, "Explore")
        by = f"beam search, max tokens {count}, width 8, length penalty 0.6, best"
        expect(page.get_by_text(f"Target: {by}", exact=True)).to_be_visible()
        _, facts = exported(page)
        assert facts["target_by"] == by
        no_complaint(page)


def test_explore_shows_the_translation_that_was_sampled(browser, address, translator):
    sampled = translator.generate(SENTENCES[0], 512, method="sample", seed=3, temperature=1.0, top_k=0, top_p=1.0)
    with visitor(browser) as page:
        open_page(page, address, "Translate")
        pick(page, "Sampled")
        page.get_by_role("spinbutton", name="Seed").fill("3")
        with answered(page):
            page.get_by_role("spinbutton", name="Seed").press("Enter")
        expect(text_line(page, sampled.text)).to_be_visible()
        go_to(page, "Explore")
        shows_target(page, "sampl", sampled.text, sampled.trace.decoder.cross_weights())
        no_complaint(page)


# Inside a head


def says_weight(page: Page, stack: Any, layer: int, head: int, query: int | None = None) -> None:
    """The sentence above the steps names the largest weight of the head, or of this query, with its number."""
    weights = stack.blocks[layer].self_attention.weights[head].numpy()
    query, key = strongest(weights, query, None)
    place, attends = f"In head {head + 1} of layer {layer + 1}", f"attention to key {names(stack)[key]}."
    given = share(float(weights[query, key]))
    sentence = page.get_by_text(re.compile(f"^{place}, query "))
    expect(sentence).to_contain_text(f"{place}, query {names(stack)[query]} gives {given} of its {attends}")


def does_most(checkpoint: Any, text: str) -> tuple[int, int, int | None]:
    """Layer and head of what is found in a text, and the query that the page shows of it."""
    trace = checkpoint.trace(text)
    (kind,) = kinds_of(trace).values()
    shuffles = shuffled_weights(checkpoint, trace, kind.name)
    best: Any = finding(measure(np.stack(kind.weights), sides_of(trace, kind.name), shuffles))
    column = kind.weights[best.layer][best.head][:, best.key].copy() if best.key is not None else None
    if column is None or best.query is not None:
        return best.layer, best.head, best.query
    column[[place for place, added in enumerate(kind.queries.special or ()) if added] + [best.key]] = -1
    return best.layer, best.head, int(column.argmax())


def weight_inside(page: Page, layer: int, head: int) -> float:
    """All digits of the weight that the page is about, from its step softmax."""
    if page.get_by_role("heading", name=heading("softmax")).count() == 0:
        choose(page, "Step", heading("softmax"))
        expect(page.get_by_role("heading", name=heading("softmax"))).to_be_visible()
        pick(page, "Every number")
    expect(page.get_by_text(re.compile(f"^In head {head + 1} of layer {layer + 1}, query "))).to_be_visible()
    return float(printed(page, "weight"))


def another_query(place: tuple[int, int, int | None]) -> int:
    """A query that is not yet chosen: to choose it again would not run the page."""
    return 2 if place[2] != 2 else 3


def test_a_query_is_chosen_after_another_text(browser, address, sentiment):
    stack = sentiment.trace(OWN).encoder
    with visitor(browser) as page:
        open_page(page, address, "Inside a head")
        show_text(page, OWN)
        place = does_most(sentiment, OWN)
        says_weight(page, stack, *place[:3])
        query = another_query(place)
        choose(page, "Query", names(stack)[query])
        says_weight(page, stack, *place[:2], query)
        no_complaint(page)


def test_a_query_is_chosen_after_another_checkpoint(browser, address, sentiment, stories):
    with visitor(browser) as page:
        open_page(page, address, "Inside a head", text=OWN)
        for name, stack in (("stories", stories.trace(OWN).decoder), ("sentiment", sentiment.trace(OWN).encoder)):
            choose_checkpoint(page, name)
            place = does_most(stories if name == "stories" else sentiment, OWN)
            says_weight(page, stack, *place)
            query = another_query(place)
            choose(page, "Query", names(stack)[query])
            says_weight(page, stack, *place[:2], query)
            has_text(page, OWN)
            no_complaint(page)


def test_inside_follows_the_largest_weight_of_a_head_until_a_query_is_chosen(browser, address, sentiment):
    stack = sentiment.trace(EXAMPLES[0]).encoder
    with visitor(browser) as page:
        open_page(page, address, "Inside a head", layer="0")
        for head in (3, 6):
            choose(page, "Head", str(head + 1))
            says_weight(page, stack, 0, head)
        choose(page, "Layer", "3")
        says_weight(page, stack, 2, 6)
        choose(page, "Query", names(stack)[4])
        choose(page, "Head", "2")
        says_weight(page, stack, 2, 1, 4)
        no_complaint(page)


def test_the_weights_behind_a_mean_are_those_of_the_trace_on_both_pages(browser, address, sentiment):
    stack = sentiment.trace(OWN).encoder
    weights = stack.blocks[0].self_attention.weights.numpy()
    mean = weights.mean(axis=0, dtype=np.float64)
    query, key = strongest(mean, None, None)
    with visitor(browser) as page:
        open_page(page, address, "Explore", text=OWN)
        page.get_by_role("button", name="Inside this weight").click()
        asked = page.get_by_text("Choose one of these heads")
        sentence = f"{names(stack)[query]} attends to {names(stack)[key]} with {percent(float(mean[query, key]), 1)}"
        expect(asked).to_contain_text(f"{sentence}, the mean of 8 heads.")
        for head, weight in enumerate(weights[:, query, key].tolist()):
            expect(page.get_by_role("link", name=f"Head {head + 1}: {percent(weight, 1)}")).to_be_visible()
        page.get_by_role("link", name="Head 5: ").click()
        has_page(page, "Inside a head")
        assert weight_inside(page, 0, 4) == weights[4, query, key]
        page.get_by_role("link", name="See it in Explore").click()
        has_page(page, "Explore")
        expect(page.locator(".readout")).to_contain_text(f"Layer 1, head 5: query {query + 1}")
        assert exact(page) == weights[4, query, key]
        back(page, "Inside a head")
        assert weight_inside(page, 0, 4) == weights[4, query, key]
        no_complaint(page)
        for _ in range(2):  # to the number's first look
            with answered(page):
                page.go_back()
        back(page, "Explore")
        expect(page.locator(".readout")).to_contain_text("Layer 1, mean of 8 heads")
        no_complaint(page)


def test_a_head_muted_inside_stays_muted_in_explore_until_it_is_given_back(browser, address, sentiment):
    sites = (HeadSite("encoder", 0, 1), HeadSite("encoder", 1, 4))
    first, both = (Edits(muted=frozenset(sites[:count])) for count in (1, 2))
    with visitor(browser) as page:
        open_page(page, address, "Explore", text=OWN, layer="1", query="2", key="3")
        page.get_by_role("button", name="Layer 1", exact=True).click()
        page.get_by_role("button", name="Head 2", exact=True).click()
        pick(page, "Mute the heads that are off")
        expect(page.get_by_role("switch", name="Mute the heads that are off")).to_be_checked()
        has_prediction(page, sentiment.classify(OWN, edits=first))
        with answered(page):
            page.get_by_role("button", name="Layer 2", exact=True).click()
        comes_true(page, partial(same_mean, page, sentiment, first))
        page.get_by_role("button", name="Inside this weight").click()
        page.get_by_role("link", name="Head 5: ").click()
        has_page(page, "Inside a head")
        expect(page.get_by_text("The model ran with head 2 of layer 1 muted.")).to_be_visible()
        assert weight_inside(page, 1, 4) == pytest.approx(weight(sentiment, first), abs=1e-6)
        pick(page, "Mute this head")
        expect(page.get_by_text("The model ran with head 2 of layer 1 and head 5 of layer 2 muted.")).to_be_visible()
        page.get_by_role("link", name="See it in Explore").click()
        has_page(page, "Explore")
        expect(page.locator(".readout")).to_contain_text("Layer 2, head 5: query 3")
        expect(
            page.get_by_text("Muted: head 2 of layer 1, head 5 of layer 2. A muted head still computes its weights")
        ).to_be_visible()
        assert exact(page) == pytest.approx(weight(sentiment, both), abs=1e-6)
        has_prediction(page, sentiment.classify(OWN, edits=both))
        press(page, "Unmute all")
        expect(page.get_by_text("Muted: ")).to_have_count(0)
        comes_true(page, lambda: close(exact(page), weight(sentiment, Edits())))
        has_prediction(page, sentiment.classify(OWN))
        no_complaint(page)


def weight(checkpoint: Any, edits: Edits) -> float:
    """What head 5 of layer 2 gives key 4 of query 3 in the sentence of the tests."""
    return float(checkpoint.trace(OWN, edits=edits).encoder.blocks[1].self_attention.weights[4, 2, 3])


def same_mean(page: Page, checkpoint: Any, edits: Edits) -> None:
    weights = checkpoint.trace(OWN, edits=edits).encoder.blocks[1].self_attention.weights
    close(exact(page), float(weights.double().mean(dim=0)[2, 3]))


def close(number: float, expected: float) -> None:
    assert number == pytest.approx(expected, abs=1e-6)


def has_prediction(page: Page, probabilities: dict[str, float]) -> None:
    label = max(probabilities, key=probabilities.__getitem__)
    probability = percent(probabilities[label], 1)
    expect(page.get_by_test_id("stMetricValue")).to_contain_text(f"{label} {probability}")


def test_heads_muted_in_explore_are_muted_inside_and_still_are_after_back(browser, address, sentiment):
    edits = Edits(muted=frozenset({HeadSite("encoder", 0, 2)}))
    with visitor(browser) as page:
        open_page(page, address, "Explore", text=OWN)
        page.get_by_role("button", name="Head 3", exact=True).click()
        pick(page, "Mute the heads that are off")
        has_prediction(page, sentiment.classify(OWN, edits=edits))
        go_to(page, "Inside a head")
        choose(page, "Layer", "2")
        choose(page, "Head", "6")
        expect(page.get_by_text("The model ran with head 3 of layer 1 muted.")).to_be_visible()
        says_weight(page, sentiment.trace(OWN, edits=edits).encoder, 1, 5)
        for _ in range(2):
            back(page, "Inside a head")
        back(page, "Explore")
        expect(page.get_by_role("switch", name="Mute the heads that are off")).to_be_checked()
        assert explored(page, "[...explorer.view.off]") == ["0.2"]
        has_prediction(page, sentiment.classify(OWN, edits=edits))
        no_complaint(page)


# Write


def choices(checkpoint: Any, text: str) -> list[tuple[int, str]]:
    """The likeliest next tokens, best first, with their names in the list."""
    chances = checkpoint.trace(text).logits[-1].double().softmax(dim=-1)
    shares, ids = chances.topk(12)
    pieces = checkpoint.tokenizer.pieces(ids.tolist())
    listed = zip(ids.tolist(), pieces, shares.tolist(), strict=True)
    return [
        (token_id, f"{place + 1} · {visible(piece)} · {percent(share, 1)}")
        for place, (token_id, piece, share) in enumerate(listed)
    ]


def test_the_first_press_writes_the_token_that_was_chosen(browser, address, stories):
    third, name = choices(stories, STORY)[2]
    with visitor(browser) as page:
        open_page(page, address, "Write")
        choose(page, "Another token", name)
        press(page, "Write this token")
        expect(tokens(page)).to_have_count(1)
        comes_true(page, lambda: wrote(page, [third]))
        no_complaint(page)


def wrote(page: Page, ids: Sequence[int]) -> None:
    assert written(page) == list(ids)


def test_what_was_run_is_gone_back_in_and_another_text_begins_anew(browser, address, stories):
    settings: dict[str, Any] = {"method": "sample", "seed": 0, "temperature": 0.8, "top_k": 40, "top_p": 0.9}
    with visitor(browser) as page:
        open_page(page, address, "Write")
        press(page, "Run 20")
        expect(page.get_by_role("button", name="Run 20")).to_be_visible()
        ids = stories.generate(STORY, 20, **settings).token_ids
        expect(tokens(page)).to_have_count(len(ids))
        comes_true(page, lambda: wrote(page, ids))
        with answered(page):
            tokens(page).nth(3).click()
        expect(tokens(page).nth(3)).to_have_attribute("aria-current", "step")
        expect(page.get_by_text(f"After {len(stories.tokenizer.encode(STORY).ids) + 3} tokens")).to_be_visible()
        show_text(page, OWN)
        expect(tokens(page)).to_have_count(0)
        comes_true(page, lambda: wrote(page, []))
        press(page, "Step")
        comes_true(page, lambda: wrote(page, stories.generate(OWN, 1, **settings).token_ids))
        no_complaint(page)


# Positions


def test_the_numbers_of_a_token_are_shown_after_another_text(browser, address, sentiment):
    stack = sentiment.trace(OWN).encoder
    with visitor(browser) as page:
        open_page(page, address, "Positions")
        show_text(page, OWN)
        page.get_by_text("The numbers of one token", exact=True).click()
        choose(page, "Numbers of the token", names(stack)[4])
        vectors = np.stack([stack.embedding.token[4], stack.embedding.position[4], stack.embedding.total[4]], axis=1)
        comes_true(page, lambda: np.testing.assert_allclose(grid(page)[:, 1:], vectors[: len(grid(page))], atol=1e-6))
        no_complaint(page)


def grid(page: Page) -> np.ndarray:
    """The rows in sight of the first table that is drawn on a canvas."""
    read = "table => [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => Number(cell.textContent)))"
    return np.array(page.locator("canvas table[role=grid]").first.evaluate(read))


# Files


def exported(page: Page, label: str = "This view (CSV)") -> tuple[pd.DataFrame, dict[str, str]]:
    """A table from the bar's list of files, and the facts before it."""
    return read_table(Path(download(page, label).path()))


def read_table(file: Path) -> tuple[pd.DataFrame, dict[str, str]]:
    """A table, and the facts before it."""
    content = file.read_text(encoding="utf-8-sig")
    facts = dict(line[2:].split(": ", 1) for line in content.splitlines() if line.startswith("# "))
    return pd.read_csv(io.StringIO(content), skiprows=int(re.findall(r"skiprows=(\d+)", facts["read"])[0])), facts


def assert_weights(table: pd.DataFrame, layer: int, weights: Any) -> None:
    """Every number of every head. weights: (head, query, key)."""
    for head, of_head in enumerate(weights):
        column = table[f"layer_{layer}_head_{head}"].to_numpy()
        assert np.allclose(column, of_head.numpy().reshape(-1), atol=1e-6, rtol=0)
