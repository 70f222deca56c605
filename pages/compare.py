"""Compare: what differs between two texts, or two models?"""

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

import pages
from model import Checkpoint, Edits, InputError
from model.trace import Trace
from pages.parts.ablations.experiments import edits_in_words
from pages.parts.compare.compared_heads import ComparedHeads, Site, compared_heads
from pages.parts.compare.heads_alike import LONGEST, HeadsAlike, heads_alike
from pages.parts.compare.partners_panel import show_links_of_tokens
from pages.parts.compare.patches_panel import patches_of, show_patches
from pages.parts.compare.second_text import second_text
from pages.parts.compare.settings import AGAINST, PARTNERS, CompareSettings
from pages.parts.compare.two_passes import (
    TwoPasses,
    edits_beside,
    model_beside,
    models_beside,
    text_beside,
    two_passes,
)
from pages.parts.frame.downloads import button, download_name, files, share_bars
from pages.parts.frame.finding import picture, picture_alone, show_caveats, show_finding
from pages.parts.frame.page_links import next_page_link, page_link
from pages.parts.frame.theme import theme
from pages.parts.heads.settings import HeadsSettings
from pages.parts.models.catalogue import label_of, labels_of
from pages.parts.passes import edits_of, provenance_of, trace_of
from pages.parts.prediction import output_of, prediction_of
from pages.parts.shared_cache import checkpoint_named, purpose_of
from pages.parts.state.selection import LONGEST_TEXT, Selection
from pages.parts.state.session import (
    address_notice,
    changed_selection,
    choices,
    choose,
    current,
    current_selection,
    fit,
    remember,
    take_back,
)
from pages.parts.widgets.binding import bind_text, radio, select
from pages.parts.widgets.charts import chart_spec
from pages.parts.widgets.head_switches import grid_key, one_head_on, show_left_out
from viz.charts.causes.comparison import MOST_DRAWN, aligned_data
from viz.charts.causes.head_effects import CHOSEN, effect_grid
from viz.charts.head_statistics import chosen_heads
from viz.explorer.attention_kinds import TITLES, kinds_of
from viz.explorer.component import comparison
from viz.text.causes import two_runs as sentences
from viz.text.causes.head_effects import ZERO_HERE
from viz.text.weight_sentences import quoted, shortened
from viz.tokens import markdown_text

QUESTION = "What differs between two texts, or two models?"
HOW_TO_READ = """
**How to read this**
- Each cell is a head; the first layer is at the top. Its number says how many percent of the head's attention are
  elsewhere in B: half the sum of all differences of a row, averaged over the tokens that have a partner. 0: the head
  looks at the same tokens; 100: at none of them.
- Tokens are partners where both texts have the same piece in the same order, and where a piece that each has once has
  only moved; what is left between them, in order, where both texts have as many. Of texts that share nothing, the first
  tokens are partners, in order. What a head gives to a token without a partner counts as elsewhere.
- Rows and columns stand in the order of A, also in the picture of B. What one text has alone stands among its
  neighbours, marked “A alone” or “B alone”.
- **Difference** is B − A: blue and + mark keys that get more in B, orange and − keys that get less. A row is a query, a
  column a key.
"""
CHOSEN_BY = (
    "The distance of a head is the total variation distance between its rows in A and in B, averaged over the tokens "
    "that have a partner: the share of its attention that has to move for the one row to become the other. The title "
    "names the head with the largest distance, and the tokens to which it gives most, over all these queries. By "
    "chance: the same with the head's weights in B in random order among the keys that it looks at there. Where the "
    "texts differ in many places, that is large for any head."
)
AGAINST_NAMES = {"text": "B is another text", "model": "B is another model", "edits": "B has the kept edits"}
WITH_EDITS = f"To compare with edits, choose “{AGAINST_NAMES['edits']}”."
AGAINST_HELP = (
    "A is the text and the model in the bar. B is another text in the same model, the same text in another model, or "
    "the same text and model with heads muted and parts of the formula changed."
)
PARTNER_NAMES = {"same": "the head at its place", "nearest": "the most similar head"}
PARTNER_HELP = (
    "Heads at the same place of two models have nothing in common unless the one was trained from the other. The most "
    "similar head is the one whose rows differ least on this text."
)
NEAREST = (
    "{first} has {heads} heads in this attention and {second} has {others}, so that no head has one at its place. "
    "Beside each head of A stands that head of B whose attention differs least on this text."
)
ATTENTION_HELP = "Each attention has heads of its own."
EXPLORE_HELP = "Shows this head among all others of the text."
EDIT_HELP = "Shows the weights that were changed, and what came of it. Explore shows the model without kept edits."
BREAK_HELP = "Shows what was changed, and what came of it. Explore shows the model without kept edits."
MOST_LABEL = "Show the head that differs most"
MOST_HELP = "Of this text, and of the next. A head that you chose stays for every text."
SAME_TARGET = (
    "In both, the decoder reads the tokens that it wrote for A, so that its rows can be compared. What it writes for B "
    "stands under the title."
)
ONE_MASK = (
    "{} has a causal mask: none of its tokens sees a later one, as those of the other model do. A part of every "
    "distance comes from that alone."
)
ALIKE_TITLE = "Heads like this one"
ALIKE_HELP = (
    "Similarity is 1 minus the Jensen–Shannon divergence, in bits, of the rows of two heads (Clark et al. 2019, "
    "section 6), the mean over all tokens of this text and of the model's examples: 100 % if both always look alike. "
    f"A text of more than {LONGEST} tokens is left out. "
    "By chance: the same with the other head's weights in random order among the keys that it looks at."
)
MADE = "B is A {how}, as this page made it: type a text of your own."
OWN_TEXT = "B was empty: it is the text that the page makes of A again."
LIST_TITLE = "All heads, those that differ most first"
CSV_HELP = "Every head with its partner and its distance, with all digits."
WEIGHTS_HELP = "The weights of the chosen head in A and in B, and their difference, with all digits."
PATCH_CSV_HELP = "The probability of A's answer with each part from B, with all digits."
SCALE = "attention that is elsewhere in B, %"
PALE = 0.5  # distances far below this are pale, however small all of them are
FOOT = "share of a head's attention that is elsewhere in B"


def show() -> None:
    """The page, from top to bottom."""
    selection = current_selection()
    pages.show_bar(selection)
    beside, top, heads = st.container(key="beside"), st.container(), None
    with pages.plain_refusals(), st.spinner("Comparing every head"):
        selection = fit(selection, kinds_of(trace_of(selection, Edits())))
        with beside:
            ask(selection)
        heads = measured(selection)
        remember(selection)
    with top:
        title, sentence = ("", "") if heads is None else found(heads)
        show_finding(QUESTION, title, sentence, explained=CHOSEN_BY if title else None)
        if heads is not None:
            show_caveats(checkpoint_named(selection.checkpoint), heads.passes.traces[0])
            if selection.of(CompareSettings).against != "edits":
                show_left_out(selection, instead=WITH_EDITS)
            address_notice()
    if heads is None:
        show_ways_on(selection)
        return
    with picture():
        draw(heads)
    if picture_alone():
        return
    if heads.passes.selections[1].text != selection.text:
        show_caveats(heads.passes.checkpoints[1], heads.passes.own, of="B")
    compared = selection.of(CompareSettings)
    if compared.against == "text" and not compared.other:
        st.caption(markdown_text(MADE.format(how=second_text(selection.text).how)))
    first = compared.alike
    if first:
        show_alike(heads)
    show_chosen(selection, heads)
    show_links_of_tokens(heads.passes)
    show_settings(selection, heads)
    st.markdown(HOW_TO_READ)
    show_patches(selection, heads.passes)
    if not first:
        show_alike(heads)
    show_list(heads)
    offer_files(selection, heads)
    next_page_link("compare")


def measured(selection: Selection) -> ComparedHeads:
    """Every head of A beside its partner in B. InputError where one of them cannot be."""
    return compared_heads(selection.of(CompareSettings), two_passes(selection))


def ask(selection: Selection) -> None:
    """What B is, in one row."""
    if picture_alone():
        return
    against = selection.of(CompareSettings).against
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        looks = {"format_func": AGAINST_NAMES.__getitem__, "label_visibility": "collapsed", "width": 190}
        select("Compare with", AGAINST, against, take_against, key="compare_against", **looks)
        if against == "text":
            ask_text(selection)
        elif against == "model":
            ask_model(selection)
        else:
            say_edits(selection)


def ask_text(selection: Selection) -> None:
    """The second text."""
    st.text_input(
        "Second text, B",
        **bind_text("compare_other", text_beside(selection)),
        max_chars=LONGEST_TEXT,
        on_change=take_other,
        label_visibility="collapsed",
    )


def ask_model(selection: Selection) -> None:
    """The second model."""
    if not (names := models_beside(selection)):
        return
    labels = {name: f"{label} · {purpose_of(name)}" for name, label in zip(names, labels_of(names), strict=True)}
    looks = {"format_func": labels.__getitem__, "label_visibility": "collapsed", "width": 340}
    select("Second model, B", names, model_beside(selection), take_model, key="compare_model", **looks)


def say_edits(selection: Selection) -> None:
    """What is kept and muted."""
    try:
        edits = edits_beside(selection, checkpoint_named(selection.checkpoint))
    except InputError:
        return
    st.markdown(markdown_text(edits_in_words(edits)), width="content")
    edited = {
        (overwrite.site.layer, overwrite.site.head) for overwrite in edits.overwritten if overwrite.site in edits.muted
    }
    notes = [sentences.edited_and_muted(site) for site in sorted(edited)]
    notes += [ZERO_HERE[selection.of(HeadsSettings).baseline]] if edits.muted else []
    if said := " ".join(filter(None, notes)):
        st.caption(said)


def take_against(name: str) -> None:
    """Another kind of comparison."""
    choose(against=name)


def take_other() -> None:
    """Another second text; the page's own where it is left empty."""
    other = str(st.session_state["compare_other"])
    choose(other=other)
    if not other:
        st.toast(OWN_TEXT)


def take_model(name: str) -> None:
    """Another second model."""
    choose(other_model=name)


def show_ways_on(selection: Selection) -> None:
    """Where to go, where nothing can be compared."""
    if selection.of(CompareSettings).against == "text":
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Compare two texts", key="compare_texts", on_click=choose, kwargs={"against": "text"})
        if selection.of(CompareSettings).against == "edits":
            page_link("Edit a weight", "edit", "Sets weights of a head, and keeps them.")
            page_link("Keep an edit on Break the formula", "break", "Changes one part of the model, and keeps it.")
            page_link("Mute a head on Heads that matter", "heads", "Shows what every head does for the answer.")
        else:
            page_link("Get another model", "checkpoints", pages.MODELS_HELP)


def found(heads: ComparedHeads) -> tuple[str, str]:
    """Title and sentence."""
    passes, site = heads.passes, heads.most()
    first, second = (selection.text for selection in passes.selections)
    if passes.one_model and first == second and not passes.edits.to_text() and not heads.distances.any():
        return sentences.SAME_TEXTS, answers_of(passes)
    model = label_of(passes.selections[1].checkpoint) if heads.nearest else ""
    distance, chance = float(heads.distances[site]), heads.by_chance(site)
    title = sentences.title(site, distance, heads.most_attended(site), model, by_chance=chance)
    alone = passes.pairing.keys.alone()
    unit = "tokens" if passes.one_model else "words"
    counts = len(alone[0]), len(alone[1])
    is_alone = not is_of_target(passes) and all(len(stack.ids) == 1 for stack in passes.stacks)
    why = sentences.ONE_TOKEN if is_alone and title == sentences.SAME_PASSES else ""
    said = sentences.sentence(heads.distances, chance, counts, unit, attention_named(passes))
    if len(passes.pairing.queries.pairs) == 1 and not is_alone:
        title, why = sentences.ONE_PARTNER, title
    return title, " ".join(filter(None, [why, one_mask(passes), said, answers_of(passes)]))


def attention_named(passes: TwoPasses) -> str:
    """Of which attention heads are compared, where a model has several; else ""."""
    return TITLES[passes.names[0]].partition(",")[0] if len(kinds_of(passes.traces[0])) > 1 else ""


def one_mask(passes: TwoPasses) -> str:
    """That only one of both sees later tokens, where that is so, Markdown."""
    sides = zip(passes.selections, passes.names, strict=True)
    causal = [label_of(each.checkpoint) for each, name in sides if name == "decoder"]
    return markdown_text(ONE_MASK.format(causal[0])) if len(causal) == 1 else ""


def answers_of(passes: TwoPasses) -> str:
    """What each of the two says, Markdown."""
    first, second = (
        answer_of(checkpoint, trace)
        for checkpoint, trace in zip(passes.checkpoints, (passes.traces[0], passes.own), strict=True)
    )
    return sentences.answers(first, second)


def answer_of(checkpoint: Checkpoint, trace: Trace) -> tuple[str, str]:
    """What kind of answer a model gives, and the answer, plain text."""
    if trace.encoder is not None and trace.decoder is not None:
        return "Output", quoted(shortened(output_of(checkpoint, trace)))
    prediction = prediction_of(checkpoint, trace)
    if prediction is None:
        return "", ""
    return "Verdict" if checkpoint.config.labels else prediction[0], prediction[1]


def draw(heads: ComparedHeads) -> None:
    """The grid of heads; a press chooses one."""
    site, shape = chosen_head(heads), heads.distances.shape
    key = ("compared", heads.distances.tobytes(), heads.partners.tobytes(), site)
    element = grid_key("compare_grid", site)
    spec = chart_spec((key, theme().background), lambda: grid_of(heads, site))
    st.vega_lite_chart(
        spec,
        theme=None,
        on_select=partial(take_chosen, element),
        selection_mode=[CHOSEN],
        key=element,
        alt=f"How far each of {shape[0]} × {shape[1]} heads looks elsewhere in B; the numbers are in the file.",
    )


def grid_of(heads: ComparedHeads, site: Site) -> object:
    """The picture."""
    said = {
        place: sentences.cell_said(place, heads.partner(place), float(heads.distances[place]))
        for place in np.ndindex(*heads.distances.shape)
    }
    return effect_grid(heads.distances, said, signed=False, chosen=site, called=SCALE, least=PALE, theme=theme())


def take_chosen(element: str) -> None:
    """The head that was pressed."""
    points = st.session_state[element]["selection"][CHOSEN]
    config = checkpoint_named(current().checkpoint).config
    sites = chosen_heads(points, (max(config.layers, config.of_decoder().layers), 1_000))
    if len(sites) == 1:
        ((layer, head),) = sites
        choose(layer=layer, head=head)


def chosen_head(heads: ComparedHeads) -> Site:
    """The head that somebody chose, or that which is furthest from its partner."""
    if {"layer", "head"} & set(choices()):
        return current().view.layer, current().head
    return heads.most()


def show_chosen(selection: Selection, heads: ComparedHeads) -> None:
    """The weights of the chosen head in A and in B, and the ways to it in both."""
    site = chosen_head(heads)
    said = sentences.cell_said(site, heads.partner(site), float(heads.distances[site]))
    name, _, distance = said.partition(": ")
    name += f" ({of})" if (of := attention_named(heads.passes)) else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        beside = sentences.beside_chance(heads.by_chance(site))
        st.markdown(f"**{markdown_text(name)}**: {markdown_text(distance + beside)}", width="content")
        show_links(heads, site)
        if site != heads.most():
            st.button(MOST_LABEL, key="compare_most", help=MOST_HELP, on_click=choose_most)
    first, second = heads.rows(site)
    queries, keys = heads.passes.unit_names()
    pairing = heads.passes.pairing
    rows = [sentences.unit_label(pair, queries) for pair in pairing.queries.pairs]
    columns = [sentences.unit_label(column, keys) for column in pairing.keys.columns()]
    comparison(aligned_data(first, second, rows, columns, name), key="compared_head")
    if heads.passes.traces[0].encoder is not None and heads.passes.names[0] in ("decoder", "cross"):
        st.caption(SAME_TARGET)
    if max(len(rows), len(columns)) > MOST_DRAWN:
        st.caption(f"The first {MOST_DRAWN} tokens are drawn; the file has all.")


def choose_most() -> None:
    """The head that differs most, of this text and of the next, as before somebody chose one."""
    take_back("layer")
    take_back("head")


def show_links(heads: ComparedHeads, site: Site) -> None:
    """To the head in Explore, in A and in B."""
    passes, other = heads.passes, heads.partner(site)
    first, second = passes.selections
    place = {"query": None, "key": None}
    here = one_head_on(first, *site, len(passes.layers[0][site[0]].weights))
    if passes.edits != Edits():
        at = {"layer": site[0], "head": site[1], **place}
        page_link("A in Explore", "explore", EXPLORE_HELP, **here | at | {"muted": frozenset()})
        muted = frozenset((head.layer, head.head) for head in passes.edits.muted)
        if edits_of(changed_selection(first, muted=muted, mute=False), passes.checkpoints[1]) == passes.edits:
            page_link("B in Explore", "explore", EXPLORE_HELP, **here | at | {"muted": muted})
        elif passes.edits.overwritten and not passes.edits.muted:
            page_link("B in Edit", "edit", EDIT_HELP, **at)
        else:
            page_link("B in Break the formula", "break", BREAK_HELP, **at)
        return
    page_link("A in Explore", "explore", EXPLORE_HELP, layer=site[0], head=site[1], **here, **place)
    there = one_head_on(second, *other, len(passes.layers[1][other[0]].weights))
    there |= {"text": second.text, "checkpoint": second.checkpoint, "attention": passes.names[1]}
    if second.text != first.text and current().of(CompareSettings).other:
        there["other"] = first.text  # whoever comes back finds both
    page_link("B in Explore", "explore", EXPLORE_HELP, layer=other[0], head=other[1], **there, **place)


def show_alike(heads: ComparedHeads) -> None:
    """The heads that look like the chosen one, of this model and of the other."""
    passes, site = heads.passes, chosen_head(heads)
    st.subheader(ALIKE_TITLE, anchor=False, help=ALIKE_HELP)
    for model in (0,) if passes.one_model or is_of_target(passes) else (0, 1):
        with pages.plain_refusals():
            show_alike_of(heads, heads_alike(passes, site, model), model)


def is_of_target(passes: TwoPasses) -> bool:
    """Whether the queries are those of a text that each model writes for itself."""
    return passes.names[0] != "encoder" and passes.traces[0].encoder is not None


def show_alike_of(heads: ComparedHeads, alike: HeadsAlike, model: int) -> None:
    """Those of one of the models."""
    selection = heads.passes.selections[model]
    label = label_of(selection.checkpoint)
    site = chosen_head(heads)
    st.markdown(sentences.alike_sentence(site, label, alike.mean, alike.texts, beside=bool(model) and heads.nearest))
    for each in alike.heads:
        place = each.layer, each.head
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            said = sentences.alike_said(place, each.similarity, each.chance)
            st.markdown(markdown_text(said), width="content")
            if model == 0:
                key, there = f"alike_{each.layer}_{each.head}", {"layer": each.layer, "head": each.head}
                st.button("Choose it", key=key, on_click=choose, kwargs=there)
                on = one_head_on(selection, *place, len(heads.passes.layers[0][each.layer].weights))
                page_link("See it in Explore", "explore", EXPLORE_HELP, **on, **there, query=None, key=None)
            else:
                on = one_head_on(selection, *place, len(heads.passes.layers[1][each.layer].weights))
                on |= {
                    "checkpoint": selection.checkpoint,
                    "attention": heads.passes.names[1],
                    "query": None,
                    "key": None,
                }
                page_link("B in Explore", "explore", EXPLORE_HELP, **on, layer=each.layer, head=each.head)


def show_settings(selection: Selection, heads: ComparedHeads) -> None:
    """Which attention, and which head of the other model stands beside one."""
    names = list(kinds_of(heads.passes.traces[0]))
    if len(names) > 1:
        looks = {"format_func": TITLES.__getitem__, "help": ATTENTION_HELP}
        radio("Attention", names, selection.view.attention, take_attention, key="compare_attention", **looks)
    if heads.passes.one_model:
        return
    sizes = [sum(len(layer.weights) for layer in layers) for layers in heads.passes.layers]
    shapes = [[len(layer.weights) for layer in layers] for layers in heads.passes.layers]
    if shapes[0] != shapes[1]:
        first, second = (label_of(each.checkpoint) for each in heads.passes.selections)
        st.markdown(markdown_text(NEAREST.format(first=first, heads=sizes[0], second=second, others=sizes[1])))
        return
    looks = {"format_func": PARTNER_NAMES.__getitem__, "help": PARTNER_HELP}
    partner = selection.of(CompareSettings).partner
    radio("Beside each head of A", PARTNERS, partner, take_partner, key="compare_partner", **looks)


def take_attention(name: str) -> None:
    """Another attention, of whose heads none is chosen."""
    choose(attention=name)


def take_partner(name: str) -> None:
    """Heads at the same place, or the most similar ones."""
    choose(partner=name)


def show_list(heads: ComparedHeads) -> None:
    """Every head with its distance, folded."""
    with st.expander(LIST_TITLE, key="compare_list"):
        st.dataframe(
            pd.DataFrame(sentences.head_rows(heads.distances, heads.partners, heads.in_order())), hide_index=True
        )


def offer_files(selection: Selection, heads: ComparedHeads) -> None:
    """The numbers, and the picture to share."""
    site = chosen_head(heads)
    with files():
        button("Distance of every head (CSV)", download_name("compare", "csv", "heads"), heads.table, CSV_HELP)
        name = download_name("compare", "csv", "weights")
        button("Weights of this head in A and B (CSV)", name, partial(heads.weights_table, site), WEIGHTS_HELP)
        if heads.passes.one_model:
            name = download_name("compare", "csv", "patched")
            button("A with parts from B (CSV)", name, patches_of(selection, heads.passes).table, PATCH_CSV_HELP)
    drawn = sentences.bars(heads.distances, heads.in_order())
    checkpoint = checkpoint_named(selection.checkpoint)
    share_bars("compare", drawn, FOOT, provenance_of(selection, checkpoint, heads.passes.edits))


pages.frame("compare")
show()
pages.freeze_imports("compare")
