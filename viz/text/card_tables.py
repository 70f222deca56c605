"""A checkpoint's card as tables and lines. A card may come from anywhere: what is missing or odd in it is left out.

What a model is and does can be read off its config, with a card or without.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from model import Config
from model.edits.checks import sizes_of
from model.families import OWN, Family
from viz.tokens import full_stop, markdown_text, visible

NO_CARD: Mapping[str, object] = {}
ON_RECORD = {"data": "data", "training": "training", "evaluations": "evaluation"}
MOST_LABELS = 4
OWN_TRAINING = "python -m model.training."
COUNTS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve")
NORMS = {"layer": "LayerNorm", "rms": "RMSNorm"}
NORM_ORDERS = {
    "post": "post-norm {}",
    "pre": "pre-norm {}",
    "both": "{} before and after each sublayer",
    "parallel": "pre-norm {}, attention and feed-forward in parallel",
}
POSITIONS = {
    "sinusoidal": "sinusoidal positions",
    "sinusoidal-halves": "sinusoidal positions",
    "learned": "learned positions",
    "counted": "learned positions",  # whose rows are counted from the first token that is no padding
    "rotary": "rotary positions",
    "relative": "relative position bias",
    "alibi": "ALiBi position bias",
    "none": "no positions",
}
ACTIVATIONS = {"relu": "ReLU", "gelu": "GELU", "gelu-tanh": "GELU", "silu": "SiLU"}

# What each result measures; found by its name in an evaluation.
MEASURES = {
    "accuracy": "Accuracy is the share of texts whose most probable label is the right one.",
    "BLEU": (
        "BLEU, from 0 to 100, counts the runs of one to four words that a translation shares with a person's "
        "translation (Papineni et al. 2002); two people's translations seldom score 100 against each other."
    ),
    "chrF": "chrF, from 0 to 100, counts shared runs of one to six characters in the same way (Popović 2015).",
    "alignment error rate": (
        "The alignment error rate compares the links between words that attention gives with those that people drew: "
        "it is the share of all links, both sets counted together, that the other set does not have. Lower is better "
        "(Och and Ney 2003). The diagonal is given for comparison; it links words at the same "
        "relative place of both texts."
    ),
    "bits per character": (
        "Bits per character is the number of bits that it takes, with the model's probabilities, to encode each "
        "character of texts that it never saw; fewer is better."
    ),
    "bits per token": "Bits per token is the same for each token.",
    "attention from a repeated token": (
        "The attention from a repeated token to the one after its first occurrence is measured on random phrases of "
        "any tokens; “What its heads do” measures the same on shorter ones of tokens that are letters alone, so that "
        "its number differs."
    ),
}
EVALUATION_COLUMNS = {"result": "result", "what": "what", "examples": "examples"}
WEB_ADDRESS = re.compile(r"https?:/{2}[\w.-]+(?:/[\w./~%-]*)?")
TRAINING_FACTS = ("seed", "steps", "examples", "seconds", "machine", "versions", "notes")
OF_ONE_RUN = ("steps", "examples", "time")


@dataclass(frozen=True)
class Model:
    """A checkpoint among others. parameters: how many numbers it holds, counted in its weights."""

    config: Config
    card: Mapping[str, object]
    family: Family
    parameters: int

    def purpose(self) -> str:
        """What it does, in a few words."""
        return purpose(self.config, self.card, self.family)

    def size_line(self) -> str:
        """ "2.9 million parameters, 4 layers × 8 heads"."""
        return f"{size(self.parameters)} parameters, {_stacks(self.config)}"

    def main_result(self) -> str:
        """The first evaluation of its card, the main one: "accuracy, all test reviews: 89.28 %"; "" for none."""
        first = next(iter(_records(self.card, "evaluations")), {})
        what, result = _cell(first.get("what")), _result(first)
        return f"{what}: {result}" if what and result else ""

    def main_result_explained(self) -> str:
        """What that is a measure of; "" where it is not a known one."""
        return " ".join(measures_explained(next(iter(_records(self.card, "evaluations")), {})))

    def trained_here(self) -> bool:
        """Whether its card names the command of this repository that trained it from random numbers."""
        return self.family is OWN and text_of(self.card, "training", "command").startswith(OWN_TRAINING)


def models_title(models: Sequence[Model]) -> str:
    """ "Three models, trained from scratch, 15.8 million parameters together."; how many of them, if not all."""
    here = sum(model.trained_here() for model in models)
    kept = "trained from scratch, " if here == len(models) else f"{here} of them trained from scratch, " if here else ""
    words = COUNTS[len(models)] if len(models) < len(COUNTS) else f"{len(models):,}"
    noun, together = ("model", "") if len(models) == 1 else ("models", " together")
    return f"{words} {noun}, {kept}{round_size(sum(model.parameters for model in models))} parameters{together}."


def round_size(count: int) -> str:
    """ "9.7 million", exact below a million."""
    return f"{count / 1e6:,.1f} million" if count >= 1_000_000 else f"{count:,}"


def about(config: Config, card: Mapping[str, object] = NO_CARD, family: Family = OWN) -> list[str]:
    """What a checkpoint is, in plain text, one line for each of three: its purpose, its parts, what nobody says of it.

    The first is the card's, and left out where it has none; the second is the card's or else the config's.
    """
    summary = _sentence_at(card, "summary") or _sentence_at(card, "task")
    parts = _sentence_at(card, "architecture") or architecture(config, family)
    return [line for line in (summary, parts, _missing(card)) if line]


def purpose(config: Config, card: Mapping[str, object] = NO_CARD, family: Family = OWN) -> str:
    """What a checkpoint does, in a few words of plain text: "continues texts", "judges texts: negative / positive".

    That an encoder-decoder translates is known from its family, or from the task that its card names.
    """
    if config.labels:
        return f"judges texts: {_labels(config)}"
    if config.word_head:
        return "fills in masked words"
    if config.is_encoder_decoder:
        translates = family.translates or "translat" in text_of(card, "task").lower()
        return "translates" if translates else "turns one text into another"
    return "continues texts" if not config.has_encoder else "reads (no head)"


def task(card: Mapping[str, object]) -> str:
    """ "It was trained for translation from English to French.", or "" where the card does not say."""
    named = text_of(card, "task").strip().rstrip(".")
    return f"It {'is to be' if is_untrained(card) else 'was'} trained for {named}." if named else ""


def is_untrained(card: Mapping[str, object]) -> bool:
    """Whether the card says that the weights are those before the first step."""
    training = card.get("training")
    steps = training.get("steps") if isinstance(training, Mapping) else None
    return isinstance(steps, int) and not isinstance(steps, bool) and steps == 0


def architecture(config: Config, family: Family = OWN) -> str:
    """The parts of a model as one plain sentence: family, stacks, width, norms, positions, feed-forward, head.

    "GPT-2 family: decoder, 12 layers × 12 heads, 768 wide, pre-norm LayerNorm, learned positions, GELU feed-forward,
    predicts the next token."
    """
    gated = "gated " if config.gated else ""
    parts = [
        config.architecture,
        _stacks(config),
        f"{config.width:,} wide",
        *_attention(config),
        NORM_ORDERS[config.norm_order].format(NORMS[config.norm]),
        POSITIONS[config.positions],
        f"{gated}{ACTIVATIONS[config.activation]} feed-forward",
        _head(config),
    ]
    return _sentence((f"{family.name} family: " if family.name else "") + ", ".join(parts))


def _stacks(config: Config) -> str:
    """ "3 + 3 layers × 8 heads"; "2 layers × 3 heads + 3 layers × 2 heads" where the stacks have other heads."""
    stacks = [sizes for name in config.stacks if (sizes := sizes_of(config, name)) is not None]
    if config.is_encoder_decoder and stacks[0].heads == stacks[1].heads:
        return f"{stacks[0].layers} + {stacks[1].layers} layers × {_number_of(config.heads, 'head')}"
    return " + ".join(f"{_number_of(one.layers, 'layer')} × {_number_of(one.heads, 'head')}" for one in stacks)


def _attention(config: Config) -> list[str]:
    """Where attention is not plain: shared keys and values, normed queries and keys, windows."""
    shared = config.kv_heads if config.kv_heads != config.heads else None
    windowed = len(set(config.windowed_layers) & set(range(config.layers)))
    layers = "every layer" if windowed == config.layers else f"{windowed} of {config.layers} layers"
    parts = {
        f"{_number_of(shared or 0, 'head')} of keys and values": shared,
        "RMSNorm on queries and keys": config.query_key_norm,
        f"a window of {_number_of(config.window or 0, 'token')} in {layers}": windowed,
    }
    return [part for part, present in parts.items() if present]


def _head(config: Config) -> str:
    if config.labels:
        return f"chooses between {_labels(config)}"
    if config.word_head:
        return "predicts masked tokens"
    if not config.has_decoder:
        return "no head"
    return "predicts the next token" + (" of the target" if config.is_encoder_decoder else "")


def _labels(config: Config) -> str:
    first, more = config.labels[:MOST_LABELS], len(config.labels) - MOST_LABELS
    return " / ".join(visible(label) for label in first) + (f" and {more:,} more" if more > 0 else "")


def _missing(card: Mapping[str, object]) -> str:
    """What can be known from a card alone and is not: "Its card names no training or evaluation."; "" for nothing."""
    if not card:
        return "The checkpoint has no card: its data, training and evaluation are unknown."
    names = [name for field, name in ON_RECORD.items() if not card.get(field)]
    listed = " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    return f"Its card names no {listed}." if names else ""


def _sentence_at(card: Mapping[str, object], name: str) -> str:
    """A text of the card as a sentence; "" where there is none."""
    text = card.get(name)
    return _sentence(text.strip()) if isinstance(text, str) and text.strip() else ""


def _sentence(text: str) -> str:
    """The text with a capital and a full stop."""
    return text[0].upper() + text[1:] + full_stop(text)


def _number_of(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def evaluations_by_command(card: Mapping[str, object]) -> dict[str, dict[str, list[str]]]:
    """For every command, in the order of the card, a table of what it prints: columns of text."""
    rows = [dict(row) | {"result": _result(row)} for row in _records(card, "evaluations")]
    commands = dict.fromkeys(_cell(row.get("command")) for row in rows)
    return {
        command: _columns([row for row in rows if _cell(row.get("command")) == command], EVALUATION_COLUMNS)
        for command in commands
    }


def measures_explained(*evaluations: Mapping[str, object]) -> list[str]:
    """A sentence for each measure that is named in these evaluations of a card."""
    names = [_cell(row.get("what")) for row in evaluations]
    return [sentence for measure, sentence in MEASURES.items() if any(measure in name for name in names)]


def all_measures_explained(card: Mapping[str, object]) -> list[str]:
    """A sentence for each measure of a card."""
    return measures_explained(*_records(card, "evaluations"))


def evaluations_that_begin(card: Mapping[str, object], beginning: str) -> dict[str, object]:
    """A card of these evaluations alone, their names without the beginning."""
    rows = [row for row in _records(card, "evaluations") if _cell(row.get("what")).startswith(beginning)]
    return {"evaluations": [dict(row) | {"what": _cell(row["what"]).removeprefix(beginning)} for row in rows]}


def data_lines(card: Mapping[str, object]) -> list[str]:
    """What it was trained and measured on, with licences: one line of Markdown for each set of data."""
    return [_data_line(row) for row in _records(card, "data")]


def _data_line(row: Mapping[str, object]) -> str:
    name, use, licence = (markdown_text(_cell(row.get(field))) for field in ("name", "use", "licence"))
    source = _cell(row.get("source"))
    link = f"<{source}>" if WEB_ADDRESS.fullmatch(source) else markdown_text(source)
    parts = {"Used for": use, "Licence": licence, "Source": link}
    return "  \n".join([f"**{name}**", *(f"{title}: {part}" for title, part in parts.items() if part)])


def curve_explained(card: Mapping[str, object], curve_steps: int) -> str:
    """Which steps the curve shows, where they are more than the card's own; "" where they are not."""
    if not has_earlier_runs(card, curve_steps):
        return ""
    return (
        f"The curves show all {curve_steps:,} steps of several training runs, one run after the other. The last run "
        f"took the last {_training(card)['steps']:,} of these steps; its seed, examples and time stand under Training."
    )


def has_earlier_runs(card: Mapping[str, object], curve_steps: int) -> bool:
    """Whether the curve shows more steps than the card counts: the card is of the last run, the curve of all."""
    steps = _training(card).get("steps")
    return isinstance(steps, int) and 0 < steps < curve_steps


def _training(card: Mapping[str, object]) -> Mapping[str, Any]:
    training = card.get("training")
    return training if isinstance(training, Mapping) else {}


def training_facts(card: Mapping[str, object], curve_steps: int = 0) -> dict[str, str]:
    """How it was trained, but for the command: name and value, both text.

    curve_steps: of the curve that was kept. Where the card counts fewer, its counts are named as the last run's.
    """
    record = _training(card)
    facts = {name: as_text(record[name]) for name in TRAINING_FACTS if record.get(name) not in (None, "", {}, [])}
    if isinstance(record.get("seconds"), int | float):
        facts["time"] = duration(float(record["seconds"]))
        del facts["seconds"]
    if not has_earlier_runs(card, curve_steps):
        return facts
    return {f"{name} of the last run" if name in OF_ONE_RUN else name: fact for name, fact in facts.items()}


def limits(card: Mapping[str, object]) -> list[str]:
    """What the checkpoint cannot do."""
    listed = card.get("limits")
    return [as_text(limit) for limit in listed] if isinstance(listed, Sequence) and not isinstance(listed, str) else []


def text_of(card: Mapping[str, object], *path: str) -> str:
    """The text at a place in the card, "" where there is none."""
    place: object = card
    for name in path:
        place = place.get(name) if isinstance(place, Mapping) else None
    return "" if place is None else as_text(place)


def as_text(value: object) -> str:
    """A value of the card as one text."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {as_text(part)}" for name, part in value.items())
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)


def duration(seconds: float) -> str:
    """ "1 h 12 min", "6 min", "40 s"."""
    minutes = round(seconds / 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min" if seconds >= 60 else f"{seconds:.0f} s"


def size(count: int) -> str:
    """ "2.40 million" for a number of parameters, exact below a million."""
    return f"{count / 1e6:.2f} million" if count >= 1_000_000 else f"{count:,}"


def megabytes(count: int) -> str:
    """ "9.6 MB"."""
    return f"{count / 1e6:.1f} MB"


def _records(card: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    field = card.get(name)
    listed = field if isinstance(field, list | tuple) else []
    return [record for record in listed if isinstance(record, Mapping)]


def _result(row: Mapping[str, object]) -> str:
    value, unit = row.get("value"), str(row.get("unit") or "")
    number = f"{value:.6g}" if isinstance(value, float) else "" if value is None else as_text(value)
    return f"{number} {unit}".strip()


def _columns(rows: Sequence[Mapping[str, object]], names: Mapping[str, str]) -> dict[str, list[str]]:
    cells = {title: [_cell(row.get(field)) for row in rows] for field, title in names.items()}
    return {title: column for title, column in cells.items() if any(column)}


def _cell(value: object) -> str:
    return "" if value is None else as_text(value)
