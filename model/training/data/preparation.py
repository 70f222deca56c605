"""From files to what training reads: a tokenizer, and corpora to train on and to validate with."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
from safetensors.numpy import load_file, save_file

from model.errors import InputError
from model.tokenizer import Tokenizer
from model.training.data.corpora import MISREAD, Corpus, Example, read_examples, sentences, split_groups
from model.training.data.list_files import read_lists, words
from model.training.data.opinions import PROBABILITIES, opinions
from model.training.data.phrases import phrases
from model.training.data.rated import rated_opinions, rated_texts
from model.training.data.taught import taught_sentences
from model.training.teacher import Teacher, probabilities

REVIEW_LABELS = ("negative", "positive")
PHRASES = 200_000
HELD_OUT = 10  # one group in so many validates
NEUTRAL_TIMES = 3  # a sentence without an opinion stands so often: patterns make none

EVALUATED = ("everyday", "unseen", "negations", "neutral")  # files of lists/
KNOWN = ("phrases", "opinions", "rated", "taught")  # files of sentences of known opinion

TokenizerFor = Callable[[Iterator[str]], Tokenizer]  # the one to use for texts


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """Everything training reads: made once, kept on disk."""

    tokenizer: Tokenizer
    labels: tuple[str, ...]
    training: Corpus
    validation: Corpus
    known: Mapping[str, Corpus]  # sentences of known opinion, those of ``KNOWN`` that there are


def clean(text: str) -> str:
    """A review without the data set's oddities: HTML line ends, and punctuation decoded from the wrong code page."""
    text = MISREAD.sub(lambda match: match.group().encode("latin-1").decode("cp1252", "ignore"), text)
    return text.replace("<br />", "\n")


def reviews(path: Path, *, labelled: bool = True) -> Iterator[Example]:
    """The reviews of one file of the data set; all reviews of a film are one group."""
    for example in read_examples(path, labelled=labelled, group="movie"):
        label = REVIEW_LABELS[int(example.label)] if example.label is not None else None
        yield replace(example, text=clean(example.text), label=label)


def prepare(
    data: Path, vocabulary: int, folder: Path, tokenizer: Tokenizer | None = None, *,
    rated: Sequence[Path] = (), taught: Sequence[Path] = (),
) -> Prepared:  # fmt: skip
    """Read ``folder`` if it was prepared before, else make tokenizer and corpora from ``data`` and keep them there.

    Given a tokenizer, corpora alone are made. ``rated``, ``taught``: files of sentences and words to train on beside
    film reviews, that people rated and that a pretrained teacher labelled.
    """

    def tokenizer_for(texts: Iterator[str]) -> Tokenizer:
        return tokenizer or Tokenizer.train_word_pieces(texts, vocabulary)

    if not (folder / "training.safetensors").exists():
        if data.is_dir():
            prepare_reviews(data, tokenizer_for, folder, rated, taught)
        else:
            prepare_file(data, tokenizer_for, folder)
    stored = {name: load_corpus(folder / f"{name}.safetensors") for name in (*KNOWN, "validation", "training")}
    labels = tuple((folder / "labels.txt").read_text(encoding="utf-8").splitlines())
    its = Tokenizer.from_json((folder / "tokenizer.json").read_text(encoding="utf-8"))
    training, validation = stored["training"], stored["validation"]
    assert training is not None
    assert validation is not None
    known = {name: corpus for name in KNOWN if (corpus := stored[name]) is not None}
    return Prepared(tokenizer=its, labels=labels, training=training, validation=validation, known=known)


def prepare_file(data: Path, tokenizer_for: TokenizerFor, folder: Path) -> None:
    """One file of labelled texts: one in ten groups is held out, every text is taken whole."""
    examples = list(read_examples(data))
    labels = tuple(sorted({example.label for example in examples if example.label is not None}))
    if len(labels) < 2:
        raise InputError(f"{data.name}: found {len(labels)} label, expected two or more.")
    kept, out = split_groups(examples, lambda example: example.group, HELD_OUT)
    if not kept or not out:
        raise InputError(f"{data.name}: found {len(examples)} texts, too few to hold some out; 50 is a start.")
    tokenizer = tokenizer_for(example.text for example in kept)
    write(folder, tokenizer, labels, label_corpus(tokenizer, kept, labels), label_corpus(tokenizer, out, labels))


def prepare_reviews(
    data: Path, tokenizer_for: TokenizerFor, folder: Path, rated: Sequence[Path], taught: Sequence[Path]
) -> None:
    """The film reviews: one film in ten is held out; a teacher labels the unlabelled part and every sentence.

    Beside them, opinions from patterns, and sentences that people rated or a teacher labelled where there are files.
    """
    examples = list(reviews(data / "train.jsonl.gz"))
    kept, out = split_groups(examples, lambda example: example.group, HELD_OUT)
    films = {example.group for example in out}
    more = [example for example in reviews(data / "unsup.jsonl.xz", labelled=False) if example.group not in films]
    everything = [example.text for example in kept + more]
    tokenizer = tokenizer_for(iter(everything))
    truth = [REVIEW_LABELS.index(str(example.label)) for example in kept]
    teacher = Teacher([example.text for example in kept], truth, len(REVIEW_LABELS))
    targets = np.concatenate([one_hot(truth, 2), probabilities(teacher.evidence([example.text for example in more]))])
    cut = [sentences(text) for text in everything]
    evidence = teacher.evidence([sentence for text in cut for sentence in text])
    training = Corpus.build(tokenizer, cut, targets, evidence)
    known = known_sentences(tokenizer, rated, taught)
    write(folder, tokenizer, REVIEW_LABELS, training, label_corpus(tokenizer, out, REVIEW_LABELS), known)


def known_sentences(tokenizer: Tokenizer, rated: Sequence[Path], taught: Sequence[Path]) -> dict[str, Corpus]:
    """The sentences of known opinion, by the names in KNOWN, without those to evaluate with."""
    evaluated = evaluated_sentences()
    certain = [(text, good) for text, good in phrases(PHRASES) if words(text) not in evaluated]
    whole = [
        (text, odds)
        for heading, odds in PROBABILITIES.items()
        for text in opinions(heading) * (NEUTRAL_TIMES if heading == "neutral" else 1)
    ]
    known = {
        "phrases": Corpus.build(
            tokenizer, ([text] for text, _ in certain), one_hot([int(good) for _, good in certain], 2)
        ),
        "opinions": Corpus.build(
            tokenizer, ([text] for text, _ in whole), np.array([[1 - odds, odds] for _, odds in whole], np.float32)
        ),
    }
    if rated:
        fresh = [one for one in rated_texts(rated) if words(one.text) not in evaluated]
        texts, ratings = zip(*fresh, strict=True)
        known["rated"] = Corpus.build(tokenizer, ([text] for text in texts), rated_opinions(ratings))
    if taught:
        labelled = [one for one in taught_sentences(taught) if words(one.text) not in evaluated]
        odds = np.array([[1 - one.positive, one.positive] for one in labelled], np.float32)
        known["taught"] = Corpus.build(tokenizer, ([one.text] for one in labelled), odds)
    return known


def evaluated_sentences() -> set[tuple[str, ...]]:
    """The words of the sentences to evaluate with, which training must not meet."""
    return {words(text) for name in EVALUATED for texts in read_lists(name).values() for text in texts}


def one_hot(labels: list[int], count: int) -> np.ndarray:
    """Certain labels as probabilities."""
    return np.eye(count, dtype=np.float32)[labels]


def label_corpus(tokenizer: Tokenizer, examples: list[Example], labels: tuple[str, ...]) -> Corpus:
    """Labelled texts, each one sentence to the corpus."""
    truth = [labels.index(str(example.label)) for example in examples]
    return Corpus.build(tokenizer, ([example.text] for example in examples), one_hot(truth, len(labels)))


def write(
    folder: Path, tokenizer: Tokenizer, labels: tuple[str, ...], training: Corpus, validation: Corpus,
    known: Mapping[str, Corpus] = MappingProxyType({}),
) -> None:  # fmt: skip
    """Keep what was prepared; the training corpus last, as the sign that all is there."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(folder / "tokenizer.json")
    (folder / "labels.txt").write_text("\n".join(labels), encoding="utf-8")
    for name, corpus in {**known, "validation": validation, "training": training}.items():
        arrays = {key: array for key, array in vars(corpus).items() if array is not None}
        save_file(arrays, folder / f"{name}.safetensors")


def load_corpus(path: Path) -> Corpus | None:
    """A corpus that was kept, or None."""
    return Corpus(**load_file(path)) if path.exists() else None
