"""Everyday opinions, put together from the patterns, sayings, facts and whole opinions in lists/.

Film reviews hold few sentences such as "the waiter was not rude at all". These do, with every negation and contrast
that a classifier of reviews tends to get wrong, and their labels are certain.
"""

import random
import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from model.errors import InputError, printable
from model.training.data.list_files import read_lists
from model.training.data.opinions import opinions

SLOT = re.compile(r"\{(\w+)\}")
VOWEL = re.compile(r"\ba (?=[aeiou])")

ASIDE = 0.25  # share of opinions that an aside stands beside
NEGATED = 0.45  # share of opinions from patterns that are negated
BARE = 0.4  # share of sentences without a beginning or an end, as people type them
# Shares of whole opinions, of what is said of one thing, and of set phrases; the rest is patterns.
WHOLE, PARTICULAR, SAYING = 0.4, 0.15, 0.15


class Fact(NamedTuple):
    """A thing, and what people say of it."""

    thing: str
    praise: tuple[str, ...]
    blame: tuple[str, ...]


@cache
def facts() -> list[Fact]:
    """The things of facts.txt."""
    return [fact(thing, entries) for thing, entries in read_lists("facts").items()]


def fact(thing: str, entries: tuple[str, ...]) -> Fact:
    """A thing with its praise, "+ was hot", and its blame, "- was cold". InputError where either is missing."""
    praise, blame = (tuple(entry[2:] for entry in entries if entry.startswith(sign)) for sign in ("+ ", "- "))
    if not praise or not blame or len(praise) + len(blame) < len(entries):
        raise InputError(
            f"facts.txt: [{printable(thing)}]: expected entries that begin with + and with -, and no others."
        )
    return Fact(thing, praise, blame)


def label(good: bool) -> str:
    """The heading of a list of good opinions, or of bad ones."""
    return "positive" if good else "negative"


def fill(pattern: str, rng: random.Random) -> str:
    """The pattern with a word in every slot, drawn afresh each time."""
    slots = read_lists("slots")
    return SLOT.sub(lambda slot: rng.choice(slots[slot.group(1)]), pattern)


def particular(good: bool, rng: random.Random) -> str:
    """Something that people say of one thing, or two of them."""
    thing, praise, blame = rng.choice(facts())
    sayings = praise if good else blame
    chosen = rng.sample(sayings, min(len(sayings), rng.choice((1, 1, 2))))
    return f"{fill('{owner}', rng)} {thing} {' and '.join(chosen)}"


def clause(good: bool, rng: random.Random) -> str:
    """One opinion, plain or negated, some with an aside."""
    body = opinion(good, rng)
    if rng.random() < ASIDE:
        aside, comma = fill("{aside}", rng), rng.choice(["", " ,"])
        return f"{aside}{comma} {body}" if rng.random() < 0.3 else f"{body}{comma} {aside}"
    return body


def opinion(good: bool, rng: random.Random) -> str:
    """One opinion by itself."""
    kind = rng.random()
    if kind < WHOLE:
        return rng.choice(opinions(label(good))).rstrip(".")
    if kind < WHOLE + PARTICULAR:
        return particular(good, rng)
    if kind < WHOLE + PARTICULAR + SAYING:
        return fill(rng.choice(read_lists("sayings")[label(good)]), rng)
    heading = label(good) + (", negated" if rng.random() < NEGATED else "")
    return fill(rng.choice(read_lists("patterns")[heading]), rng)


def phrase(rng: random.Random) -> tuple[str, bool]:
    """A sentence and whether its opinion is good; where two opinions meet, the one that the sentence ends up with."""
    good = rng.random() < 0.5
    body, kind = clause(good, rng), rng.random()
    if kind < 0.12:
        body = f"{body} {rng.choice(['and', ', and', ';', '.'])} {clause(good, rng)}"
    elif kind < 0.27:
        body = f"{clause(not good, rng)} {rng.choice([', but', 'but', ', yet', '; however ,', '. but'])} {body}"
    elif kind < 0.35:
        body = f"{rng.choice(['although', 'even though', 'though', 'while'])} {clause(not good, rng)} , {body}"
    text = body if rng.random() < BARE else f"{fill('{start}', rng)} {body} {fill('{end}', rng)}"
    text = VOWEL.sub("an ", " ".join(text.split()))
    return (text.replace("'", "’") if rng.random() < 0.3 else text), good


def phrases(count: int, seed: int = 0) -> Iterator[tuple[str, bool]]:
    """``count`` sentences with their labels."""
    rng = random.Random(seed)
    for _ in range(count):
        yield phrase(rng)
