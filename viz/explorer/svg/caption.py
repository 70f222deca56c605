"""What a picture shows, in words: on paper nobody can look at the controls."""

from viz.explorer.attention_kinds import TITLES, Kind
from viz.explorer.head_measures import largest_magnitude, value_text
from viz.explorer.layout import MOST_LINES, RAMP_DIGITS, THUMB_SIDE
from viz.explorer.svg.paint import rounded
from viz.explorer.svg.scene import Scene
from viz.tokens import list_of

SCALES = {
    "root": "the square root of the weight",
    "linear": "the weight",
    "log": "the logarithm of the weight, from 1/10,000 of full on",
}
SHOW_MEANS = {"all": "matrix and text show", "table": "the text shows"}
SEGMENTS = {"A": "the first text", "B": "the second text"}


def caption(scene: Scene) -> list[str]:
    """Sentences: what is drawn, by which scale, and what was done to the numbers."""
    sentences = [subject(scene), scale(scene), *bars_said(scene), *changes(scene)]
    marked = [f"query {scene.selection.queries[scene.row].name}"] if scene.row is not None else []
    marked += [f"key {scene.selection.keys[scene.column].name}"] if scene.column is not None else []
    return sentences + ([f"Marked: {' and '.join(marked)}."] if marked else [])


def subject(scene: Scene) -> str:
    """Which attention, layer and heads; and which way it runs."""
    kind, view, heads = scene.kind, scene.view, scene.selection.heads
    before = "the mean of " if len(heads) > 1 and view.show in ("matrix", "text") else ""
    chosen = f"layer {view.layer + 1} of {kind.layers}, {before}{heads_named(kind, heads)}"
    if view.show == "grid":
        chosen = f"all {kind.layers} layers of {kind.heads} heads; outlined: {chosen}"
    if view.show in SHOW_MEANS and len(heads) > 1:
        chosen += f"; {SHOW_MEANS[view.show]} their mean"
    return f"{TITLES[kind.name].capitalize()}, {chosen}. Query attends to key."


def heads_named(kind: Kind, heads: tuple[int, ...]) -> str:
    """ "head 2 of 8", "heads 1 and 3 of 8", "all 8 heads", "no head is on"."""
    if len(heads) < 2:
        return f"head {heads[0] + 1} of {kind.heads}" if heads else "no head is on"
    return f"all {kind.heads} heads" if len(heads) == kind.heads else f"heads {list_of(heads)} of {kind.heads}"


def scale(scene: Scene) -> str:
    """What colour and width stand for."""
    view = scene.view
    what = {
        "all": "Colour and line width follow",
        "lines": "Line width and opacity follow",
        "table": "Exact float32 weights. Colour follows",
    }
    return f"{what.get(view.show, 'Colour follows')} {SCALES[view.scale]}; full at {full(scene)}."


def full(scene: Scene) -> str:
    """What is drawn in full colour."""
    largest = rounded(scene.full_mean, RAMP_DIGITS)
    shared = "" if scene.view.show == "grid" else f", {largest}"  # all layers share another one there
    of_all = f"the largest weight of all heads shown{shared}"
    return {"one": "weight 1", "shared": of_all, "head": "the largest weight of each head"}[scene.view.maximum]


def bars_said(scene: Scene) -> list[str]:
    """What the bars under the thumbnails are of."""
    if scene.measure is None or scene.view.show not in ("all", "grid"):
        return []
    largest = value_text(largest_magnitude(scene.measure.values))
    below = ", and orange is below 0" if (scene.measure.values < 0).any() else ""
    return [f"Bars under the thumbnails: {scene.measure.said}; a whole bar is {largest}{below}."]


def changes(scene: Scene) -> list[str]:
    """What was left out, made again, merged or not drawn."""
    pooled = scene.view.show in ("all", "grid") and max(scene.mean.shape) > THUMB_SIDE
    large = ["A cell of a thumbnail is the largest weight of those that it stands for."] if pooled else []
    return [*left_out(scene), *merged_note(scene), *not_drawn(scene), *large]


def left_out(scene: Scene) -> list[str]:
    """Special tokens, and texts that were not chosen."""
    texts, view = (scene.kind.queries, scene.kind.keys), scene.view
    sentences = []
    if view.special != "shown" and any(text.special and any(text.special) for text in texts):
        again = "rows add up to 1 again" if view.special == "renormalised" else "rows as they are without them"
        sentences.append(f"Special tokens hidden, {again}.")
    if view.segments != "all" and any(text.segments for text in texts):
        sentences.append("Only attention from {} to {}.".format(*(SEGMENTS[letter] for letter in view.segments)))
    return sentences


def merged_note(scene: Scene) -> list[str]:
    if not scene.view.words or all(text.words is None for text in (scene.kind.queries, scene.kind.keys)):
        return []
    return ["Word pieces merged: the sum over keys, the mean over queries."]


def not_drawn(scene: Scene) -> list[str]:
    """Weights that are there and not drawn."""
    view = scene.view
    if view.show == "grid":
        return []
    sentences = [f"Weights below {view.threshold:g} are not drawn."] if view.threshold > 0 else []
    sentences += [f"Only the {view.top} largest weights of each query are drawn."] if view.top > 0 else []
    if view.show == "table" and sentences:
        sentences.append("The table has all of them.")
    weights = int((scene.numbers > 0).sum())
    if view.show in ("all", "lines") and weights > MOST_LINES:
        sentences.append(f"Lines: the {MOST_LINES:,} strongest of {weights:,}.")
    return sentences
