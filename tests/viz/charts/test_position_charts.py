"""The figures on positions hold the numbers they were given; their sentences say what the numbers say."""

import json
import math

import numpy as np
import pytest

from model.config import POSITIONS
from model.measures.positions import schemes as measures
from viz.charts import position_charts
from viz.text import position_sentences
from viz.theme import DARK, LIGHT, Theme

THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])


def table(length: int = 7, width: int = 5) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(length, width))


@THEMES
def test_curves_are_the_columns_each_with_its_own_colour_and_dash(theme: Theme):
    figure = position_charts.position_curves(table(), [4, 0, 1], theme=theme)
    for trace, dimension in zip(figure.data, [4, 0, 1], strict=True):
        assert trace.name == f"dimension {dimension}"
        assert np.array_equal(trace.x, np.arange(7))
        assert np.array_equal(trace.y, table()[:, dimension])
    assert len({trace.line.color for trace in figure.data}) == len({trace.line.dash for trace in figure.data}) == 3
    assert figure.layout.paper_bgcolor == theme.background


@pytest.mark.parametrize("dimensions", [[], [5], [-1], list(range(13))])
def test_curves_of_no_column_are_refused(dimensions):
    with pytest.raises(ValueError, match="wanted 1 to 12 of its columns"):
        position_charts.position_curves(table(width=5), dimensions)


@THEMES
def test_the_heatmap_is_the_table_with_the_pages_colour_at_0(theme: Theme):
    (trace,) = position_charts.position_heatmap(table(), theme=theme).data
    assert np.array_equal(trace.z, table().astype(np.float32))
    assert trace.zmax == -trace.zmin == np.abs(table()).max()
    stops = dict(trace.colorscale)
    assert stops[0.5] == theme.background
    assert (stops[0], stops[1]) == (theme.below[-1], theme.above[-1])


def test_of_a_large_table_every_second_or_third_is_drawn_where_it_stands():
    large = table(1200, 513)
    (trace,) = position_charts.position_heatmap(large).data
    assert np.array_equal(trace.y, np.arange(0, 1200, 3))
    assert np.array_equal(trace.x, np.arange(0, 513, 2))
    assert np.array_equal(trace.z, large[::3, ::2].astype(np.float32))
    assert (
        position_charts.skipped_note(1200, 513)
        == " Drawn: one position in 3 and one dimension in 2; the file holds them all."
    )
    assert position_charts.skipped_note(512, 512) == ""


def test_a_table_of_zeros_and_one_of_one_number_are_drawn():
    assert position_charts.position_heatmap(np.zeros((2, 2))).data[0].zmax == 1
    assert position_charts.position_curves(np.ones((1, 1)), [0]).data[0].mode == "lines+markers"


def test_products_and_distances_are_those_given():
    products = table(6, 6)
    assert np.array_equal(position_charts.product_heatmap(products).data[0].z, products.astype(np.float32))
    drawn = {trace.name: trace for trace in position_charts.distance_curve(products[0], products[1], products[2]).data}
    for name, row in (("mean of all pairs", 0), ("smallest", 1), ("largest", 2)):
        assert np.array_equal(drawn[name].y, products[row])
    assert len({trace.line.dash for trace in drawn.values()}) == 3


def test_wavelengths_stand_at_their_sines_between_two_named_lines():
    waves = np.array([6.0, 600.0, 60_000.0])
    figure = position_charts.wavelength_figure(waves)
    assert np.array_equal(figure.data[0].x, [0, 2, 4])
    assert np.array_equal(figure.data[0].y, waves)
    assert [shape.y0 for shape in figure.layout.shapes] == [2 * math.pi, 20_000 * math.pi]
    names = {note.text: 10**note.y for note in figure.layout.annotations}
    assert names == pytest.approx({"2π": 2 * math.pi, "10000·2π": 20_000 * math.pi})


def test_the_hands_of_the_circle_end_at_the_pairs():
    figure = position_charts.rotation_figure(np.array([0.6, 0.8]), np.array([-1.0, 0.0]), ("position 3", "position 8"))
    assert [(trace.name, trace.x[1], trace.y[1]) for trace in figure.data] == [
        ("position 3", 0.6, 0.8),
        ("position 8", -1, 0),
    ]


def test_new_numbers_are_those_given_and_the_longest_text_ends_where_it_does():
    share = np.array([0, 0, 0.25, 0.5])
    figure = position_charts.unseen_figure(share, 2)
    assert np.array_equal(figure.data[0].y, share)
    assert figure.layout.shapes[0].x0 == 1.5
    assert tuple(figure.layout.xaxis.range) == (0, 3)


def test_the_parts_of_a_text_lie_on_one_scale_under_their_names():
    parts = {"token vector": table(3), "position vector": 2 * table(3), "sum": 3 * table(3)}
    figure = position_charts.text_heatmaps(parts, ["the", "dog", "the"])
    for trace, part in zip(figure.data, parts.values(), strict=True):
        assert np.array_equal(trace.z, part.astype(np.float32))
        assert trace.y == ("1 · the", "2 · dog", "3 · the")
        assert trace.zmax == -trace.zmin == np.abs(3 * table(3)).max()
    assert [note.text for note in figure.layout.annotations] == list(parts)
    assert figure.layout.yaxis2.ticktext == ("1 · the", "2 · dog", "3 · the")
    assert [trace.showscale for trace in figure.data] == [True, False, False]


def test_of_a_long_text_as_many_labels_are_printed_as_fit():
    figure = position_charts.text_heatmaps({"token vector": table(512)}, ["x"] * 512)
    assert figure.layout.height < 600
    assert len(figure.layout.yaxis.ticktext) < 40
    assert figure.layout.yaxis.ticktext[1] == f"{round(figure.layout.yaxis.tickvals[1]) + 1} · x"


def test_a_long_token_is_cut_beside_its_row_and_whole_where_one_points():
    figure = position_charts.text_heatmaps({"token vector": table(2)}, ["an", "unforgettable"])
    assert figure.layout.yaxis.ticktext == ("1 · an", "2 · unforgett…")
    assert figure.data[0].y == ("1 · an", "2 · unforgettable")
    assert [round(place, 2) for place in figure.layout.yaxis.tickvals] == [0, 1]


@pytest.mark.parametrize("tokens", [["a"], ["a", "b", "c"]])
def test_parts_of_another_text_are_refused(tokens):
    with pytest.raises(ValueError, match=f"came with {len(tokens)} tokens, wanted one"):
        position_charts.text_heatmaps({"token vector": table(2), "sum": table(2)}, tokens)


@pytest.mark.parametrize(
    ("token", "label"),
    [
        ("<b>", "1 · &lt;b&gt;"),
        ("&amp;", "1 · &amp;amp;"),
        ("$x$", "1 · &#36;x&#36;"),
        ("1", "1 · 1"),
        ("\u200b", "1 · U+200B"),
        ('"', '1 · "'),
    ],
)
def test_a_token_is_no_markup_to_plotly(token, label):
    assert position_charts.label(0, token) == label
    assert position_charts.text_heatmaps({"sum": table(1)}, [token]).layout.yaxis.ticktext == (label,)


def test_a_scheme_is_its_matrix_above_the_row_of_the_query():
    matrix = table(6, 6)
    matrix[np.triu_indices(6, 1)] = np.nan
    heatmap, curve = position_charts.scheme_figure(matrix, 4, "ALiBi").data
    assert np.array_equal(heatmap.z, matrix.astype(np.float32), equal_nan=True)
    assert np.array_equal(curve.y, matrix[4], equal_nan=True)
    assert heatmap.zmax == np.nanmax(np.abs(matrix))
    with pytest.raises(ValueError, match="query 6 of 6 positions"):
        position_charts.scheme_figure(matrix, 6, "ALiBi")


def test_the_file_holds_every_number_in_full():
    first, told, *rows = position_charts.table_csv(table(), {"table": "the formula"}).decode("utf-8-sig").splitlines()
    assert (first, told) == ("# read: pandas.read_csv(file, skiprows=2)", "# table: the formula")
    assert rows[0].split(",")[:2] == ["position", "dimension 0"]
    read = np.array([[float(cell) for cell in row.split(",")] for row in rows[1:]])
    assert np.array_equal(read[:, 1:], table())
    assert np.array_equal(read[:, 0], np.arange(7))


# Sentences


def test_every_scheme_of_the_model_is_put_in_words():
    for scheme in POSITIONS:
        assert position_sentences.answer(scheme).startswith("This checkpoint ")
        assert position_sentences.beyond(scheme).endswith(".")


def test_the_sentence_on_a_repeated_token_escapes_it_and_counts_from_1():
    sentence = position_sentences.twice("*the*", 0, 3, 0.0, 4.86123)
    assert sentence.startswith(
        r"“\*the\*” stands at positions 0 and 3, counted from 0. Its two vectors are 0 apart before"
    )
    assert sentence.endswith(", and 4.861 apart afterwards.")


def test_whether_distance_alone_decides_is_said_by_the_numbers():
    assert position_sentences.same_products(8e-14, 64.0) == (
        "The product depends only on the distance: pairs at one distance differ by at most 8.0e−14, by rounding."
    )
    assert position_sentences.same_products(0.5, 64.0) == (
        "The product does not depend only on the distance: pairs at one distance differ by up to 0.5."
    )


def test_a_number_below_0_has_a_minus_in_words():
    sentence = position_sentences.shift_check(8, np.array([-0.25, 0.5]), 1e-16, 2e-14, 100)
    assert sentence.startswith("At position 8 the table holds −0.250000 and 0.500000: a difference of 1.0e−16.")
    assert sentence.endswith("at most 2.0e−14.")


def test_the_matrix_is_written_out():
    matrix, product = position_sentences.shift_latex(
        np.array([[1.0, 2], [3, 4]]), np.array([5.0, 6]), np.array([7.0, 8])
    )
    assert matrix == r"M = \begin{bmatrix} 1.000000 & 2.000000 \\ 3.000000 & 4.000000 \end{bmatrix}"
    assert product.startswith(r"M \begin{bmatrix} 5.000000 \\ 6.000000 \end{bmatrix} = \begin{bmatrix} 7.000000 \\")


def test_learned_numbers_are_never_passed_off_as_trained():
    assert position_sentences.number_of("learned", own=True) == "This checkpoint's own."
    assert position_sentences.number_of("relative", own=False) == "As initialised, before any training."
    assert position_sentences.number_of("alibi", own=False) == "From its formula."


def test_the_numbers_of_a_shift_can_be_read_back_in_full():
    shift = measures.rotation_shift(128, 2, 3, 5)
    text = position_sentences.shift_exactly(shift.matrix, shift.before, shift.rotated, shift.after)
    numbers = {name: np.array(json.loads(values)) for name, values in (line.split(" = ") for line in text.splitlines())}
    for name, values in (("M", shift.matrix), ("before", shift.before), ("rotated", shift.rotated)):
        assert np.array_equal(numbers[name], values)
    assert np.array_equal(numbers["in_the_table"], shift.after)
