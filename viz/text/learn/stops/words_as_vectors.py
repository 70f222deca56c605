"""The words of the question what a word is to a model."""

from collections.abc import Mapping, Sequence

from model.measures.learn.nearest_rows import Neighbour, WordRow
from viz.text.learn.model_answers import listing
from viz.tokens import decimal, markdown_text, visible

NAME = "What is a word to a model?"
QUESTION = "Which words are nearest to {word} for {model}?"
SETTING = (
    "Each model learned a **table** with a row of numbers for every token; the number under a token is that of its "
    "row. Two rows that point the same way have a **cosine** near 1. Each list below comes from the table of one "
    "model; which is that of {model}?"
)
ANSWER = "For {model}, {word} is nearest to {first}: cosine {cosine}."
SENTENCE = (
    "{others}: a table learns what its task needs. The dashed lines are the largest cosines of random rows: {chance}."
    "{noise}"
)
OTHER = "{model} has {first} ({cosine})"
NO_NOISE = ""
NOISE = " {count} of the {all} words {lie} no nearer, so {they} noise."
UNCLEAR = (
    "No word of this text has a row of its own in at least two of the tables ({tables}): each is cut into pieces, or "
    "has no letters."
)
STRIP = "row {token_id} of {count}: {width} numbers{scale}"
SCALE = ", each multiplied by √{width} = {factor}"
GROUP = "“{word}” in the table of {model}"
NO_ROW = "“{word}” has no row in the table of {model}: it is cut into pieces"
MEASURE = "cosine"
CHOOSE = "Another word"
TOKENS_ALT = "The tokens of the text, each over its id in the vocabulary."
STRIP_ALT = "The row of the embedding table for {word}: one coloured cell for each number."
NEAREST_ALT = "For every table the nearest words with their cosines; those that chance explains are grey."
DOOR, DOOR_EXPLAINED = "From these rows to one weight", "Shows every step from the rows of the words to a weight."
PAPER = (
    "Section 3.4: learned embeddings turn tokens into vectors of d_model numbers, and “in the embedding layers, we "
    "multiply those weights by √d_model”."
)
LONGEST_OPTION, MOST_WORDS = 30, 3


def word_name(word: str) -> str:
    """ "“loved”", escaped."""
    return f"“{markdown_text(visible(word))}”"


def model_names(purposes: Mapping[str, str]) -> dict[str, str]:
    """ "the model that judges texts", plain, for each checkpoint; its name where another does the same.

    purposes: by the names of the checkpoints.
    """
    tasks = {name: purpose.split(":")[0] for name, purpose in purposes.items()}
    twice = {task for task in tasks.values() if list(tasks.values()).count(task) > 1}
    return {name: name if task in twice else f"the model that {task}" for name, task in tasks.items()}


def option(neighbours: Sequence[Neighbour]) -> str:
    """ "hated, liked, admired", plain: as many of the first three as an option has room for, at least one."""
    names = [visible(neighbour.word) for neighbour in neighbours[:MOST_WORDS]]
    fitting = [count for count in range(1, len(names) + 1) if len(", ".join(names[:count])) <= LONGEST_OPTION]
    return ", ".join(names[: max(fitting, default=1)])


def asked_words(word: str, rows: Mapping[str, WordRow], models: Mapping[str, str]) -> dict[str, str]:
    """Everything that question and answer name. rows: by table, the one that is asked about first."""
    own, *others = rows
    all_words = [neighbour for row in rows.values() for neighbour in row.neighbours]
    noise = sum(neighbour.noise for neighbour in all_words)
    return {
        "word": word_name(word),
        "model": markdown_text(models[own]),
        "first": word_name(rows[own].neighbours[0].word),
        "cosine": decimal(rows[own].neighbours[0].cosine, ".2f"),
        "others": sentence_case(listing([other_table(rows[name], models[name]) for name in others])),
        "chance": listing([decimal(row.chance, ".2f") for row in rows.values()]),
        "noise": noise_words(noise, len(all_words)) if noise else NO_NOISE,
    }


def noise_words(count: int, words: int) -> str:
    """How many words chance explains."""
    lie, they = ("lies", "it is") if count == 1 else ("lie", "they are")
    return NOISE.format(count=count, all=words, lie=lie, they=they)


def other_table(row: WordRow, model: str) -> str:
    """Which word is nearest in another table."""
    first = row.neighbours[0]
    return OTHER.format(model=markdown_text(model), first=word_name(first.word), cosine=decimal(first.cosine, ".2f"))


def sentence_case(text: str) -> str:
    """The text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def strip_title(row: WordRow, count: int, factor: float) -> str:
    """ "row 1,614 of 16,000: 128 numbers, each multiplied by √128 = 11.3", plain."""
    width = len(row.row)
    scale = "" if factor == 1 else SCALE.format(width=width, factor=decimal(factor, ".1f"))
    return STRIP.format(token_id=f"{row.token_id:,}", count=f"{count:,}", width=width, scale=scale)
