"""The likeliest next tokens: what the model gives each, and what is left of it after every logits processor."""

from collections.abc import Mapping, Sequence

import altair as alt

from model.decoding.steps import Step
from viz.charts.chart_data import data_of
from viz.charts.lines import with_page_style
from viz.theme import FONT_SIZE, LIGHT, Theme
from viz.tokens import percent, visible

CHOSEN = "token"  # the name of the selection in the chart
ROW, HEADER = 24, 46
BAR = 0.94  # of a column's width: the longest bar
LEAST_DRAWN = 4  # of the tokens that the settings make likeliest, beside the model's own
TITLES = {
    "model": "the model",
    "repetition_penalty": "repetition\npenalty {}",
    "temperature": "temper-\nature {}",
    "top_k": "top-k\n{}",
    "top_p": "top-p\n{}",
}


def drawn_tokens(step: Step, count: int) -> list[int]:
    """The ids that the chart of a step has a row for, in the order of the model's logits.

    They are the ``count`` likeliest to the model, the four that the settings make likeliest, as far as these leave them
    a probability, and the one taken.
    """
    own = [token_id for token_id, _ in step.alternatives(count)]
    shares, ids = step.after.topk(min(LEAST_DRAWN, len(step.logits)))
    return sorted({*own, *ids[shares > 0].tolist(), step.token_id}, key=lambda token_id: -float(step.logits[token_id]))


def titles_of(settings: Mapping[str, float]) -> dict[str, str]:
    """The names of the stages with their settings; a stage without one is named alone."""
    return {name: title.format(settings.get(name, "")) for name, title in TITLES.items()}


def candidate_names(tokens: Sequence[str], taken: int | None = None) -> list[str]:
    """ "1 · was", the likeliest first; the place of the one that was taken is marked by an arrow."""
    return [f"{'▸ ' if place == taken else ''}{place + 1} · {visible(token)}" for place, token in enumerate(tokens)]


def stage_chart(
    stages: Mapping[str, Sequence[float]],
    ids: Sequence[int],
    tokens: Sequence[str],
    *,
    taken: int | None = None,
    theme: Theme = LIGHT,
) -> alt.LayerChart:
    """A column of bars for each stage, a row for each token; 0, which is never drawn, reads "out".

    stages: by their titles, the probabilities of these tokens. taken: the row of the token that was taken. All columns
    have one scale, which ends at the largest bar. ValueError where a stage has another number of tokens.
    """
    for title, probabilities in stages.items():
        if not len(probabilities) == len(ids) == len(tokens):
            raise ValueError(f"{title} has {len(probabilities)} numbers for {len(ids)} ids and {len(tokens)} tokens")
    most = max((value for probabilities in stages.values() for value in probabilities), default=1.0) or 1.0
    names = candidate_names(tokens, taken)
    rows = [
        {
            "id": ids[row],
            "token": names[row],
            "stage": title.replace("-\n", "").replace("\n", " ").strip(),
            "from": column,
            "to": column + BAR * value / most,
            "probability": float(value),
            "shown": percent(float(value), 1) if value > 0 else "out",
            "taken": row == taken,
        }
        for column, (title, probabilities) in enumerate(stages.items())
        for row, value in enumerate(probabilities)
    ]
    return with_page_style(_layers(rows, names, list(stages), theme), theme)


def _layers(rows: list[dict], names: list[str], titles: list[str], theme: Theme) -> alt.LayerChart:
    # Every layer's rows have an id, so that a click anywhere in a row chooses its token.
    chosen = alt.selection_point(name=CHOSEN, fields=["id"], on="click", clear=False)
    across = alt.X("from:Q", axis=None, scale=alt.Scale(domain=[0, len(titles)], nice=False))
    down = alt.Y(
        "token:N", sort=None, title=None, scale=alt.Scale(domain=names), axis=alt.Axis(labelLimit=130, ticks=False)
    )
    base = alt.Chart(data_of(rows)).encode(y=down)
    behind = base.mark_rect(opacity=0, cursor="pointer", aria=False).encode(x=alt.value(0), x2=alt.value("width"))
    bars = base.mark_bar(height=ROW - 8, cursor="pointer").encode(
        x=across,
        x2=alt.X2("to:Q"),
        color=alt.condition("datum.taken", alt.value(theme.orange[2]), alt.value(theme.weights[2])),
        tooltip=["token:N", "stage:N", alt.Tooltip("probability:Q", format=".6f")],
    )
    numbers = base.mark_text(
        align="left", dx=4, fontSize=FONT_SIZE - 2, color=theme.text, cursor="pointer", aria=False
    ).encode(x=across, text=alt.Text("shown:N"))
    heads = [{"from": column, "title": title.strip()} for column, title in enumerate(titles)]
    header = (
        alt.Chart(data_of(heads))
        .mark_text(align="left", baseline="bottom", dx=4, lineBreak="\n", fontSize=FONT_SIZE - 3, color=theme.quiet)
        .encode(x=across, y=alt.value(-20), text=alt.Text("title:N"))
    )
    chart = alt.LayerChart(layer=[behind.add_params(chosen), bars, numbers, header])
    return chart.properties(
        width="container", height=HEADER + ROW * len(names), padding={"top": 4, "left": 4, "right": 4, "bottom": 4}
    )
