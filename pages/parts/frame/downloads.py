"""The files of what is on the screen; each is computed when it is asked for."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar
from urllib.parse import urlencode

import streamlit as st

from model import Trace
from pages.parts.frame.finding import FINDING
from pages.parts.frame.theme import theme
from pages.parts.models.catalogue import loaded_from
from pages.parts.passes import edits_of, provenance_of, target_with_origin, trace_later
from pages.parts.shared_cache import checkpoint_named
from pages.parts.state.selection import Selection
from pages.parts.state.session import address_of, current, of_file
from viz.explorer.attention_kinds import Kind, kinds_of
from viz.explorer.head_measures import NO_MEASURES, HeadMeasure
from viz.explorer.printing import pdf, png
from viz.explorer.snippet import snippet
from viz.explorer.standalone import page_of
from viz.explorer.svg.picture import svg
from viz.explorer.view import View
from viz.export import data_files
from viz.export.array_script import showing_script
from viz.export.provenance import FileProvenance, Provenance, file_name
from viz.export.share_picture import Bar, ShareWords, bars_png, plain_text, share_png
from viz.theme import LIGHT, Theme

NPZ_HELP = "Every layer and head of every attention as float32, with its tokens, for numpy.load. Indices count from 0."
CSV_HELP = (
    "The heads of the chosen layer that are on: one line for every query and key. Indices count from 0. The first "
    "lines say where the numbers come from, and how to skip these lines."
)
JSON_HELP = "The same numbers, with the settings of the view and the origin of the numbers."
HTML_HELP = (
    "A single web page that works without a network, with every head of every layer, all views, hovering and switches."
)
PYTHON_HELP = "The few lines of Python that draw this view again, from the model or from the file."
PICTURE_HELP = "The explorer's view as it is on the screen, for print."
FINDING_HELP = "The head of the large picture as the explorer draws it, for print."
SHARE_HELP = "The sentence, the finding, the attention of the head in the large picture, and the address."
SHARE_BARS_HELP = "The sentence, the finding, its numbers as bars, and the address."
FONTS_HELP = " A box stands for a letter that the server's fonts lack; the SVG file has all letters."


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """What the files are made of: a pass, the view of it, where both come from, and what more a script needs.

    loads: the model as a script loads it, see ``loading_code``.
    """

    trace: Trace
    view: View
    provenance: Provenance
    loads: str | Path
    for_script: Mapping[str, Any]  # of ``snippet``: the target, or the ids that were written
    measures: Mapping[str, Sequence[HeadMeasure]] = field(default_factory=dict)  # of heads, by attention

    @property
    def kinds(self) -> Mapping[str, Kind]:
        return kinds_of(self.trace)

    def npz(self) -> bytes:
        """All weights; muted heads are listed in the file."""
        return data_files.trace_npz(self.trace, edits=self.provenance.edits, provenance=self.provenance)

    def script(self) -> str:
        """The lines that compute the pass."""
        source = self.provenance
        texts = {"pair": source.pair, "provenance": source, **self.for_script}
        return snippet(self.loads, source.text, self.view, source.edits, **texts)


@dataclass(frozen=True, kw_only=True)
class FileSnapshot:
    """The same of attention that came in a file. file: its name in a script; origin: where it comes from."""

    kinds: Mapping[str, Kind]
    view: View
    provenance: FileProvenance
    file: str
    origin: str
    measures: Mapping[str, Sequence[HeadMeasure]] = field(default_factory=dict)

    def npz(self) -> bytes:
        """All weights, as the page Your arrays reads them again."""
        return data_files.kinds_npz(self.kinds, provenance=self.provenance)

    def script(self) -> str:
        """The lines that open the file."""
        return showing_script(self.file, self.origin, self.view, self.provenance)


class DownloadSource(Protocol):
    """What any of the files is made of."""

    @property
    def kinds(self) -> Mapping[str, Kind]: ...
    @property
    def view(self) -> View: ...
    @property
    def provenance(self) -> Provenance: ...
    @property
    def measures(self) -> Mapping[str, Sequence[HeadMeasure]]: ...
    def npz(self) -> bytes: ...
    def script(self) -> str: ...


Maker = Callable[[Any], bytes | str]  # of a Source
Taken = TypeVar("Taken", Snapshot, FileSnapshot)


@contextmanager
def files(part: str = "") -> Iterator[None]:
    """A place of a page's files. None of it is seen: the menu Download of the bar lists what is here.

    part: of the page, where it has several such places; each has a name of its own.

    Streamlit alone can make a file when it is asked for, with what the page's own run chose, in a fragment too, and
    only by a button of its own. So the buttons stay where their page makes them, and the bar, which is drawn before
    the page has computed anything, presses them.
    """
    with st.container(key=f"files_{part}" if part else "files"):
        yield


def selected_pass(
    selection: Selection, measures: Mapping[str, Sequence[HeadMeasure]] = NO_MEASURES
) -> Callable[[], Snapshot]:
    """The pass of what is selected, for when a file is asked for, with measures of its heads."""
    checkpoint = checkpoint_named(selection.checkpoint)
    edits = edits_of(selection, checkpoint)
    trace, source = trace_later(selection, edits), provenance_of(selection, checkpoint, edits)
    target, loads = target_with_origin(selection, checkpoint, edits), loaded_from(selection.checkpoint)

    def take() -> Snapshot:
        return Snapshot(
            trace=trace(),
            view=selection.view,
            provenance=source,
            loads=loads,
            for_script={"target": target},
            measures=measures,
        )

    return take


def of_heads(
    snapshot: Taken,
    attention: str,
    layer: int,
    heads: Collection[int] | None,
    query: int | None = None,
    key: int | None = None,
) -> Taken:
    """The same pass, seen as a finding has it: these heads (None: all) of a layer, with every token."""
    count = snapshot.kinds[attention].heads
    off = frozenset((layer, head) for head in range(count) if heads is not None and head not in heads)
    return replace(snapshot, view=View(attention=attention, layer=layer, off=off, query=query, key=key))


def alone(take: Callable[[], Taken], layer: int, head: int, key: int | None = None) -> Callable[[], Taken]:
    """The pass that will be taken, seen as a finding about one head shows it."""

    def take_alone() -> Taken:
        snapshot = take()
        return of_heads(snapshot, snapshot.view.attention, layer, (head,), key=key)

    return take_alone


def downloads(
    page: str,
    take: Callable[[], DownloadSource],
    *,
    any_head: bool,
    finding: Callable[[], DownloadSource] | None = None,
    with_share: bool = True,
) -> None:
    """A list of files: pictures of the view, a page of its own, numbers, a script.

    take: what they are made of, when one is asked for; it is called where there is no session to look into.
    finding: the same for the picture to share, where the page's finding is about another view.
    with_share: whether there is a picture to share.
    """
    if finding is not None:
        name = download_name(page, "svg", "found")
        button("Large picture (SVG)", name, partial(file_of, partial(picture, theme()), finding), FINDING_HELP)
    for label, ending, make, explained in pictures(theme()):
        button(label, download_name(page, ending), partial(file_of, make, take), explained)
    files: list[tuple[str, str, Maker, str, bool]] = [
        ("Web page (HTML)", "html", web_page, HTML_HELP, False),
        ("All weights (NPZ)", "npz", npz, NPZ_HELP, False),
        ("This view (CSV)", "csv", csv, CSV_HELP, not any_head),
        ("This view (JSON)", "json", json, JSON_HELP, not any_head),
        ("As Python", "py", script, PYTHON_HELP, False),
    ]
    for label, ending, make, explained, disabled in files:
        button(label, download_name(page, ending), partial(file_of, make, take), explained, disabled=disabled)
    if with_share:
        share(page, finding or take)


def share(page: str, take: Callable[[], DownloadSource]) -> None:
    """The picture to share, which the bar's menu Share lists. Its words are those of the finding on the screen.

    take: the pass with the view that the finding is about, see ``alone``.
    """
    offer_picture(page, partial(file_of, partial(share_file, theme(), words_on_screen(page)), take), SHARE_HELP)


def share_bars(page: str, bars: Sequence[Bar], foot: str, provenance: Provenance) -> None:
    """The same with numbers of the finding as bars. foot: what they are, plain text."""
    look, words = theme(), words_on_screen(page)

    def make() -> bytes:
        return bars_png(bars, foot, words(provenance.text), theme=look, provenance=provenance)

    offer_picture(page, make, SHARE_BARS_HELP)


def words_on_screen(page: str) -> Callable[[str], ShareWords]:
    """The finding on the screen and its address, for a text."""
    return partial(words_of, st.session_state.setdefault(FINDING, {}), share_address(page))


def offer_picture(page: str, make: Callable[[], bytes | str], explained: str) -> None:
    """The file, where the bar finds it."""
    with st.container(key="share_picture"):
        button("Picture to share (PNG, 1200 × 630)", download_name(page, "png", "share"), make, explained)


def share_address(page: str) -> str:
    """The address of what is on the screen, without what every address begins with."""
    query = urlencode(address_of(page))
    return (st.context.url or "").split("://")[-1].partition("?")[0] + (f"?{query}" if query else "")


def words_of(finding: Mapping[str, str], address: str, text: str) -> ShareWords:
    """What stands in the picture. finding: filled by ``show_finding``, later than this is set up perhaps."""
    title, sentence = (plain_text(finding.get(name, "")) for name in ("title", "sentence"))
    return ShareWords(text=text, title=title, sentence=sentence, address=address)


def share_file(theme: Theme, words: Callable[[str], ShareWords], snapshot: DownloadSource) -> bytes:
    """The heads of the view, under what was found."""
    kind, source = snapshot.kinds[snapshot.view.attention], snapshot.provenance
    return share_png(kind, snapshot.view, words(source.text), theme=theme, provenance=source)


def file_of(make: Maker, take: Callable[[], DownloadSource]) -> bytes | str:
    """One file, of the snapshot that is taken now."""
    return make(take())


def download_name(page: str, ending: str, part: str = "") -> str:
    """The name of a file: page, checkpoint, and digits of what is selected. part: of what the page shows."""
    subject = "file" if of_file(page) else current().checkpoint
    return file_name(f"{page} {part}", subject, urlencode(address_of(page)), ending)


def button(label: str, name: str, make: Callable[[], bytes | str], explained: str, *, disabled: bool = False) -> None:
    """One file, within ``files``, and after it what it is: the bar reads both. The page does not run again for it."""
    st.download_button(label, make, name, on_click="ignore", disabled=disabled)
    st.text(explained)


def pictures(theme: Theme) -> list[tuple[str, str, Maker, str]]:
    """SVG and PNG in the colours of the page; PDF on white, for paper."""

    def as_png(snapshot: DownloadSource) -> bytes:
        return png(picture(theme, snapshot), provenance=snapshot.provenance)

    def as_pdf(snapshot: DownloadSource) -> bytes:
        return pdf(picture(LIGHT, snapshot), provenance=snapshot.provenance)

    return [
        ("Picture (SVG)", "svg", partial(picture, theme), PICTURE_HELP),
        ("Picture (PDF)", "pdf", as_pdf, PICTURE_HELP + FONTS_HELP),
        ("Picture (PNG)", "png", as_png, PICTURE_HELP + FONTS_HELP),
    ]


def picture(theme: Theme, snapshot: DownloadSource) -> str:
    measures = snapshot.measures
    return svg(snapshot.kinds, snapshot.view, theme=theme, provenance=snapshot.provenance, measures=measures)


def web_page(snapshot: DownloadSource) -> str:
    """The explorer in a file."""
    return page_of(snapshot.kinds, snapshot.view, provenance=snapshot.provenance, measures=snapshot.measures)


def npz(snapshot: DownloadSource) -> bytes:
    """All weights."""
    return snapshot.npz()


def csv(snapshot: DownloadSource) -> bytes:
    """The numbers of the view as a table."""
    kind = snapshot.kinds[snapshot.view.attention]
    return data_files.selection_csv(kind, snapshot.view, provenance=snapshot.provenance)


def json(snapshot: DownloadSource) -> bytes:
    """The numbers of the view with what is known of it."""
    kind = snapshot.kinds[snapshot.view.attention]
    return data_files.selection_json(kind, snapshot.view, provenance=snapshot.provenance)


def script(snapshot: DownloadSource) -> str:
    return snapshot.script()
