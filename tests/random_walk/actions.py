"""The ordinary things that a visitor does on any page, chosen at random.

Controls are found by their role, never by a label of today's frame. Every action is one or more lines of Python that
name `page`, `watch`, `address` or `file_at_hand`: the line that is run is printed when it led to a fault.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from playwright.sync_api import ElementHandle, Error, Locator, Page

from tests.random_walk.brought_models import MINE, UPLOADS, file_at_hand, model_names
from tests.random_walk.checks import Watch

ACTION_PATIENCE = 5000  # milliseconds for a control to be there, still and uncovered
DESKTOP, PHONE = (1366, 768), (390, 844)
WORDS = ("the", "old", "film", "was", "slow", "but", "nobody", "left", "early", "and", "we", "all", "loved", "it")
TEXTS = (
    "Cats sleep.",
    "good",
    "The dog bit the man.",
    "An odd film, but a good film.",
    " ".join(WORDS[place * place % len(WORDS)] for place in range(60)),
    "the the the the",
    "Wait... what?! (No; yes: \"maybe\") - it's 3.5/10, isn't it?",
    "“Curly” ‘quotes’ – and — dashes… «guillemets»",
    "Où est passé l'été, naïve Zoë? Ça va, Łukasz ß Ω ж",
    "I 💜 this 👩\u200d👧 film 🎬🎬",
    "**bold** _it_ `code` # title [link](/evidence) $x^2$ :red[x] | a | b |",
    "<b>bold</b> <script>document.title='run'</script> &amp; <img src=x>",
    "two\nlines",
    "  many   blanks  ",
    "unforgettable antidisestablishmentarianism",
    "שלום עולם 你好 世界",
    "100% of 1,000 & a+b=c?x=1#y",
    "",
    " \u200b ",
    "far too long " * 160,
)
EMPTY_OR_LONG = 3  # the last of them
KEYS = ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Tab", "Shift+Tab", "Enter", "Escape", "Space")
PICTURE_KEYS = (*KEYS, *"anioLsw+-0123456", "Shift+Enter", "Shift+ArrowRight", "Home", "End")
MAIN = 'page.get_by_role("main")'
FRAME = 'page.locator("nav, header, [data-testid=stSidebar]")'
CONTROLS = 'page.locator("[data-testid=stMain], [data-testid=stSidebar]")'
BUTTONS = "[data-testid^=stBaseButton]:not([data-testid$=elementToolbar])"  # a toolbar's come only when pointed at
FOLDS = "summary"
SMALL_BUTTONS = "button:not([data-testid^=stBaseButton], [tabindex='-1'])"
POPUPS = 'page.locator("[data-testid=stPopoverBody], [role=menu]")'
IN_WINDOW = """one => {
  const { left, right, width } = one.getBoundingClientRect()
  return width > 0 && left >= 0 && right <= innerWidth + 1
}"""


class NothingThereError(Exception):
    """The page has nothing to do this with."""


@dataclass
class Walk:
    """One visitor's way through the app, with the lines that were run."""

    page: Page
    watch: Watch
    address: str
    random: Random
    lines: list[str]
    settled: bool = True
    last_text: str = TEXTS[0]
    uploaded: bool = False  # whether there is a model that nobody else has

    def do(self, line: str) -> None:
        """Run one line, and keep it; one that comes too late for its control is kept as a remark."""
        self.lines.append(line)
        try:
            names = {"page": self.page, "watch": self.watch, "address": self.address, "file_at_hand": file_at_hand}
            exec(line, names)
        except Error:
            self.lines[-1] = f"# came too late: {line}"
            raise

    def locator(self, code: str) -> Locator:
        """What a line of code finds on the page."""
        return eval(code, {"page": self.page})

    def pick(self, code: str, fits: Callable[[Locator], bool] = Locator.is_enabled, *, seen: bool = True) -> str:
        """The code of one of the things that the code finds: by role and name, where they tell it apart."""
        every = self.locator(f"{code}.filter(visible=True)" if seen else code)
        places = list(range(every.count()))
        self.random.shuffle(places)
        for place in places[:8]:
            one = every.nth(place)
            if fits(one):
                return self.named(one) or f"{code}{'.filter(visible=True)' if seen else ''}.nth({place})"
        raise NothingThereError(code)

    def named(self, one: Locator) -> str | None:
        """How role and name find an element; None where they do not."""
        role, name = role_and_name(one.aria_snapshot())
        if not name:
            return None
        code = f"page.get_by_role({role!r}, name={name!r}, exact=True)"
        handle: ElementHandle = one.element_handle()
        place = self.locator(code).evaluate_all("(all, one) => all.indexOf(one)", handle)
        return None if place < 0 else f"{code}.nth({place})"


def role_and_name(snapshot: str) -> tuple[str, str]:
    """Of the first line of what Playwright says an element is: - button "Next →" [disabled]."""
    first = snapshot.split("\n", 1)[0].removeprefix("- ")
    if first.startswith("'"):  # quoted as YAML, because of a colon in it
        first = first[1:].rpartition("'")[0].replace("''", "'")
    match = re.match(r'(\w+) ("(?:[^"\\]|\\.)*")', first)
    return (match[1], json.loads(match[2])) if match else ("", "")


def start(walk: Walk, stems: list[str]) -> None:
    """Open the app at some page of it."""
    walk.do(f'page.goto(f"{{address}}/{walk.random.choice(["", *stems])}")')
    walk.do("watch.settle()")


# Texts and numbers


def type_text(walk: Walk) -> None:
    """Type a text into a field and submit it; mostly into the first, which is the sentence's."""
    fields = f'{MAIN}.get_by_role("textbox")'
    code = walk.pick(f"{fields}.first" if walk.random.random() < 0.7 else fields, Locator.is_editable)
    text = walk.random.choice(TEXTS[:-EMPTY_OR_LONG] if walk.random.random() < 0.85 else TEXTS)
    walk.last_text = text = text if walk.random.random() < 0.9 else walk.last_text
    walk.do(f"{code}.fill({text!r})")
    in_streamlit = "one => one.matches('[data-testid=stTextArea] textarea')"
    key = "Control+Enter" if walk.locator(code).evaluate(in_streamlit) else "Enter"
    walk.do(f"{code}.press({key!r})")


def type_number(walk: Walk) -> None:
    """Another number that the field allows."""
    code = walk.pick(f'{MAIN}.get_by_role("spinbutton")', Locator.is_editable)
    least, most, step = walk.locator(code).evaluate(
        "one => [Number(one.min), Number(one.max || 50), Number(one.step) || 1]"
    )
    steps = round((most - least) / step)
    chosen = walk.random.choice([0, steps, walk.random.randint(0, steps), walk.random.randint(0, min(steps, 12))])
    walk.do(f"{code}.fill({f'{least + chosen * step:.6g}'!r})")
    walk.do(f"{code}.press('Enter')")


# Buttons, lists, switches


def press_button(walk: Walk) -> None:
    """A button of Streamlit's, or of what one has opened."""
    walk.do(f"{walk.pick(f'{MAIN}.locator({BUTTONS!r})')}.click()")


def press_small_button(walk: Walk) -> None:
    """Any button at all, of a picture or of help for instance."""
    walk.do(f"{walk.pick(f'{MAIN}.locator({SMALL_BUTTONS!r})')}.click()")


def press_in_popup(walk: Walk) -> None:
    """Something in what a button has opened."""
    role = walk.random.choice(["button", "menuitem"])
    walk.do(f"""{walk.pick(f'{POPUPS}.get_by_role("{role}")')}.click()""")


def choose_in_list(walk: Walk) -> None:
    """Open a list and choose, or leave it."""
    open_and_choose(walk, walk.pick(f'{CONTROLS}.locator("input[role=combobox]")'))


def choose_checkpoint(walk: Walk) -> None:
    """Another checkpoint, wherever the list of them stands.

    It has the focus, as under a hand: a list that was being searched ends that only as it loses it.
    """
    name = walk.random.choice(model_names())
    models = f'{CONTROLS}.get_by_label("Model", exact=True)'
    code = walk.pick(models, lambda one: name in one.inner_html())
    walk.do(f"{code}.focus()")
    walk.do(f"{code}.select_option({name!r})")


def open_and_choose(walk: Walk, code: str) -> None:
    """What a list shows is looked at where all has been answered, and where it chooses one thing, not several."""
    one = walk.locator(code).evaluate("field => !field.closest('[data-testid=stMultiSelect]')")
    walk.do(f"watch.open_list({code}{'' if one and walk.settled else ', answered=False'})")
    options = 'page.get_by_role("option")'
    walk.do("page.keyboard.press('Escape')" if walk.random.random() < 0.1 else f"{walk.pick(options)}.click()")


def upload(walk: Walk) -> None:
    """A file of the visitor's own, where the page takes some: a model, or what is none."""
    code = walk.pick(f"{MAIN}.locator('[data-testid=stFileUploader] input[type=file]')", seen=False)
    name = walk.random.choice([MINE, *UPLOADS])
    walk.uploaded |= name == MINE
    walk.do(f"{code}.set_input_files(file_at_hand({name!r}))")


def choose_in_picture(walk: Walk) -> None:
    """One of the explorer's own lists."""
    code = walk.pick(f'{MAIN}.locator("select")')
    values = walk.locator(code).evaluate("one => [...one.options].map((option) => option.value)")
    walk.do(f"{code}.select_option({walk.random.choice(values)!r})")


def switch(walk: Walk) -> None:
    """A radio, a switch or a box to tick; with the keyboard, because the input itself is hidden."""
    role = walk.random.choice(["radio", "radio", "switch", "checkbox"])
    walk.do(f"""{walk.pick(f'{MAIN}.get_by_role("{role}")', seen=False)}.press('Space')""")


def fold(walk: Walk) -> None:
    """Open or close what is folded: an expander, a menu of the bar, more settings."""
    walk.do(f"{walk.pick(f'{MAIN}.locator({FOLDS!r})')}.click()")


def slide(walk: Walk) -> None:
    """A slider, with the keyboard: some steps, or to one of its ends."""
    code = walk.pick(f'{MAIN}.get_by_role("slider")')
    for key in walk.random.choice([("End",), ("Home",), ("ArrowRight",) * 3, ("ArrowLeft",) * 2]):
        walk.do(f"{code}.press({key!r})")


# Pictures and keys


def somewhere(walk: Walk, code: str) -> dict[str, int]:
    """A place in an element."""
    box = walk.locator(code).bounding_box()
    if box is None:
        raise NothingThereError(code)
    return {"x": int(walk.random.random() * box["width"]), "y": int(walk.random.random() * box["height"])}


def point_at_picture(walk: Walk) -> None:
    """Click into a canvas or a chart, or point at it."""
    kinds = ("canvas", "[data-testid=stVegaLiteChart]", "[data-testid=stPlotlyChart]")
    code = walk.pick(f'{MAIN}.locator("{walk.random.choice(kinds)}")')
    how = walk.random.choice(["click", "click", "hover", "dblclick"])
    walk.do(f"{code}.{how}(position={somewhere(walk, code)}, force=True)")


def click_mark(walk: Walk) -> None:
    """A bar or a point of a chart."""
    walk.do(f"""{walk.pick(f'{MAIN}.locator("svg path[aria-label]")')}.click(force=True)""")


def keep_cell(walk: Walk) -> None:
    """A cell of the explorer's matrix, whose exact number is then compared."""
    code = 'page.locator(".stack.matrix")'
    if not walk.locator(code).count() or not walk.locator(code).is_visible():
        raise NothingThereError(code)
    inner = walk.page.locator(".headlight").evaluate("root => root.explorer.matrix.inner")
    x, y = (
        int(inner[side] + walk.random.random() * inner[size]) for side, size in (("left", "width"), ("top", "height"))
    )
    walk.do(f"{code}.click(position={{'x': {x}, 'y': {y}}}, force=True)")
    walk.do("watch.settle()")
    walk.do("watch.number()")


def press_keys(walk: Walk) -> None:
    """Some keys, wherever the focus is; not Enter on a link that leads out of the app."""
    outside = "() => document.activeElement?.matches('a[target=_blank], a[download]') ?? false"
    keys = [key for key in KEYS if key != "Enter" or not walk.page.evaluate(outside)]
    for _ in range(walk.random.randint(1, 4)):
        walk.do(f"page.keyboard.press({walk.random.choice(keys)!r})")


def press_picture_keys(walk: Walk) -> None:
    """The explorer's own keys."""
    code = walk.pick(f'{MAIN}.locator(".headlight canvas, .headlight .words button")')
    walk.do(f"{code}.focus()")
    for _ in range(walk.random.randint(1, 4)):
        walk.do(f"{code}.press({walk.random.choice(PICTURE_KEYS)!r})")


# From page to page


def follow_link(walk: Walk) -> None:
    """A link within the app."""
    walk.do(f"""{walk.pick(f'{MAIN}.locator("a[href]:not([target=_blank], [download])")', leads_inside)}.click()""")


def leads_inside(link: Locator) -> bool:
    """Whether a link leads to a page of the app."""
    return link.evaluate("one => one.origin === location.origin && !one.hash")


def choose_in_menu(walk: Walk) -> None:
    """Another page by the menu, which may have to be opened first."""
    links = f'{FRAME}.get_by_role("link")'

    def in_window(link: Locator) -> bool:
        return link.evaluate(IN_WINDOW)

    try:
        code = walk.pick(links, in_window)
    except NothingThereError:
        walk.do(f"""{walk.pick(f'{FRAME}.get_by_role("button")', in_window)}.click()""")
        walk.do("watch.wait()")  # a sidebar slides in
        code = walk.pick(f'page.get_by_role("menuitem").or_({links})', in_window)
    walk.do(f"{code}.click()")


def go_back(walk: Walk) -> None:
    """Back; a visitor who has come to before the first page goes forward again."""
    walk.do("page.go_back()")
    if not walk.page.url.startswith(walk.address):
        walk.do("page.go_forward()")


def go_forward(walk: Walk) -> None:
    """Forward, if there is anything."""
    walk.do("page.go_forward()")


def reload(walk: Walk) -> None:
    """The page anew."""
    walk.do("page.reload()")


def resize(walk: Walk) -> None:
    """To a phone, or back."""
    size = walk.page.viewport_size
    width, height = PHONE if size and size["width"] == DESKTOP[0] else DESKTOP
    walk.do(f"page.set_viewport_size({{'width': {width}, 'height': {height}}})")


def compare_address(walk: Walk) -> None:
    """Somebody else opens the address."""
    if not walk.settled or walk.uploaded:
        raise NothingThereError("an address that is complete")
    walk.do("watch.address()")


# How often each is done.
ACTIONS: dict[Callable[[Walk], None], int] = {
    type_text: 12,
    type_number: 5,
    press_button: 12,
    press_small_button: 8,
    press_in_popup: 4,
    choose_in_list: 10,
    choose_checkpoint: 3,
    choose_in_picture: 5,
    switch: 8,
    upload: 8,
    fold: 6,
    slide: 4,
    point_at_picture: 6,
    click_mark: 3,
    keep_cell: 10,
    press_keys: 4,
    press_picture_keys: 4,
    follow_link: 3,
    choose_in_menu: 8,
    go_back: 4,
    go_forward: 1,
    reload: 2,
    resize: 2,
    compare_address: 8,
}
