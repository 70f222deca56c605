"""The chart of head statistics holds the numbers it was given, and its two views share one choice."""

import json
import math

import numpy as np
import pytest

from viz.charts.head_statistics import CHOSEN, TITLES, chosen_heads, head_statistics
from viz.theme import DARK, LIGHT, Theme

THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
LAYERS, HEADS = 3, 5


def numbers(layers: int = LAYERS, heads: int = HEADS) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(0)
    return {name: generator.random((layers, heads)) for name in TITLES}


def spec(statistics: dict[str, np.ndarray], across: str = "distance", up: str = "previous", **options) -> dict:
    return json.loads(head_statistics(statistics, across, up, **options).to_json())


def rows(drawn: dict) -> dict[tuple[int, int], dict]:
    return {(row["layer"], row["head"]): row for row in drawn["data"]["values"]}


def test_the_chart_holds_every_statistic_of_every_head():
    statistics = numbers()
    by_head = rows(spec(statistics))
    assert len(by_head) == LAYERS * HEADS
    for (layer, head), row in by_head.items():
        assert {name: row[name] for name in TITLES} == {
            name: values[layer, head] for name, values in statistics.items()
        }


@pytest.mark.parametrize(("across", "up"), [("distance", "previous"), ("previous", "distance"), ("self", "self")])
def test_the_axes_show_the_statistics_asked_for(across, up):
    scatter, strip = spec(numbers(), across, up)["vconcat"]
    assert (scatter["encoding"]["x"]["field"], scatter["encoding"]["x"]["title"]) == (across, TITLES[across])
    assert (scatter["encoding"]["y"]["field"], scatter["encoding"]["y"]["title"]) == (up, TITLES[up])
    assert scatter["encoding"]["fill"]["field"] == strip["encoding"]["fill"]["field"] == up


def test_one_choice_of_heads_is_shared_by_both_views():
    drawn = spec(numbers())
    (choice,) = drawn["params"]
    assert (choice["name"], choice["select"]["type"], choice["select"]["fields"]) == (
        CHOSEN,
        "point",
        ["layer", "head"],
    )
    assert choice["select"]["toggle"] == "true"
    assert choice["views"] == [view["name"] for view in drawn["vconcat"]]
    for view in drawn["vconcat"]:
        opacity = view["encoding"]["opacity"]
        chosen, on = opacity["condition"]
        assert chosen == {"param": CHOSEN, "empty": False, "value": 1}
        assert "datum.shown" in on["test"]
        assert opacity["value"] < 0.5


def test_a_head_lies_in_its_own_cell_and_its_mark_grows_with_the_statistic():
    statistics = numbers()
    drawn = spec(statistics)
    by_head = rows(drawn)
    for (layer, head), row in by_head.items():
        assert head - 0.5 < row["left"] < head < row["right"] < head + 0.5
        assert layer - 0.5 < row["upper"] < layer < row["lower"] < layer + 0.5
        assert row["right"] - row["left"] == pytest.approx(row["lower"] - row["upper"])
    by_number = sorted(by_head.values(), key=lambda row: row["previous"])
    sides = [row["right"] - row["left"] for row in by_number]
    assert sides == sorted(sides)
    assert sides[0] < sides[-1]
    encoding = drawn["vconcat"][1]["encoding"]
    assert [encoding[side]["field"] for side in ("x", "x2", "y", "y2")] == ["left", "right", "upper", "lower"]


def test_layers_and_heads_are_counted_from_1_on_the_screen_and_from_0_in_the_choice():
    drawn = spec(numbers())
    row = rows(drawn)[2, 4]
    assert (row["layer name"], row["head name"]) == ("3", "5")
    assert row["said"].startswith("layer 3, head 5: weight on the previous token 0.")
    for view in drawn["vconcat"]:
        tooltip = [(item["field"], item["title"]) for item in view["encoding"]["tooltip"][:2]]
        assert tooltip == [("layer name", "layer"), ("head name", "head")]
    for axis, count in (("x", HEADS), ("y", LAYERS)):
        printed = drawn["vconcat"][1]["encoding"][axis]["axis"]
        assert printed["values"] == list(range(count))
        assert printed["labelExpr"] == "datum.value + 1"
    assert drawn["vconcat"][1]["encoding"]["y"]["scale"]["reverse"], "the first layer stands on top"


def test_the_tooltip_gives_every_number_with_4_decimals():
    for view in spec(numbers())["vconcat"]:
        tooltip = view["encoding"]["tooltip"][2:]
        assert [(item["field"], item["title"]) for item in tooltip] == list(TITLES.items())
        assert {item["format"] for item in tooltip} == {".4f"}


@THEMES
@pytest.mark.parametrize("name", TITLES)
def test_the_colours_are_the_scale_of_the_weights_from_the_smallest_number_to_the_largest(theme: Theme, name):
    small = {name: 0.2 + values / 100 for name, values in numbers().items()}
    low, high = float(small[name].min()), float(small[name].max())
    drawn = spec(small, up=name, theme=theme)
    assert drawn["config"]["background"] == theme.background
    for view in drawn["vconcat"]:
        scale, legend = (view["encoding"]["fill"][part] for part in ("scale", "legend"))
        assert scale["range"] == list(theme.weights)
        assert scale["domain"] == pytest.approx(np.linspace(low, high, len(theme.weights)))
        assert legend["title"] == f"{TITLES[name]}: {low:.3g} to {high:.3g}"
        assert (legend["values"][0], legend["values"][-1]) == pytest.approx((low, high))
    sides = [row["right"] - row["left"] for row in rows(drawn).values()]
    assert (min(sides), max(sides)) == pytest.approx((0.4, 0.92)), "so does the size of the marks"


@pytest.mark.parametrize("number", [0.0, 0.25, 1.0, -3.0])
@pytest.mark.parametrize("shape", [(LAYERS, HEADS), (1, 1)])
def test_a_statistic_that_all_heads_share_has_the_middle_of_the_scale(number, shape):
    rounding = np.random.default_rng(0).random(shape) * 1e-8
    constant = dict.fromkeys(TITLES, number + rounding)
    drawn = spec(constant, up="first")
    fill = drawn["vconcat"][0]["encoding"]["fill"]
    domain = fill["scale"]["domain"]
    assert domain == sorted(set(domain))
    assert domain[len(domain) // 2] == pytest.approx(number)
    assert fill["legend"]["values"] == [pytest.approx(number)]
    assert fill["legend"]["title"].endswith(f": {number:g} for every head".replace("-", "−"))
    sides = [row["right"] - row["left"] for row in rows(drawn).values()]
    assert sides == pytest.approx([sides[0]] * len(sides))


def test_heads_that_are_on_are_outlined_and_drawn_last():
    on = {(0, 1), (2, 2)}
    drawn = spec(numbers(), on=on)
    assert {place for place, row in rows(drawn).items() if row["on"]} == on
    assert {(row["layer"], row["head"]) for row in drawn["data"]["values"][-2:]} == on
    for view in drawn["vconcat"]:
        for channel in ("stroke", "strokeWidth"):
            outline = view["encoding"][channel]
            assert outline["condition"]["test"] == "datum.on"
            assert outline["condition"]["value"] != outline["value"]


def test_a_head_without_a_number_leaves_the_others_as_they_are():
    statistics = numbers()
    statistics["entropy"][1, 1] = math.nan
    drawn = spec(statistics, up="entropy")
    assert rows(drawn)[1, 1]["entropy"] is None
    assert drawn["vconcat"][0]["encoding"]["fill"]["scale"]["domain"][-1] == np.nanmax(statistics["entropy"])
    nothing = statistics | {"entropy": np.full((LAYERS, HEADS), np.nan)}
    empty = spec(nothing, up="entropy")
    assert {row["entropy"] for row in rows(empty).values()} == {None}
    assert empty["vconcat"][0]["encoding"]["fill"]["legend"]["title"] == "entropy (bits): no number"


def test_the_statistics_of_cross_attention_are_drawn_alone():
    statistics = {name: values for name, values in numbers().items() if name in ("entropy", "first")}
    drawn = spec(statistics, "first", "entropy")
    assert [item["field"] for item in drawn["vconcat"][0]["encoding"]["tooltip"][2:]] == ["entropy", "first"]


def test_many_layers_stay_on_one_screen():
    heights = [view["height"] for view in spec(numbers(layers=96, heads=2))["vconcat"]]
    assert sum(heights) < 800


@pytest.mark.parametrize(
    ("changes", "options", "complaint"),
    [
        ({}, {"across": "surprise"}, "axes .*surprise.*, wanted two of those given"),
        ({"surprise": np.zeros((LAYERS, HEADS))}, {}, "wanted two of those given, out of"),
        ({"first": np.zeros((LAYERS, 1))}, {}, r"'first': \(3, 1\).*wanted one \(layer, head\) for all"),
        ({"first": np.zeros((HEADS, LAYERS))}, {}, r"'first': \(5, 3\).*wanted one \(layer, head\) for all"),
        ({}, {"on": {(3, 0)}}, r"heads \[\(3, 0\)\] are on, wanted \(layer, head\) within \(3, 5\), counted from 0"),
        ({}, {"on": {(0, -1)}}, r"heads \[\(0, -1\)\] are on"),
    ],
)
def test_what_does_not_fit_together_is_refused(changes, options, complaint):
    with pytest.raises(ValueError, match=complaint):
        spec(numbers() | changes, **options)


def test_no_heads_at_all_are_refused():
    with pytest.raises(ValueError, match="neither of them 0"):
        spec({name: np.zeros((0, 4)) for name in TITLES})


def test_the_choice_is_read_as_pairs():
    sent = [{"layer": 0, "head": 4}, {"layer": 2, "head": 1}, {"layer": 0, "head": 4}]
    assert chosen_heads(sent, (LAYERS, HEADS)) == {(0, 4), (2, 1)}


@pytest.mark.parametrize(
    "odd",
    [
        {},
        None,
        7,
        "layer",
        [],
        [{}],
        [{"layer": 3, "head": 0}],
        [{"layer": [], "head": {}}],
        [3],
        [{"layer": -1, "head": 0}],
    ],
)
def test_a_choice_of_no_head_is_empty(odd):
    assert chosen_heads(odd, (LAYERS, HEADS)) == set()


def test_a_measure_of_another_name_is_drawn_with_its_title_and_its_own_numbers():
    own = np.arange(LAYERS * HEADS, dtype=float).reshape(LAYERS, HEADS) / 100
    statistics, titles = numbers() | {"texts.induction": own}, TITLES | {"texts.induction": "induction, many texts"}
    drawn = spec(statistics, "entropy", "texts.induction", titles=titles)
    up = drawn["vconcat"][0]["encoding"]["y"]
    assert (up["field"], up["title"]) == ("texts_induction", "induction, many texts")
    by_head = rows(drawn)
    assert all(by_head[layer, head]["texts_induction"] == own[layer, head] for layer, head in np.ndindex(own.shape))
