"""What one process measures of a checkpoint's heads; several processes add theirs up."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TypeVar

from tqdm import tqdm

from model.checkpoint import Checkpoint
from model.errors import InputError, printable
from model.measures.head_scores.coreference import TWINS, PronounQuestion, coreference_hits, in_halves, read_questions
from model.measures.head_scores.gold_hits import HitsByName, added_hits
from model.measures.head_scores.kind_sums import SumsByAttention, added
from model.measures.head_scores.repeated_tokens import SEQUENCES, induction_sums
from model.measures.head_scores.syntax import syntax_hits
from model.measures.head_scores.text_set import measured_texts
from model.measures.head_scores.treebank import ParsedSentence, read_treebank
from model.training.distributed import Share

TREEBANK = "*-ud-{}.conllu*"
COREFERENCE = "coref/*.jsonl*"
LEAST_WORDS = 5  # of a sentence whose heads are to show their kind

Item = TypeVar("Item")
Half = tuple[str, str]  # what was asked about, "syntax" or "coreference", and "choice" or "report"


@dataclass(frozen=True, kw_only=True, eq=False)
class Measurement:
    """Sums and counts. ``counts``: how many examples of each data set were measured. ``stopped``: before the end."""

    counts: dict[str, int] = field(default_factory=dict)
    kinds: SumsByAttention = field(default_factory=dict)
    hits: dict[Half, HitsByName] = field(default_factory=dict)
    stopped: bool = False

    def __add__(self, other: "Measurement") -> "Measurement":
        """Of both processes, or of both data sets."""
        names = [*self.counts, *(name for name in other.counts if name not in self.counts)]
        halves = {*self.hits, *other.hits}
        return Measurement(
            counts={name: self.counts.get(name, 0) + other.counts.get(name, 0) for name in names},
            kinds=added(self.kinds, other.kinds),
            hits={half: added_hits(self.hits.get(half, {}), other.hits.get(half, {})) for half in sorted(halves)},
            stopped=self.stopped or other.stopped,
        )


@dataclass(frozen=True, kw_only=True)
class Worker:
    """One process: the model, its share of the examples, and what says that it is to stop."""

    checkpoint: Checkpoint
    share: Share
    stopped: Callable[[], bool] = lambda: False

    def own(self, examples: Iterable[Item]) -> Iterator[Item]:
        """This process's examples."""
        return islice(examples, self.share.rank, None, self.share.world)

    def last(self, results: Iterable[Item], name: str) -> tuple[int, Item | None]:
        """The last of results that come one after the other, and how many there were, under a progress bar."""
        counted = enumerate(tqdm(results, desc=name, disable=self.share.rank > 0, mininterval=1), start=1)
        found = deque(counted, maxlen=1)
        return found[0] if found else (0, None)

    def kinds(self, name: str, texts: Iterable[tuple[int, str]]) -> Measurement:
        """The kinds of heads over numbered texts, and on repeated random tokens."""
        count, sums = self.last(measured_texts(self.checkpoint, self.own(texts), stopped=self.stopped), name)
        repeated = {} if self.stopped() else induction_sums(self.checkpoint, self.own(range(SEQUENCES)))
        return Measurement(counts={name: count}, kinds=added(sums or {}, repeated), stopped=self.stopped())

    def syntax(self, half: str, name: str, sentences: Sequence[ParsedSentence]) -> Measurement:
        """The relations of the sentences of one file."""
        own = self.own(enumerate(sentences))
        count, hits = self.last(syntax_hits(self.checkpoint, own, stopped=self.stopped), name)
        return Measurement(counts={name: count}, hits={("syntax", half): hits or {}}, stopped=self.stopped())

    def coreference(self, name: str, rows: Sequence[PronounQuestion]) -> Measurement:
        """The pronouns of one file, in two halves."""
        total = Measurement()
        for half, part in zip(("choice", "report"), in_halves(rows), strict=True):
            results = coreference_hits(self.checkpoint, name, self.own(part), stopped=self.stopped)
            count, hits = self.last(results, name)
            counts, halves = {name: count}, {("coreference", half): hits or {}}
            total += Measurement(counts=counts, hits=halves, stopped=self.stopped())
        return total


def evenly_spaced(rows: Sequence[Item], most: int, block: int = 1) -> list[Item]:
    """At most so many rows from all over a file, in blocks of neighbours."""
    if len(rows) <= most:
        return list(rows)
    blocks, wanted = -(-len(rows) // block), -(-most // block)
    chosen = {number * blocks // wanted for number in range(wanted)}
    return [row for number, row in enumerate(rows) if number // block in chosen][:most]


def treebank_file(data: Path, part: str) -> Path:
    """The file of a treebank's part, "train" or "dev", anywhere in a folder. InputError where there is none."""
    files = sorted(data.rglob(TREEBANK.format(part)))
    if not files:
        raise InputError(f"{data.name}: found no file {TREEBANK.format(part)} in it.")
    return files[0]


def file_name(path: Path) -> str:
    """The name of a data file without what says how it is packed."""
    return path.name.removesuffix(".gz").removesuffix(".xz")


def sentences_of(data: Path, part: str, most: int, genre: str = "") -> list[ParsedSentence]:
    """Sentences from all over a treebank's part that are long enough to show something.

    genre: of which alone; "" for all. InputError where there is none of it.
    """
    path = treebank_file(data, part)
    sentences = [each for each in read_treebank(path) if not genre or each.genre == genre]
    if genre and not sentences:
        raise InputError(f"{file_name(path)}: no sentence is of the genre {printable(genre)}.")
    return evenly_spaced([each for each in sentences if len(each.spans) >= LEAST_WORDS], most)


def gold_measurement(worker: Worker, data: Path, most: int) -> Measurement:
    """Syntax and coreference of an encoder: the best head is chosen on the one half and reported on the other."""
    total = Measurement()
    for half, part in (("choice", "train"), ("report", "dev")):
        total += worker.syntax(half, file_name(treebank_file(data, part)), sentences_of(data, part, most))
    for path in sorted(data.glob(COREFERENCE)):
        total += worker.coreference(file_name(path), evenly_spaced(list(read_questions(path)), most, TWINS))
    return total
