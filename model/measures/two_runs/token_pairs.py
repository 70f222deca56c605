"""Which token of one pass stands for which token of another: of two texts, or of one text that two tokenizers cut."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from model.trace import StackTrace

Unit = tuple[int, ...]  # the positions of one token, or of the pieces of a word
Pairs = tuple[tuple[int, int], ...]


@dataclass(frozen=True, kw_only=True)
class Pairing:
    """The units of two passes, and which are partners: (unit of the first, unit of the second), by the first's order.

    ValueError for a unit that is not there, or that has two partners.
    """

    first: tuple[Unit, ...]
    second: tuple[Unit, ...]
    pairs: Pairs

    def __post_init__(self) -> None:
        for side, units in enumerate((self.first, self.second)):
            named = [pair[side] for pair in self.pairs]
            if outside := [unit for unit in named if not 0 <= unit < len(units)]:
                raise ValueError(f"pairs: unit {outside[0]} of {len(units)}")
            if len(set(named)) < len(named):
                raise ValueError("pairs: a unit has two partners")
        if list(self.pairs) != sorted(self.pairs):
            raise ValueError("pairs: not in the order of the first")

    def reversed(self) -> "Pairing":
        """The same from the second to the first."""
        pairs = tuple(sorted((second, first) for first, second in self.pairs))
        return Pairing(first=self.second, second=self.first, pairs=pairs)

    def alone(self) -> tuple[list[int], list[int]]:
        """The units of each side that have no partner."""
        with_partner = [{pair[side] for pair in self.pairs} for side in (0, 1)]
        first, second = (
            [unit for unit in range(len(units)) if unit not in paired]
            for units, paired in zip((self.first, self.second), with_partner, strict=True)
        )
        return first, second

    def places(self) -> list[int | None]:
        """For each position of the first, that of the second. ValueError where a unit is more than one token."""
        if any(len(unit) != 1 for unit in (*self.first, *self.second)):
            raise ValueError("words of several pieces have no single place")
        partners = dict(self.pairs)
        return [partners.get(unit) for unit in range(len(self.first))]

    def columns(self) -> list[tuple[int | None, int | None]]:
        """Every unit of both once, partners together: in the first's order, the second's own after what precedes them.

        None stands for the unit that one side lacks.
        """
        partners, backwards = dict(self.pairs), {second: first for first, second in self.pairs}
        after: dict[int | None, list[int]] = {}
        before: int | None = None
        for unit in range(len(self.second)):
            if unit in backwards:
                before = backwards[unit]
            else:
                after.setdefault(before, []).append(unit)
        found: list[tuple[int | None, int | None]] = [(None, unit) for unit in after.get(None, [])]
        for unit in range(len(self.first)):
            found += [(unit, partners.get(unit)), *((None, other) for other in after.get(unit, []))]
        return found


def token_pairs(first: StackTrace, second: StackTrace) -> Pairing:
    """The tokens of two texts that one tokenizer cut: each is a unit; see ``paired``."""
    sorts = [sort_of(stack) for stack in (first, second)]
    keys = [
        list(zip(sort, stack.ids.tolist(), strict=True)) for sort, stack in zip(sorts, (first, second), strict=True)
    ]
    units = [tuple((place,) for place in range(len(side))) for side in keys]
    return Pairing(first=units[0], second=units[1], pairs=paired(*keys, *sorts))


def piece_pairs(first: StackTrace, second: StackTrace, texts: Sequence[str]) -> Pairing:
    """The tokens of one text that two tokenizers cut: units are the smallest stretches that both begin and end alike.

    texts: those of the segments, whose characters the spans count; spaces at the ends of a token do not count. Added
    tokens are units of their own. See ``paired``. ValueError where a pass does not know its text.
    """
    sides = [intervals_of(stack, texts) for stack in (first, second)]
    stretch_of = stretches(interval for side in sides for interval in side if interval)
    keys, units, sorts = [], [], []
    for stack, side in zip((first, second), sides, strict=True):
        names = [stack.names()[place] if at is None else stretch_of[at] for place, at in enumerate(side)]
        one_unit = [
            place for place, (left, right) in enumerate(pairwise(names), 1) if left != right or side[place] is None
        ]
        edges = [0, *one_unit, len(names)]
        units.append(tuple(tuple(range(start, end)) for start, end in pairwise(edges)))
        keys.append([names[start] for start in edges[:-1]])
        sorts.append([sort_of(stack)[start] for start in edges[:-1]])
    pairs = paired(keys[0], keys[1], sorts[0], sorts[1])
    return Pairing(first=units[0], second=units[1], pairs=pairs)


def paired(first: Sequence[Hashable], second: Sequence[Hashable], *sorts: Sequence[Hashable]) -> Pairs:
    """Partners by what stands at each place (keys) and of which sort it is, as whether the tokenizer added it.

    First the longest common subsequence of keys, then keys that each text has once: words that only moved. Between the
    neighbours of the subsequence, what is left of a sort are partners in order where there are as many on both sides:
    "dog" and "cat" in the same frame. Of what is left then, equal keys are partners in order. A sort of which that
    finds no partners at all has its first ones as partners, in order.
    """
    pairs = list(common_subsequence(first, second))
    edges = [(-1, -1), *pairs, (len(first), len(second))]
    pairs += moved_once(first, second, pairs)
    taken = [{pair[which] for pair in pairs} for which in (0, 1)]
    for (left, above), (right, below) in pairwise(edges):
        free = [
            [place for place in stretch if place not in already]
            for stretch, already in zip((range(left + 1, right), range(above + 1, below)), taken, strict=True)
        ]
        pairs += same_frame(*free, *sorts)
    left_first, left_second = (
        [place for place in range(len(side)) if place not in {pair[which] for pair in pairs}]
        for which, side in enumerate((first, second))
    )
    for place in left_first:
        moved = next((other for other in left_second if second[other] == first[place]), None)
        if moved is not None:
            left_second.remove(moved)
            pairs.append((place, moved))
    with_partners = {sorts[0][place] for place, _ in pairs}
    for sort in dict.fromkeys(sorts[0]):
        if sort not in with_partners:
            places = [[at for at, other in enumerate(side) if other == sort] for side in sorts]
            pairs += zip(*places, strict=False)
    return tuple(sorted(pairs))


def moved_once(first: Sequence[Hashable], second: Sequence[Hashable], pairs: Sequence[tuple[int, int]]) -> Pairs:
    """Places of keys that both have exactly once, without those that are paired."""
    counts = Counter(first), Counter(second)
    once = {key: place for place, key in enumerate(second) if counts[1][key] == 1}
    paired_first = {place for place, _ in pairs}
    return tuple(
        (place, once[key])
        for place, key in enumerate(first)
        if counts[0][key] == 1 and key in once and place not in paired_first
    )


def same_frame(first: Iterable[int], second: Iterable[int], *sorts: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Places of two stretches in order, sort by sort, where both have as many of it."""
    by_sort: list[dict[Hashable, list[int]]] = [{}, {}]
    for side, stretch in enumerate((first, second)):
        for place in stretch:
            by_sort[side].setdefault(sorts[side][place], []).append(place)
    return [
        pair
        for sort, places in by_sort[0].items()
        if len(places) == len(by_sort[1].get(sort, ()))
        for pair in zip(places, by_sort[1][sort], strict=True)
    ]


def common_subsequence(first: Sequence[Hashable], second: Sequence[Hashable]) -> Pairs:
    """The longest common subsequence, of several the one whose partners come first (Wagner and Fischer 1974)."""
    longest = np.zeros((len(first) + 1, len(second) + 1), np.int32)  # of what begins at each pair of places
    same = np.array([[one == other for other in second] for one in first], bool).reshape(len(first), len(second))
    for row in range(len(first) - 1, -1, -1):
        best = np.where(same[row], longest[row + 1, 1:] + 1, longest[row + 1, :-1])
        longest[row, :-1] = np.maximum.accumulate(best[::-1])[::-1]
    pairs, row, column = [], 0, 0
    while row < len(first) and column < len(second):
        if same[row, column]:
            pairs.append((row, column))
            row, column = row + 1, column + 1
        elif longest[row + 1, column] >= longest[row, column + 1]:
            row += 1
        else:
            column += 1
    return tuple(pairs)


def by_hand(found: Pairing, pairs: Iterable[tuple[int, int]], *stacks: StackTrace) -> Pairing:
    """The units with other partners. ValueError for a unit that is not there or has two; for an added token beside a
    typed one; and for no pair at all, of which nothing could be compared.
    """
    chosen = tuple(sorted(pairs))
    pairing = replace(found, pairs=chosen)
    if not chosen:
        raise ValueError("pairs: none")
    added = [sort_of(stack) for stack in stacks]
    for one, other in chosen:
        if added[0][found.first[one][0]][0] != added[1][found.second[other][0]][0]:
            raise ValueError("pairs: an added token beside a typed one")
    return pairing


def sort_of(stack: StackTrace) -> list[tuple[bool, int]]:
    """Of each token whether the tokenizer added it, and its segment: partners have both in common."""
    length = len(stack.ids)
    special, segments = stack.special or (False,) * length, stack.segments or (0,) * length
    return list(zip(special, segments, strict=True))


def intervals_of(stack: StackTrace, texts: Sequence[str]) -> list[tuple[int, int, int] | None]:
    """Segment, start and end of each token in its text, without the spaces at its ends; None for an added one."""
    if stack.spans is None:
        raise ValueError("the pass knows no characters: it read ids")
    found: list[tuple[int, int, int] | None] = []
    for span, (_, segment) in zip(stack.spans, sort_of(stack), strict=True):
        if span is None:
            found.append(None)
            continue
        start, end = span
        typed = texts[min(segment, len(texts) - 1)][start:end]
        if typed.strip():
            start, end = start + len(typed) - len(typed.lstrip()), end - len(typed) + len(typed.rstrip())
        found.append((segment, start, end))
    return found


def stretches(intervals: Iterable[tuple[int, int, int]]) -> dict[tuple[int, int, int], int]:
    """Which stretch every interval lies in: those that share a character lie in one."""
    found: dict[tuple[int, int, int], int] = {}
    here, reached, number = -1, 0, -1
    for segment, start, end in sorted(set(intervals)):
        if segment != here or start >= reached:
            number, reached = number + 1, end
        here, reached = segment, max(reached, end)
        found[segment, start, end] = number
    return found
