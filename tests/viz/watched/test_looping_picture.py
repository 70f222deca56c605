"""The film as a file, read back: its frames, how long each is seen, and the weights in its colours."""

import io
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageSequence

from model.training.watched.characters import ids_of
from model.training.watched.head_pictures import head_pictures
from model.training.watched.language_film import language_film
from model.training.watched.recordings import recorded
from model.training.watched.tasks import LETTERS
from viz.theme import DARK, LIGHT, channels, colour_at, colour_scale
from viz.watched.looping_picture import (
    BETWEEN,
    HOLD,
    LETTER,
    MARGIN,
    NAME,
    SMALL,
    TITLE,
    Guesses,
    Take,
    columns_of,
    durations,
    font,
    letters_of,
    looping_picture,
    shades_of,
    wrapped,
    written_height,
)
from viz.watched.player import SECONDS, language_data, run_data

LINE = "wordplaywordplay"


@pytest.fixture(scope="module")
def takes():
    histories = {name: recorded(name) for name in ("induction-two-layers", "induction-one-layer")}
    return [take_of(name, history) for name, history in histories.items()]


def take_of(name, history):
    pictures = head_pictures(history, LINE)
    return Take.of(history, pictures.weights, run_data(name, history, pictures, history.last.step))


@pytest.fixture(scope="module")
def film(takes):
    return Image.open(io.BytesIO(looping_picture("A title", takes)))


def test_it_has_a_frame_for_every_snapshot_plays_for_ten_seconds_and_begins_again(takes, film):
    steps = takes[0].history.steps
    lasting = [frame.info["duration"] for frame in ImageSequence.Iterator(film)]
    assert len(lasting) == len(steps)
    assert sum(lasting) / 1000 == pytest.approx(SECONDS + HOLD, rel=0.02)
    assert film.info["loop"] == 0


def test_a_step_is_seen_as_long_as_it_lasts_on_the_axis():
    first, second, last = durations([0, 1, 3], 3)
    assert first == second == 1000 * SECONDS / 2
    assert last == 1000 * HOLD


def test_a_heads_picture_has_the_colours_of_its_weights(takes, film):
    film.seek(len(takes[0].history.steps) - 1)
    image = np.asarray(film.convert("RGB"))
    column = columns_of(takes)[1]  # of one layer
    matrix = takes[1].weights[-1][0, 0]
    top = next(
        y for y in range(image.shape[0]) if tuple(image[y, column.left + 3]) == tuple(shades_of(LIGHT)[-1])
    )  # the first query gives all its weight to itself
    cell = column.tile / len(LINE)
    stops = [(stop**0.5, colour) for stop, colour in colour_scale(LIGHT.weights)]
    for query, key in [(0, 0), (5, 2), (9, 9), (15, 0), (3, 12)]:
        pixel = image[int(top + (query + 0.5) * cell), int(column.left + (key + 0.5) * cell)]
        expected = channels(colour_at(stops, float(np.sqrt(matrix[query, key]))))
        assert np.abs(pixel.astype(int) - expected).max() <= 12  # a GIF has 256 colours a frame


def test_below_every_character_stands_what_is_taken_to_come_next_filled_where_it_is_right(takes, film):
    steps, column = takes[0].history.steps, columns_of(takes)[0]
    letters, top = column.letters, MARGIN + 2 * TITLE + 2 * NAME + LETTER
    for number in (0, len(steps) // 2, len(steps) - 1):
        trace = takes[0].history.checkpoint(steps[number]).trace_ids(ids_of(LINE, LETTERS))
        guesses = [f"??{LETTERS}"[int(guess)] for guess in trace.logits.argmax(dim=-1)]
        film.seek(number)
        image = film.convert("RGB")
        for place, letter in enumerate(letters):
            left, y = int(column.left + letter.left), top + letter.row * (2 * LETTER + BETWEEN)
            is_right = place >= 8 and guesses[place] == LINE[place - 8 + 1]  # the text is one word, twice
            filled = np.abs(np.subtract(image.getpixel((left + 1, y + 1)), channels(LIGHT.accent))).max() <= 12
            assert filled == is_right, (number, place, guesses[place])
            drawn = Image.new("L", image.size)
            x = column.left + letter.left + letter.width / 2
            ImageDraw.Draw(drawn).text((x, y + LETTER / 2), guesses[place], fill=255, font=font(SMALL), anchor="mm")
            ink, paper = np.asarray(drawn) > 200, np.asarray(image.convert("L"))[np.asarray(drawn) > 200]
            ground = 255 if not filled else int(np.dot(channels(LIGHT.accent), (0.299, 0.587, 0.114)))
            assert ink.sum() > 0
            assert np.abs(paper.astype(int) - ground).min() > 60


def test_a_long_text_takes_rows_that_fit_its_column(takes):
    guesses = takes[0].guesses
    letters = letters_of(Guesses(*(guesses.read * 2, [said * 2 for said in guesses.said], guesses.hits)), 200)
    assert letters[-1].row > 0
    assert all(letter.left + letter.width <= 200 for letter in letters)
    assert all(
        after.left >= letter.left + letter.width for letter, after in pairwise(letters) if after.row == letter.row
    )


def test_it_is_drawn_in_the_pages_colours_and_of_one_training_too(takes):
    dark = Image.open(io.BytesIO(looping_picture("A title", takes[:1], theme=DARK)))
    assert dark.convert("RGB").getpixel((2, 2)) == channels(DARK.background)


def test_three_trainings_are_refused(takes):
    with pytest.raises(ValueError, match="3 trainings"):
        looping_picture("A title", [*takes, takes[0]])


def test_a_language_models_film_has_what_it_writes_above_its_curve():
    film = language_film()
    traces = [film.checkpoint(step).trace("The king had a son.") for step in film.steps]
    weights = np.stack([trace.text_stack.weights().numpy() for trace in traces])
    written = [film.prompt + film.written[step] for step in film.steps]
    take = Take.of(film, weights, language_data("A model", film, traces))
    silent, spoken = (
        Image.open(io.BytesIO(looping_picture("A title", [each]))) for each in (take._replace(written=()), take)
    )
    assert len(list(ImageSequence.Iterator(spoken))) == len(film.steps)
    assert take.written == written
    assert take.guesses.read[:3] == ["The", "·k", "ing"]  # a sign for a blank that the type has
    assert spoken.height == silent.height + written_height(take)
    drawn = Image.new("L", spoken.size)
    place = (columns_of([take])[0].left, MARGIN + 2 * TITLE + 2 * NAME)
    ImageDraw.Draw(drawn).text(place, wrapped(written[-1], spoken.width), fill=255, font=font(SMALL))
    spoken.seek(len(film.steps) - 1)
    ink, paper = np.asarray(drawn) > 200, np.asarray(spoken.convert("L"))
    assert ink.sum() > 500
    assert paper[ink].max() < 128 < np.median(paper)


def test_a_text_is_cut_where_its_lines_are_full():
    text = wrapped("word " * 200, 300)
    assert text.count("\n") == 1
    assert all(font(SMALL).getlength(line) <= 300 for line in text.split("\n"))
    assert wrapped("Once upon a time", 300) == "Once upon a time"
