"""Sizes, limits and looks of the explorer's pictures, which are drawn twice: in browser/ and, for files, in svg/.

``source`` puts these names before the browser's modules as they are, and into its style sheet what that needs. Lengths
are pixels. What one side alone draws stands there, with the reason: buttons and zoom in the browser, captions and the
names of heads in files. ``tests/in_browser/test_same_drawing.py`` lays scenes out on both sides and compares them.
"""

TITLES = {"grid": "All heads", "lines": "Lines", "matrix": "Matrix", "text": "Text", "table": "Table"}

# All views together
PANELS_OF = {"all": ("text", "grid", "lines", "matrix"), "table": ("text", "table")}  # any other view is one panel
SHARES = {"grid": 7, "lines": 5, "matrix": 6}  # of the width, side by side
SHARES_BELOW = {"lines": 1, "matrix": 1}  # the same where the grid has a row of its own
BETWEEN, BETWEEN_ROWS = 20, 14  # two panels
SMALL_TYPE, SMALL_LINE = 13, 18  # titles and captions
BELOW_TITLE = 4
NARROWEST_ROW = 720  # for the three of them; in less, the grid has a row of its own
TARGET_TILE = 24  # so it has where its share leaves less for a thumbnail: what WCAG 2.2 (2.5.8) asks of what is clicked

# Colours, shared by all of them
SHADES = 256  # from weight 0 to full strength
READABLE = 4.5  # the contrast that letters need
LOWEST = 1e-4  # where the logarithmic scale begins
MANY_KEYS = 60  # beyond, each head's colours end at its own largest weight, unless somebody chose otherwise
MARK_WIDTH = 2  # of the edge of what is chosen

# The grid
THUMB_SIDE = 32  # cells to a side of a thumbnail, at most
GRID_LEFT, GRID_TOP, GRID_GAP = 46, 20, 3
SMALLEST_TILE, LARGEST_TILE = 12, 110
TALLEST_GRID = 720  # among other views
GRID_TYPE, GRID_SMALL_TYPE = 12, 10
SMALL_TILE = 16  # below, the smaller type
SPARSE_TILE = 15  # below, every other number
GRID_APART = 8  # from a layer's number to its row
GRID_NAME_X = 7  # of the word "layer", which runs upwards
GRID_CORNER_X = 2  # of the word "head"
GRID_DIMMED = 0.22  # a head that is off
GRID_BAR, BAR_THICK, BAR_TYPE = 16, 3, 10  # below a thumbnail: the bar of a measure, and under that its number
BAR_APART, BAR_NUMBER_Y = 2, 11  # from the thumbnail to the bar, and to the middle of the number
BAR_NUMBERS = 24  # no number under a narrower thumbnail
BAR_LINE = 11  # in order of a measure, which head it is stands above the number
LEAST_BAR = 0.015  # where no number is as large, all are next to 0, and a whole bar is 1
BAR_DIGITS = ((1, 2), (10, 1), (1e9, 0))  # below this magnitude, so many decimals
LARGEST_FIRST = "largest first; a head is called layer·head"
GRID_VEIL = 0.72  # how much of the rest is hidden behind the row or the column that is marked

# The lines
LINES_ROW, SMALLEST_ROW = 21, 13
SHORTEST_LINES, TALLEST_LINES = 120, 600
LINES_TOP, LINES_BELOW = 26, 8  # for the heading, for half the frame of the last token
LINES_TYPE = 13
LINES_HEADING, HEADING_ROOM = 10, 1.15  # its middle; what its left half needs, of its width, to end where lines begin
LINES_SIDE, WIDEST_SIDE = 0.3, 150  # of the tokens: a share of the width, and its limit
LINES_BENDS = (0.4, 0.6)  # of the way from one side to the other
LINES_APART, LINES_AROUND, LINES_EDGE = 6, 10, 2  # from a token to its lines, what it leaves free, from plates to lines
LINES_PLATES = 2  # between the shades of two tokens
LINES_FRAME = 18  # of the token that is marked, or as tall as its row where rows are lower
LINES_BAR = 3  # the shade of a token in rows thinner than letters
LINES_FADED = 0.14  # the other lines, where a token is marked
MOST_LINES = 1200  # at rest, more take the browser longer than a frame; one row or column is always drawn in full
THINNEST_LINE, LINE_GROWS = 0.6, 3  # with the strength of the weight
FAINTEST_LINE = 0.06  # and so to full
DASHES = ((), (6, 3), (2, 3), (9, 3, 2, 3))  # after as many heads as there are colours, the next

# The matrix
TALLEST_MATRIX = 560  # among other views
WIDEST_LABEL, LABEL_SHARE = 104, 1 / 3  # the latter of the width
MATRIX_TYPE = 12
MATRIX_WEIGHT = "600"  # of the type of a marked token
LARGEST_CELL = 40
MATRIX_APART, MATRIX_AROUND, MATRIX_ROOM = 6, 8, 12  # from a label to the cells, what it leaves free, for both its ends
MATRIX_LABELS = 2  # between two labels
MATRIX_RIGHT = 2  # free, for the edge of what is marked
MATRIX_BELOW = 30  # for the scale under the picture
MATRIX_VEIL = 0.8
RAMP_STEPS = 64
RAMP_TOP, RAMP_LEFT, RAMP_HEIGHT = 8, 12, 10
SHORTEST_RAMP, LONGEST_RAMP, RAMP_BESIDE = 20, 120, 60  # with room for its numbers
RAMP_DIGITS = 3  # significant, of the weight at its end

# The text
TOKEN_TYPE, TOKEN_HEIGHT, TOKEN_GAP, TOKEN_PADDING, TOKEN_ROUND = 14, 26, 3, 6, 6
NARROWEST_TOKEN = 24
AROUND_TOKENS = 3  # free, for the edge of the marked one, which lies outside it
BELOW_TOKENS = 6
OF_QUERY = "Shaded: what the marked query attends to."
OF_KEY = "Shaded: which queries attend to the marked key."
AT_REST = "Shaded: the mean weight that each token receives."

# The table
TABLE_LINE, TABLE_PADDING = 22, 10
TABLE_WEIGHT = "600"  # of the type of names
NO_WEIGHTS = "No head is on, or no token is left to show."


def constants() -> dict[str, object]:
    """All of them by name."""
    return {name: value for name, value in globals().items() if name.isupper()}
