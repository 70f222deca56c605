"""Write: which words does a model look at while it writes, and what does it choose from?"""

from contextlib import suppress
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

import pages
from model.decoding.steps import Step
from model.measures.last_token import LastLink, most_unusual_link
from model.measures.logit_lens import lens_logits, ranks
from pages.parts.cache import checkpoint_named
from pages.parts.components.token_strip import KEY, written_tokens
from pages.parts.explore.explorer_panel import Attended, explorer_keeps_nothing, show_explorer, show_neighbours
from pages.parts.frame.downloads import Snapshot, download_name, downloads, files
from pages.parts.frame.downloads import button as download
from pages.parts.frame.finding import picture, picture_alone, show_caveats, show_finding
from pages.parts.frame.page_links import door
from pages.parts.frame.theme import theme
from pages.parts.passes import trace_of
from pages.parts.state import fields
from pages.parts.state.page_fields import CODEC
from pages.parts.state.selection import Selection
from pages.parts.state.session import (
    address_notice,
    changed,
    choose,
    current,
    fit,
    remember,
    run_again,
    selected,
    steer,
)
from pages.parts.widgets.binding import bind, radio, select
from pages.parts.widgets.charts import chart_spec, show_chart
from pages.parts.widgets.switch import switch
from pages.parts.write import settings
from pages.parts.write.generation_cursor import (
    Stand,
    change,
    decoders,
    go,
    likeliest,
    move,
    stand,
    take_token,
)
from pages.parts.write.settings import CHECKPOINT
from viz.charts.logit_lens import lens_chart, lens_table
from viz.charts.next_token import CHOSEN, stage_chart, titles_of
from viz.explorer.attention_kinds import kinds_of
from viz.export.continuation_script import written_script
from viz.export.provenance import Provenance
from viz.sentences.token_strip import written_row
from viz.text import writing_finding
from viz.text.weight_sentences import kept
from viz.tokens import markdown_text, percent, visible

QUESTION = "Which words does it look at while it writes?"
NEXT = "What does each part of the formula do for this? Take one out on Break the formula"
NEXT_HELP = "The same model with a part of its attention taken away."
DRAWN, LAYER_PLACES = 12, 5  # tokens in the chart of the next one, and for each layer
HOW_TO_READ = """
- The text you typed stands in bold; under every written **token** (a word or a piece of one) is the probability that
  the model gave it, and its shade is deeper the larger that is. Click one to go back to the step that wrote it.
- A row of bars is a token that could come next, **▸** the one that was taken there, or that **Step** takes next. The
  columns are the model's own probability and what each setting makes of it, one after the other. Click a row to take
  that token instead, and go on from there. **␣** stands for the space that begins a token.
- In the explorer, the last token that has been read is kept as the **query**: what it attends to is what the next token
  is computed from.
"""
METHOD_NAMES = {"sample": "at random", "greedy": "the likeliest"}
METHOD_HELP = (
    "At random: each token as often as its probability says, after the settings below; the seed decides which, so that "
    "the same seed writes the same text. The likeliest: the one with the highest probability, every time."
)
PENALTY_HELP = (
    "First: tokens that are in the text already become less likely. Their logits (the model's numbers before they "
    "become probabilities) are divided by it, or multiplied where they are negative. 1 changes nothing."
)
TEMPERATURE_HELP = (
    "Second: all logits are divided by it. Below 1, likely tokens get likelier; above 1, all come closer together. 0 "
    "leaves the likeliest token alone, 1 changes nothing."
)
TOP_K_HELP = "Third: only this many tokens are left, the likeliest. 0 sets no limit."
TOP_P_HELP = (
    "Last: only the likeliest tokens are left, as many as have this probability together. 0 leaves one token, 1 leaves "
    "all that are there."
)
SEED_HELP = "Which random numbers are drawn. Another seed writes another text; the same one writes the same text again."
TOKENS_HELP = "How many tokens Run writes, one after the other. It can be stopped, and what is written stays."
STEP_HELP = "Write one token: the one marked ▸ in the chart."
BACK_HELP = "Look at the step before. What has been written stays until another token is taken there."
RESET_HELP = "Take away all that has been written."
OTHER_HELP = "Any of the tokens in the chart, as a click on its row would take it."
LENS_HELP = (
    "The last norm and the table of tokens, which turn the stream of the last layer into the model's answer, applied "
    "to the stream after every layer: the logit lens (nostalgebraist 2020). Early layers were not trained to be read "
    "so; what they say is a hint at when the answer takes shape, no more. The last row is the model's own answer."
)
SCRIPT_HELP = "The few lines that write this text again, token for token, with these settings."
WRITTEN_BY = "written after the text, token by token"
MUTE_HELP = (
    "Runs the model without the heads that are off in the explorer: their contexts, the weighted sums of the values, "
    "are set to zero. The text and every probability here are then those of that run."
)
NONE = (
    "No checkpoint here continues a text: there is no decoder without an encoder in the folder checkpoints. Put one "
    "there, GPT-2 for example, or train one with `python -m model.training.language`."
)


def show() -> None:
    """The page, from top to bottom."""
    names = decoders()
    selection = selected()
    pages.show_bar(selection, names)
    if selection.checkpoint not in names:
        show_finding(QUESTION)
        pages.say_kept(selection)
        show_other(selection, names)
        return
    running = st.session_state.pop("_running", False)
    with pages.plain_refusals():
        with pages.question_above(QUESTION):
            here = stand(selection, checkpoint_named(selection.checkpoint))
        remember(here.selection)
        if running:
            run(here)
        show_parts(here)


def show_parts(here: Stand) -> None:
    """What was found and the picture, with the controls beside it; then everything else."""
    step = here.step()
    show_found(here, step)
    show_caveats(here.checkpoint, trace_of(here.selection, here.edits), len(here.read))
    if picture_alone():
        with picture():
            show_text(here)
            show_stages(here, step, likeliest(step, DRAWN))
        return
    st.session_state["_numbers_of"] = here.name
    show_choice(here, step)
    address_notice()
    pages.say_kept(here.selection)
    st.markdown(f"**How to read this**\n{HOW_TO_READ}")
    show_attention()
    show_lens(here, step)
    door(NEXT, "break", NEXT_HELP)


def show_other(selection: Selection, names: list[str]) -> None:
    """What to open instead, where the checkpoint writes no text of its own."""
    if not names:
        st.info(NONE)
        return
    address_notice()
    st.info(f"{markdown_text(selection.checkpoint)} continues no text. This page needs a decoder that stands alone.")
    pages.offer(CHECKPOINT if CHECKPOINT in names else names[0])


def show_found(here: Stand, step: Step) -> None:
    """The likeliest next token as the title; under it what was taken, and what the last token looked at."""
    cut = kept(len(here.prompt), here.dropped)
    if here.full or here.ended:
        show_finding(QUESTION, sentence=why_it_stops(here) + cut)
        return
    pieces, (own, probability) = here.checkpoint.tokenizer.pieces, step.alternatives(1)[0]
    title = writing_finding.title(here.checkpoint.tokenizer.decode(here.read), pieces([own])[0], probability)
    shares = step.probability, float(step.after[step.token_id])
    how = {"already": here.at < len(here.written), "drawn": here.chosen.method == "sample"}
    said = writing_finding.choice(step.token, len(here.read), shares, **how)
    said = f"{said} {looking_sentence(here)}{cut}"
    show_finding(QUESTION, markdown_text(title), said, explained=writing_finding.HOW_CHOSEN)


def looking_sentence(here: Stand) -> str:
    """What the last token looked at that those before it did not."""
    link = unusual_link(here.name, here)
    tokens = here.checkpoint.tokenizer.pieces(here.read)
    return writing_finding.attention(link, tokens[-1], tokens[link.key] if link else "")


@st.cache_data(show_spinner=False, max_entries=64)
def unusual_link(name: str, _here: Stand) -> LastLink | None:
    """The weight of the last token that the others' habit explains least; the name says which pass it is of."""
    decoder = _here.trace(_here.read).decoder
    assert decoder is not None
    return most_unusual_link(block.self_attention.weights.numpy() for block in decoder.blocks)


def why_it_stops(here: Stand) -> str:
    """Why there is no next token."""
    if here.full:
        most = here.checkpoint.longest
        return f"The model reads at most {most} tokens, and the text has come to that: it stops here."
    return "The model has ended the text here. Go back, or reset, to write another."


def show_text(here: Stand) -> None:
    """The text, every written token with its probability."""
    tokens = here.checkpoint.tokenizer.pieces(here.written)
    prompt = here.checkpoint.tokenizer.decode(here.prompt)
    row = written_row(prompt, tokens, here.probabilities(), here.at, theme=theme())
    written_tokens(row, partial(take_place, here))


def take_place(here: Stand) -> None:
    """Back to the step of a token that was clicked."""
    place = st.session_state[KEY].step if KEY in st.session_state else None
    if isinstance(place, int | float) and 0 <= place < len(here.written):
        go(here, int(place))


def show_moves(here: Stand, *, running: bool) -> None:
    """Back, Step, Run, Stop, Reset, and how many tokens a run writes."""
    stuck = here.full or here.ended
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        back = here.at == 0 or running
        st.button("Back", key="back", on_click=go, args=(here, here.at - 1), disabled=back, help=BACK_HELP)
        st.button("Step", key="on", on_click=step_on, args=(here,), disabled=stuck or running, help=STEP_HELP)
        if running:
            st.button("Stop", key="stop", on_click=choose, type="primary")
        else:
            label = f"Run {here.chosen.tokens}"
            st.button(label, key="run", on_click=start, args=(here,), disabled=stuck, type="primary", help=TOKENS_HELP)
        empty = not here.written or running
        anew: dict[str, Any] = {"kwargs": settings.NOTHING_WRITTEN, "disabled": empty, "help": RESET_HELP}
        st.button("Reset", key="reset", on_click=move, args=(here,), **anew)


def show_downloads(here: Stand) -> None:
    """Files of the text and of the view. They are made later, where no session is: all that they need goes along."""
    with files():
        name = download_name("write", "py", "text")
        download("Text as Python", name, partial(script, here), SCRIPT_HELP, disabled=not here.written)
        any_head = bool(here.selection.view.heads_on(here.checkpoint.config.heads))
        downloads("write", partial(step_snapshot, here), any_head=any_head)


def step_snapshot(here: Stand) -> Snapshot:
    """The pass over the text up to this step, as the explorer shows it."""
    trace = here.trace(here.read)
    read = here.written[: here.at]
    source = Provenance(
        checkpoint=here.checkpoint.name,
        text=here.selection.text,
        target=here.checkpoint.tokenizer.decode(read) if read else "",
        target_by=WRITTEN_BY,
        edits=here.edits,
    )
    return Snapshot(trace=trace, view=here.selection.view, provenance=source, for_script={"written": read})


def step_on(here: Stand) -> None:
    """Write the token that the settings take."""
    take_token(here, here.next_token())


def start(here: Stand) -> None:
    """Run from this step on: what was written after it goes."""
    move(here, written=here.written[: here.at], at=None)
    st.session_state["_running"] = True


def run(here: Stand) -> None:
    """Write token after token, each kept as it comes: whatever stops this leaves what there is."""
    show_finding(QUESTION, sentence="It writes, token by token; Stop keeps what there is.")
    show_moves(here, running=True)
    place = st.empty()
    selection, prompt = here.selection, here.checkpoint.tokenizer.decode(here.prompt)
    options = here.options | {"max_tokens": here.chosen.tokens, "edits": here.edits}
    for part in here.checkpoint.stream(selection.text, written=here.written, **options):
        written = (*here.written, *part.token_ids)
        change(here, written=written, at=None)
        st.session_state.pop("_touched", None)  # no control did that: whoever goes back meanwhile is followed
        place.text(prompt + here.checkpoint.tokenizer.decode(written))
    run_again()


def show_choice(here: Stand, step: Step) -> None:
    """What moves the text on, the text, and the likeliest next tokens through every setting, with the settings."""
    left, side = st.columns([5, 2], gap="large")
    ids = likeliest(step, DRAWN)
    with left:
        show_moves(here, running=False)
        with picture():
            show_text(here)
            show_stages(here, step, ids)
        show_others(here, step, ids)
    with side:
        show_settings(here)


def show_stages(here: Stand, step: Step, ids: list[int]) -> None:
    """The chart; a click on a row takes its token."""
    chosen, theme_now = here.chosen, theme()
    titles = titles_of(stage_settings(chosen))
    stages = {titles[name]: found[ids].tolist() for name, found in step.stages.items()}
    tokens = here.checkpoint.tokenizer.pieces(ids)

    def make() -> object:
        return stage_chart(stages, ids, tokens, taken=ids.index(step.token_id), theme=theme_now)

    key = (here.name, chosen, theme_now.background)
    st.vega_lite_chart(
        chart_spec(("next", key), make),
        theme=None,
        on_select=partial(take_row, here, ids),
        selection_mode=[CHOSEN],
        key=f"next_{here.name}",
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


def take_row(here: Stand, ids: list[int]) -> None:
    """The token of the row that was clicked."""
    picked = st.session_state[f"next_{here.name}"]["selection"].get(CHOSEN) or []
    wanted = picked[0].get("id") if picked else None
    if wanted in ids:
        take_token(here, int(wanted))


def show_others(here: Stand, step: Step, ids: list[int]) -> None:
    """The same choice as a list, for whoever does not click into a chart."""
    pieces = dict(zip(ids, here.checkpoint.tokenizer.pieces(ids), strict=True))

    def named(token_id: int) -> str:
        return f"{ids.index(token_id) + 1} · {visible(pieces[token_id])} · {percent(float(step.before[token_id]), 1)}"

    with st.container(horizontal=True, vertical_alignment="bottom"):
        other = other_of(here, ids)
        keep = partial(keep_other, here)
        select("Another token", ids, other, keep, key="other", format_func=named, help=OTHER_HELP, width=260)
        stuck = here.full or here.ended
        st.button("Take it", key="take", on_click=take_token, args=(here, other), disabled=stuck)


def other_of(here: Stand, ids: list[int]) -> int:
    """What stands in the list: what was chosen there for this step, or else the first."""
    name, token_id = st.session_state.get("_other", ("", 0))
    return token_id if name == here.name and token_id in ids else ids[0]


def keep_other(here: Stand, token_id: int) -> None:
    """Another token in the list; it is written once it is taken."""
    st.session_state["_other"] = (here.name, token_id)


def show_settings(here: Stand) -> None:
    """What is done to the probabilities before a token is taken; the columns of the chart say in which order."""
    chosen = here.chosen

    def changes(name: str) -> dict[str, Any]:
        return {"key": bind(name, getattr(chosen, name), told=True), "on_change": take_setting, "args": (here, name)}

    radio(
        "Take",
        settings.METHODS,
        chosen.method,
        lambda method: change(here, method=method),
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
        st.number_input("Tokens a run", 1, most, step=1, help=TOKENS_HELP, **changes("tokens"))


def take_setting(here: Stand, name: str) -> None:
    """The value of a control; the step that is looked at stays."""
    with suppress(ValueError):  # a browser can send any number
        change(here, **{name: CODEC.parse(name, fields.written(st.session_state[name]))})


@st.fragment
def show_attention() -> None:
    """Every head on the text up to this step; this alone runs when the explorer is used."""
    with pages.plain_refusals():
        shown = attended()
        remember(shown.selection)
        if shown.name != st.session_state["_numbers_of"]:  # heads were muted or given back: all else says other numbers
            run_again()
        if shown.selection.view.query is None and explorer_keeps_nothing():
            steer()  # it has let its query go, and the last token is shown in its place
        shown = from_last_token(shown)
        st.subheader("What it looks at", anchor=False)
        show_explorer(shown, attended)
        with st.container(horizontal=True, vertical_alignment="center"):
            mute = bind("mute", shown.selection.mute, told=True)
            switch("Mute the heads that are off", MUTE_HELP, key=mute, on_change=take_mute)
            show_downloads(stand(shown.selection, checkpoint_named(shown.selection.checkpoint)))
        show_neighbours(shown)


def from_last_token(shown: Attended) -> Attended:
    """The same with the last token that has been read as the query, where none was chosen."""
    if shown.selection.view.query is not None:
        return shown
    last = len(shown.kind.keys.tokens) - 1
    return shown._replace(selection=changed(shown.selection, query=last))


def attended() -> Attended:
    """Every head on the text up to this step."""
    selection = current()
    here = stand(selection, checkpoint_named(selection.checkpoint))
    kinds = kinds_of(here.trace(here.read))
    return Attended(fit(here.selection, kinds), kinds, here.name)


def take_mute() -> None:
    """Mute or give back; the whole page says other numbers then."""
    choose(mute=st.session_state["mute"])


def show_lens(here: Stand, step: Step) -> None:
    """What each layer would have said, and where the token that was taken stood in it."""
    st.subheader("What each layer would have said", anchor=False, help=LENS_HELP)
    decoder = here.trace(here.read).decoder
    assert decoder is not None
    logits = lens_logits(here.checkpoint.model, decoder)
    found = logits.softmax(dim=-1)
    best = found.topk(min(LAYER_PLACES, found.shape[-1]), dim=-1)
    tokens = [here.checkpoint.tokenizer.pieces(row) for row in best.indices.tolist()]
    left, beside = st.columns([3, 2], gap="large")
    with left:
        show_chart(
            ("lens", here.name),
            lambda: lens_chart(best.values.numpy(), tokens, theme=theme()),
            "The likeliest tokens after every layer.",
        )
    with beside:
        own = found[:, step.token_id].numpy()
        first = [row[0] for row in tokens]
        table = lens_table(first, best.values[:, 0].numpy(), own, ranks(logits, step.token_id).numpy())
        st.markdown(f"The table follows the token **“{markdown_text(visible(step.token))}”**.")
        st.dataframe(pd.DataFrame(table), hide_index=True)


def script(here: Stand) -> str:
    """The text as Python."""
    selection = here.selection
    return written_script(selection.checkpoint, selection.text, here.written, here.by_hand(), here.options, here.edits)


pages.frame("write")
show()
pages.freeze_imports("write")
