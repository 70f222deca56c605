"""Write: which words does a model look at while it writes, and what does it choose from?"""

from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

import pages
from model.decoding.steps import Step
from model.measures.last_token import LastLink, most_unusual_link
from model.measures.logit_lens import layer_predictions, lens_logits
from pages.parts.explore.explorer_panel import ShownAttention, explorer_keeps_nothing, show_explorer, show_neighbours
from pages.parts.frame.downloads import Snapshot, download_name, downloads, files
from pages.parts.frame.downloads import button as download
from pages.parts.frame.finding import picture, picture_alone, show_caveats, show_finding, show_limits
from pages.parts.frame.page_links import next_page_link
from pages.parts.frame.theme import theme
from pages.parts.models.catalogue import loaded_from
from pages.parts.passes import trace_of
from pages.parts.shared_cache import checkpoint_named
from pages.parts.state import fields
from pages.parts.state.page_fields import CODEC
from pages.parts.state.session import (
    address_notice,
    changed_selection,
    choose,
    current,
    current_selection,
    fit,
    remember,
    run_again,
    steer,
)
from pages.parts.widgets.binding import bind, radio, select
from pages.parts.widgets.charts import chart_spec, show_chart
from pages.parts.widgets.switch import switch
from pages.parts.write import settings
from pages.parts.write.generation_cursor import (
    GenerationCursor,
    change,
    cursor_of,
    decoders,
    go,
    move,
    take_token,
)
from pages.parts.write.token_strip import KEY, written_tokens
from viz.charts.logit_lens import lens_chart, lens_table
from viz.charts.next_token import CHOSEN, drawn_tokens, stage_chart, titles_of
from viz.explorer.attention_kinds import kinds_of
from viz.export.continuation_script import written_script
from viz.export.provenance import Provenance
from viz.sentences.token_strip import written_row
from viz.text import writing_finding
from viz.text.weight_sentences import kept_tokens
from viz.tokens import markdown_text, percent, visible

QUESTION = "Which words does the model look at as it writes?"
DRAWN, LAYER_PLACES = 12, 5  # tokens in the chart of the next one, and for each layer
HOW_TO_READ = """
- The text that you typed is bold. The number under every written **token** (a word or a piece of one) is the
  probability that the model gave it; a larger probability stands out more from the page. Click a token to go back to
  the step that wrote it.
- Each row of bars is a token that could come next; **▸** marks the one that was taken there, or that **Step** takes
  next. The columns show the model's own probability and then the probability after each setting, one after the other.
  Click a row to take that token instead and to continue from there. **␣** stands for the space that begins a token.
- In the explorer, the last token that has been read is kept as the **query**: the next token is computed from what this
  query attends to.
"""
METHOD_NAMES = {"sample": "drawn at random", "greedy": "the likeliest"}
METHOD_HELP = (
    "Drawn at random: each token is drawn with its probability after the settings below; the same seed writes the "
    "same text again. The likeliest: always the token with the highest probability after these settings."
)
PENALTY_HELP = (
    "First setting: makes tokens that are already in the text less likely. Their logits (the model's numbers before "
    "they become probabilities) are divided by this number, or multiplied by it where they are negative. 1 changes "
    "nothing."
)
TEMPERATURE_HELP = (
    "Second setting: divides all logits by this number. Below 1, likely tokens become likelier; above 1, all tokens "
    "come closer together. 0 keeps only the likeliest token; 1 changes nothing."
)
TOP_K_HELP = "Third setting: keeps only this many tokens, the likeliest. 0 sets no limit."
TOP_P_HELP = (
    "Last setting: keeps only the likeliest tokens, as many as are needed to reach this probability together. 0 "
    "keeps one token; 1 keeps all tokens that are left."
)
SEED_HELP = (
    "Sets the random numbers that are drawn. Another seed writes another text; the same seed writes the same text "
    "again."
)
TOKENS_HELP = "How many tokens Run writes, one after the other. You can stop the run; the tokens written so far stay."
STEP_HELP = "Writes one token: the one marked ▸ in the chart."
BACK_HELP = "Shows the step before. The written tokens stay until you take another token there."
RESET_HELP = "Removes all written tokens."
OTHER_HELP = "Any token in the chart."
TAKE_SAID = (
    "**Write this token** puts the token of this list here, whatever the settings choose; so does a click on its row "
    "in the chart. Another token in the place of a written one removes all that was written after it."
)
LENS_HELP = (
    "The last norm and the token table turn the stream of the last layer into the model's answer. Here they are "
    "applied to the embedding and to the stream after every layer: the logit lens (nostalgebraist 2020). Early layers "
    "were not trained to be read in this way, so they only hint at when the answer takes shape. The last row is the "
    "model's own answer."
)
SCRIPT_HELP = "The few lines of Python that write this text again, token for token, with these settings."
WRITTEN_BY = "written after the text, token by token"
MUTE_HELP = (
    "Runs the model with the heads that are off in the explorer muted: the context of each, the weighted sum of its "
    "values, is set to zero. The text and every probability here then belong to that run."
)


def show() -> None:
    """The page, from top to bottom."""
    names = decoders()
    selection = current_selection()
    pages.show_bar(selection, names)
    if selection.checkpoint not in names:
        show_finding(QUESTION)
        pages.say_kept(selection)
        address_notice()
        pages.say_unfit("write", selection.checkpoint)
        return
    running = st.session_state.pop("_running", False)
    with pages.plain_refusals():
        with pages.question_above(QUESTION):
            cursor = cursor_of(selection, checkpoint_named(selection.checkpoint))
        remember(cursor.selection)
        if running:
            run(cursor)
        show_parts(cursor)


def show_parts(cursor: GenerationCursor) -> None:
    """What was found and the picture, with the controls beside it; then everything else."""
    step = cursor.step()
    show_next_token(cursor, step)
    show_caveats(cursor.checkpoint, trace_of(cursor.selection, cursor.edits), len(cursor.read))
    if picture_alone():
        with picture():
            show_text(cursor)
            show_stages(cursor, step, drawn_tokens(step, DRAWN))
        return
    st.session_state["_numbers_of"] = cursor.name
    show_choice(cursor, step)
    address_notice()
    pages.say_kept(cursor.selection)
    show_limits(cursor.checkpoint)
    st.markdown(f"**How to read this**\n{HOW_TO_READ}")
    show_attention()
    show_lens(cursor, step)
    next_page_link("write")


def show_next_token(cursor: GenerationCursor, step: Step) -> None:
    """The likeliest next token as the title; under it what was taken, and what the last token looked at."""
    cut = kept_tokens(len(cursor.prompt), cursor.dropped)
    if cursor.full or cursor.ended:
        show_finding(QUESTION, sentence=why_it_stops(cursor) + cut)
        return
    pieces, (own, probability) = cursor.checkpoint.tokenizer.pieces, step.alternatives(1)[0]
    title = writing_finding.title(
        cursor.checkpoint.tokenizer.decode_with_unknown(cursor.read), pieces([own])[0], probability
    )
    shares = step.probability, float(step.after[step.token_id])
    how = {"already": cursor.at < len(cursor.written), "drawn": cursor.chosen.method == "sample"}
    sentence = writing_finding.choice(step.token, len(cursor.read), shares, **how)
    sentence = f"{sentence} {looking_sentence(cursor)}{cut}{writing_finding.muted(len(cursor.edits.muted))}"
    show_finding(QUESTION, markdown_text(title), sentence, explained=writing_finding.HOW_CHOSEN)


def looking_sentence(cursor: GenerationCursor) -> str:
    """What the last token looked at that those before it did not."""
    link = unusual_link(cursor.name, cursor)
    tokens = cursor.checkpoint.tokenizer.pieces(cursor.read)
    if link is None:
        return ""
    word = writing_finding.word_around(tokens, link.key)
    return writing_finding.attention(link, tokens[-1], tokens[link.key], word)


@st.cache_data(show_spinner=False, max_entries=64)
def unusual_link(name: str, _here: GenerationCursor) -> LastLink | None:
    """The weight of the last token that the others' habit explains least; the name says which pass it is of."""
    decoder = _here.trace(_here.read).decoder
    assert decoder is not None
    return most_unusual_link(block.self_attention.weights.numpy() for block in decoder.blocks)


def why_it_stops(cursor: GenerationCursor) -> str:
    if cursor.full:
        most = cursor.checkpoint.longest
        return f"The model reads at most {most} tokens, and the text has reached that length."
    return "The model has ended the text here. Go back or reset to write another text."


def show_text(cursor: GenerationCursor) -> None:
    """The text, every written token with its probability."""
    tokens = cursor.checkpoint.tokenizer.pieces(cursor.written)
    prompt = cursor.checkpoint.tokenizer.decode_with_unknown(cursor.prompt)
    row = written_row(prompt, tokens, cursor.probabilities(), cursor.at, theme=theme())
    written_tokens(row, partial(take_place, cursor))


def take_place(cursor: GenerationCursor) -> None:
    place = st.session_state[KEY].step if KEY in st.session_state else None
    if isinstance(place, int | float) and 0 <= place < len(cursor.written):
        go(cursor, int(place))


def show_moves(cursor: GenerationCursor, *, running: bool) -> None:
    """Back, Step, Run, Stop, Reset, and how many tokens a run writes."""
    stuck = cursor.full or cursor.ended
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        back = cursor.at == 0 or running
        st.button("Back", key="back", on_click=go, args=(cursor, cursor.at - 1), disabled=back, help=BACK_HELP)
        st.button("Step", key="on", on_click=step_on, args=(cursor,), disabled=stuck or running, help=STEP_HELP)
        if running:
            st.button("Stop", key="stop", on_click=choose, type="primary")
        else:
            label = f"Run {cursor.chosen.tokens}"
            st.button(
                label, key="run", on_click=start, args=(cursor,), disabled=stuck, type="primary", help=TOKENS_HELP
            )
        empty = not cursor.written or running
        anew: dict[str, Any] = {"kwargs": settings.NOTHING_WRITTEN, "disabled": empty, "help": RESET_HELP}
        st.button("Reset", key="reset", on_click=move, args=(cursor,), **anew)


def show_downloads(cursor: GenerationCursor) -> None:
    """Files of the text and of the view. They are made later, where no session is: all that they need goes along."""
    with files():
        name = download_name("write", "py", "text")
        loads = loaded_from(cursor.selection.checkpoint)
        download("Text as Python", name, partial(script, cursor, loads), SCRIPT_HELP, disabled=not cursor.written)
        any_head = bool(cursor.selection.view.heads_on(cursor.checkpoint.config.heads))
        downloads("write", partial(step_snapshot, cursor, loads), any_head=any_head)


def step_snapshot(cursor: GenerationCursor, loads: str | Path) -> Snapshot:
    """The pass over the text up to this step, as the explorer shows it. loads: the model, for a script."""
    trace = cursor.trace(cursor.read)
    read = cursor.written[: cursor.at]
    source = Provenance(
        checkpoint=cursor.checkpoint.name,
        text=cursor.selection.text,
        target=cursor.checkpoint.tokenizer.decode(read) if read else "",
        target_by=WRITTEN_BY,
        edits=cursor.edits,
    )
    return Snapshot(
        trace=trace, view=cursor.selection.view, provenance=source, loads=loads, for_script={"written": read}
    )


def step_on(cursor: GenerationCursor) -> None:
    take_token(cursor, cursor.next_token())


def start(cursor: GenerationCursor) -> None:
    """Run from this step on: what was written after it goes."""
    move(cursor, written=cursor.written[: cursor.at], at=None)
    st.session_state["_running"] = True


def run(cursor: GenerationCursor) -> None:
    """Write token after token, each kept as it comes: whatever stops this leaves what there is."""
    show_finding(QUESTION, sentence="The model writes token by token. Stop keeps the tokens written so far.")
    show_moves(cursor, running=True)
    place = st.empty()
    selection = cursor.selection
    options = cursor.options | {"max_tokens": cursor.chosen.tokens, "edits": cursor.edits}
    for part in cursor.checkpoint.stream(selection.text, written=cursor.written, **options):
        written = (*cursor.written, *part.token_ids)
        change(cursor, written=written, at=None)
        st.session_state.pop("_touched", None)  # no control did that: whoever goes back meanwhile is followed
        place.text(cursor.checkpoint.tokenizer.decode_with_unknown((*cursor.prompt, *written)))
    run_again()


def show_choice(cursor: GenerationCursor, step: Step) -> None:
    """What moves the text on, the text, and the likeliest next tokens through every setting, with the settings."""
    left, side = st.columns([5, 2], gap="large")
    ids = drawn_tokens(step, DRAWN)
    with left:
        show_moves(cursor, running=False)
        with picture():
            show_text(cursor)
            show_stages(cursor, step, ids)
        show_others(cursor, step, ids)
    with side:
        show_settings(cursor)


def show_stages(cursor: GenerationCursor, step: Step, ids: list[int]) -> None:
    """The chart; a click on a row takes its token."""
    chosen, theme_now = cursor.chosen, theme()
    titles = titles_of(stage_settings(chosen))
    stages = {titles[name]: probabilities[ids].tolist() for name, probabilities in step.stages.items()}
    tokens = cursor.checkpoint.tokenizer.pieces(ids)

    def make() -> object:
        return stage_chart(stages, ids, tokens, taken=ids.index(step.token_id), theme=theme_now)

    key = (cursor.name, chosen, theme_now.background)
    st.vega_lite_chart(
        chart_spec(("next", key), make),
        theme=None,
        on_select=partial(take_row, cursor, ids),
        selection_mode=[CHOSEN],
        key=f"next_{cursor.name}",
        alt="Bars: the likeliest next tokens, by the model and after every setting.",
    )


def stage_settings(chosen: settings.Continuation) -> dict[str, float]:
    """The settings by the names of the stages."""
    return {
        "repetition_penalty": chosen.penalty,
        "temperature": chosen.temperature,
        "top_k": chosen.top_k,
        "top_p": chosen.top_p,
    }


def take_row(cursor: GenerationCursor, ids: list[int]) -> None:
    """The token of the row that was clicked."""
    picked = st.session_state[f"next_{cursor.name}"]["selection"].get(CHOSEN) or []
    token_id = picked[0].get("id") if picked else None
    if token_id in ids:
        take_token(cursor, int(token_id))


def show_others(cursor: GenerationCursor, step: Step, ids: list[int]) -> None:
    """The same choice as a list, for whoever does not click into a chart."""
    pieces = dict(zip(ids, cursor.checkpoint.tokenizer.pieces(ids), strict=True))

    def named(token_id: int) -> str:
        return f"{ids.index(token_id) + 1} · {visible(pieces[token_id])} · {percent(float(step.before[token_id]), 1)}"

    with st.container(horizontal=True, vertical_alignment="bottom"):
        other = other_of(cursor, ids)
        keep = partial(keep_other, cursor)
        select("Another token", ids, other, keep, key="other", format_func=named, help=OTHER_HELP, width=260)
        stuck = cursor.full or cursor.ended
        st.button("Write this token", key="take", on_click=take_token, args=(cursor, other), disabled=stuck)
    st.caption(TAKE_SAID)


def other_of(cursor: GenerationCursor, ids: list[int]) -> int:
    """What stands in the list: what was chosen there for this step, or else the first."""
    name, token_id = st.session_state.get("_other", ("", 0))
    return token_id if name == cursor.name and token_id in ids else ids[0]


def keep_other(cursor: GenerationCursor, token_id: int) -> None:
    """Another token in the list; it is written once it is taken."""
    st.session_state["_other"] = (cursor.name, token_id)


def show_settings(cursor: GenerationCursor) -> None:
    """What is done to the probabilities before a token is taken; the columns of the chart say in which order."""
    chosen = cursor.chosen

    def changes(name: str) -> dict[str, Any]:
        return {"key": bind(name, getattr(chosen, name), told=True), "on_change": take_setting, "args": (cursor, name)}

    radio(
        "Next token",
        settings.METHODS,
        chosen.method,
        lambda method: change(cursor, method=method),
        key="method",
        format_func=METHOD_NAMES.__getitem__,
        help=METHOD_HELP,
    )
    st.slider("Temperature", 0.0, settings.HOTTEST, step=0.05, help=TEMPERATURE_HELP, **changes("temperature"))
    st.slider("Top-p", 0.0, 1.0, step=0.05, help=TOP_P_HELP, **changes("top_p"))
    with st.expander("More settings"):
        hardest, most = settings.HARDEST, settings.MOST_AT_ONCE
        st.number_input("Repetition penalty", 1.0, hardest, step=0.05, help=PENALTY_HELP, **changes("penalty"))
        st.number_input("Top-k", 0, settings.MOST_LEFT, step=1, help=TOP_K_HELP, **changes("top_k"))
        st.number_input("Seed", 0, settings.LARGEST_SEED, step=1, help=SEED_HELP, **changes("seed"))
        st.number_input("Tokens per run", 1, most, step=1, help=TOKENS_HELP, **changes("tokens"))


def take_setting(cursor: GenerationCursor, name: str) -> None:
    """The value of a control; the step that is looked at stays."""
    with suppress(ValueError):  # a browser can send any number
        change(cursor, **{name: CODEC.parse(name, fields.address_text(st.session_state[name]))})


@st.fragment
def show_attention() -> None:
    """Every head on the text up to this step; this alone runs when the explorer is used."""
    with pages.plain_refusals():
        attention = shown_attention()
        remember(attention.selection)
        if (
            attention.name != st.session_state["_numbers_of"]
        ):  # heads were muted or given back: all else says other numbers
            run_again()
        if attention.selection.view.query is None and explorer_keeps_nothing():
            steer()  # it has let its query go, and the last token is shown in its place
        attention = from_last_token(attention)
        st.subheader("What the model looks at", anchor=False)
        show_explorer(attention, shown_attention)
        with st.container(horizontal=True, vertical_alignment="center"):
            mute = bind("mute", attention.selection.mute, told=True)
            switch("Mute the heads that are off", MUTE_HELP, key=mute, on_change=take_mute)
            show_downloads(cursor_of(attention.selection, checkpoint_named(attention.selection.checkpoint)))
        show_neighbours(attention)


def from_last_token(attention: ShownAttention) -> ShownAttention:
    """The same with the last token that has been read as the query, where none was chosen."""
    if attention.selection.view.query is not None:
        return attention
    last = len(attention.kind.keys.tokens) - 1
    return attention._replace(selection=changed_selection(attention.selection, query=last))


def shown_attention() -> ShownAttention:
    """Every head on the text up to this step."""
    selection = current()
    cursor = cursor_of(selection, checkpoint_named(selection.checkpoint))
    kinds = kinds_of(cursor.trace(cursor.read))
    return ShownAttention(fit(cursor.selection, kinds), kinds, cursor.name)


def take_mute() -> None:
    """Mute or give back; the whole page says other numbers then."""
    choose(mute=st.session_state["mute"])


def show_lens(cursor: GenerationCursor, step: Step) -> None:
    """What each layer would have said, and where the token that was taken stood in it."""
    st.subheader("What each layer would predict", anchor=False, help=LENS_HELP)
    decoder = cursor.trace(cursor.read).decoder
    assert decoder is not None
    predictions = layer_predictions(lens_logits(cursor.checkpoint.model, decoder), step.token_id, LAYER_PLACES)
    shares = predictions.probabilities.numpy()
    tokens = [cursor.checkpoint.tokenizer.pieces(row) for row in predictions.ids.tolist()]
    left, beside = st.columns(2, gap="medium")
    with left:
        show_chart(
            ("lens", cursor.name),
            lambda: lens_chart(shares, tokens, theme=theme()),
            "The likeliest tokens after every layer.",
        )
    with beside:
        first = [row[0] for row in tokens]
        table = lens_table(first, shares[:, 0], predictions.of_token.numpy(), predictions.ranks.numpy())
        st.markdown(f"The table follows the token **“{markdown_text(visible(step.token))}”**.")
        st.dataframe(pd.DataFrame(table), hide_index=True)


def script(cursor: GenerationCursor, loads: str | Path) -> str:
    text = cursor.selection.text
    return written_script(loads, text, cursor.written, cursor.by_hand(), cursor.options, cursor.edits)


pages.frame("write")
show()
pages.freeze_imports("write")
