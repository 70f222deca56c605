"""The opinions that patterns make, and the text files that hold the patterns: what they give, and what is refused."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from model import InputError
from model.training.data.list_files import LISTS, parse_lists, read_lists
from model.training.data.phrases import SLOT, fact, facts, phrases


def write(folder: Path, text: str) -> Path:
    """A file of lists."""
    path = folder / "words.txt"
    path.write_bytes(text.encode())
    return path


def test_phrases_are_reproducible_leave_no_slot_and_are_good_as_often_as_bad() -> None:
    labelled = list(phrases(2000, seed=1))
    assert labelled == list(phrases(2000, seed=1))
    assert not any("{" in text or "  " in text for text, _ in labelled)
    assert 0.45 < np.mean([good for _, good in labelled]) < 0.55


def test_a_seed_gives_the_sentences_that_it_always_gave() -> None:
    """The digest is of what the files in lists/ give: whoever edits them, and nothing else, writes the new one here."""
    lines = "".join(f"{text}\t{int(good)}\n" for text, good in phrases(2000, seed=0))
    digest = "a14e0a6d74cf7131c1be9f9e88ff2491e5ab20403dd7291dac83023c6199eb43"
    assert hashlib.sha256(lines.encode()).hexdigest() == digest


def test_every_slot_has_words_and_every_list_of_words_a_slot() -> None:
    patterns = [entry for name in ("patterns", "sayings") for entries in read_lists(name).values() for entry in entries]
    by_code = {"start", "end", "owner", "aside"}
    assert {slot for pattern in patterns for slot in SLOT.findall(pattern)} | by_code == set(read_lists("slots"))


def test_praise_and_blame_of_a_thing_are_told_apart() -> None:
    soup = facts()[0]
    assert soup.thing == "soup"
    assert (soup.praise[0], soup.blame[0]) == ("was hot and full of flavour", "was lukewarm")


@pytest.mark.parametrize(
    "entries", [("+ was hot",), ("- was cold",), ("+ was hot", "- was cold", "was warm"), ("+", "- cold")]
)
def test_an_entry_that_is_neither_praise_nor_blame_is_refused(entries: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match=r"facts\.txt: \[soup\]: expected entries that begin with \+ and with -"):
        fact("soup", entries)


def test_sentences_to_evaluate_with_differ_and_stand_under_both_labels() -> None:
    files = [read_lists(name) for name in ("everyday", "unseen", "negations")]
    assert [{label: len(entries) for label, entries in lists.items()} for lists in files] == [
        {"positive": 80, "negative": 80},
        {"positive": 100, "negative": 100},
        {"positive": 50, "negative": 50},
    ]
    sentences = [entry for lists in files for entries in lists.values() for entry in entries]
    assert len(set(sentences)) == len(sentences)


def test_every_file_of_lists_can_be_read() -> None:
    names = sorted(path.stem for path in LISTS.glob("*.txt"))
    assert names == [
        "beginnings",
        "everyday",
        "facts",
        "greetings",
        "names",
        "negations",
        "neutral",
        "opinions",
        "patterns",
        "sayings",
        "slots",
        "translations",
        "unseen",
    ]
    assert all(read_lists(name) for name in names)


def test_entries_keep_their_order_and_comments_and_empty_lines_are_left_out(tmp_path: Path) -> None:
    path = write(tmp_path, "# what it is\n\n[one]\nb\na\r\nb\n\n# more\n[two, three]\n(nothing)\né [x]\n")
    lists = parse_lists(path)
    assert list(lists.items()) == [("one", ("b", "a", "b")), ("two, three", ("", "é [x]"))]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("word\n[one]\nword\n", "line 1: found an entry, expected a [heading] before the first one."),
        ("[one]\nword\n[two\nword\n", "line 3: found [two, expected a heading such as [name]."),
        ("[ ]\nword\n", "line 1: found [ ], expected a heading such as [name]."),
        ("[one]\na\n[two]\nb\n[one]\nc\n", "line 5: the heading [one] stands here a second time."),
        ("[one]\na\tb\n", "line 2: found a tab, or a blank beside another or at an end, expected single blanks."),
        ("[one]\nword \n", "line 2: found a tab, or a blank beside another or at an end, expected single blanks."),
        ("[one]\n[two]\nword\n", "found no entry under [one], expected one or more."),
    ],
)
def test_a_line_that_breaks_the_format_is_named(text: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as refusal:
        parse_lists(write(tmp_path, text))
    assert str(refusal.value) == f"words.txt: {complaint}"


def test_a_file_that_is_missing_or_no_text_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"words\.txt: there is no such file"):
        parse_lists(tmp_path / "words.txt")
    (tmp_path / "words.txt").write_bytes(b"[one]\n\xff\n")
    with pytest.raises(InputError, match=r"words\.txt: this is no text in UTF-8"):
        parse_lists(tmp_path / "words.txt")
