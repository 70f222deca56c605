"""The words of the page What it costs: names of models and parts, formulas, and what the numbers say."""

from collections.abc import Mapping, Sequence
from typing import Any

from model import Config
from model.measures.learn.sizes.costs import (
    MEASURED,
    Contradiction,
    LengthRecord,
    TimedLength,
    contradiction,
    growth,
    operations,
    parameter_bytes,
    training_bytes,
    weight_bytes,
    weight_count,
)
from model.measures.learn.sizes.parameters import ParameterGroup, Part, Shape, groups_of, parameter_count, parts_of
from viz.text.learn.stops.recurrent_network import threads
from viz.tokens import percent

# A model by its preset: in a list, and as the subject of a sentence.
NAMES = {
    "base": ("The paper's base model", "The paper's base model"),
    "big": ("The paper's big model", "The paper's big model"),
    "gpt2": ("GPT-2 small", "GPT-2 small"),
    "bert": ("BERT base", "BERT base"),
    "article": ("As articles build it: 512 wide, 8 heads, 6 layers", "The model that articles build"),
    "classifier": ("A small classifier, as in articles", "The small classifier of articles"),
}
TYPED = "This model"
PUBLISHED = {
    "base": "The paper gives 65 million (table 3).",
    "big": "The paper gives 213 million (table 3).",
    "gpt2": "Its paper gives 117 million (table 2).",
    "bert": "Its paper gives 110 million (section 3).",
}
GROUP_NAMES = {
    "embedding": "word embeddings",
    "positions": "positions",
    "self_attention": "self-attention",
    "cross_attention": "cross-attention",
    "feed_forward": "feed-forward",
    "norms": "norms",
    "output": "output",
}
PART_NAMES = {
    "embedding": "word embeddings",
    "positions": "positions",
    "segments": "segments",
    "embedding_norm": "norm of the embeddings",
    "self_attention": "self-attention",
    "cross_attention": "cross-attention",
    "feed_forward": "feed-forward",
    "norm": "last norm",
    "pooling": "pooling",
    "classifier": "classifier",
    "word_head": "head for masked words",
    "projection": "projection to the vocabulary",
}
SYMBOLS = {
    "d": "width of the model (d_model)",
    "d_ff": "inner width of the feed-forward layers",
    "V": "tokens in the vocabulary",
    "n_max": "positions that have a vector",
    "h": "heads",
    "d_k": "width of a head",
    "d_q": "width of all queries of a token",
    "d_kv": "width of all keys of a token",
    "s": "kinds of segments",
    "b": "distances told apart",
    "c": "labels",
}
PAPER_ATTENTION = {("d", "d"): 4, ("d",): 4}  # W_Q, W_K, W_V and W_O, each with its bias
BAR_LINE = (
    "A **parameter** is one number that training adjusts. Each bar counts those of one kind of part in all layers; "
    "under it stands the formula."
)
SUPERSCRIPTS = {2: "²", 3: "³"}
UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
COUNTS = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"))


def product(shape: Shape) -> str:
    """ "d²", "d·d_ff"."""
    powers = {symbol: shape.count(symbol) for symbol in dict.fromkeys(shape)}
    return "·".join(symbol + SUPERSCRIPTS.get(power, "") for symbol, power in powers.items())


def added(monomials: Mapping[Shape, int]) -> str:
    """ "4·d² + 4·d"."""
    return " + ".join((f"{count}·" if count > 1 else "") + product(shape) for shape, count in monomials.items())


def formula(group: ParameterGroup) -> str:
    """ "6 × (4·d² + 4·d)"."""
    terms = []
    for copies, monomials in group.monomials.items():
        inner = added(monomials)
        bracketed = f"({inner})" if "+" in inner else inner
        terms.append(f"{copies} × {bracketed}" if copies > 1 else inner)
    return " + ".join(terms)


def group_name(group: ParameterGroup, config: Config) -> str:
    """ "Encoder self-attention", "Word embeddings": with the stack where there are two."""
    both = config.is_encoder_decoder and not (group.name == "embedding" and config.share_embeddings)
    stacked = both and group.name != "output"
    name = f"{group.stack} {GROUP_NAMES[group.name]}" if stacked else GROUP_NAMES[group.name]
    return name[0].upper() + name[1:]


def group_label(group: ParameterGroup, total: int) -> str:
    """ "18.9 million · 30 %": its parameters, and which share of all they are."""
    return f"{amount(group.total)} · {percent(group.total / total)}"


def subject(preset: str, name: str, *, typed: bool) -> str:
    """What a sentence speaks of. name: of the checkpoint on the screen, plain text."""
    return TYPED if typed else NAMES[preset][1] if preset in NAMES else name


def title(name: str, config: Config) -> str:
    """ "GPT-2 small has 124.4 million parameters; 31 % are its word embeddings."."""
    total = parameter_count(config)
    embeddings = sum(part.total for part in parts_of(config) if part.name == "embedding")
    return f"{name} has {amount(total)} parameters; {percent(embeddings / total)} are its word embeddings."


def sentence(config: Config, preset: str, *, typed: bool) -> str:
    """Where the rest lies, and what its paper says."""
    total, groups = parameter_count(config), groups_of(config)
    feed_forward = sum(group.total for group in groups if group.name == "feed_forward")
    attention = sum(group.total for group in groups if group.name.endswith("_attention"))
    shares = (
        f"Its feed-forward layers hold {percent(feed_forward / total)}, its attention {percent(attention / total)}. "
        f"Exactly {total:,} parameters as its layers add up."
    )
    published = "" if typed else PUBLISHED.get(preset, "")
    return " ".join(filter(None, (shares, published)))


def part_rows(config: Config) -> list[dict[str, Any]]:
    """A row for every part: name, formula, with numbers, how often, in all."""
    return [
        {
            "part": part_name(part, config),
            "formula": added(part.monomials),
            "each": f"{part.each:,}",
            "copies": f"{part.copies:,}",
            "together": f"{part.total:,}",
        }
        for part in parts_of(config)
    ]


def part_name(part: Part, config: Config) -> str:
    """ "decoder: norm after the self-attention"."""
    name, _, side = part.name.partition(".norm_")
    words = f"norm {side} the {PART_NAMES[name]}" if side else PART_NAMES[name]
    return f"{part.stack}: {words}" if config.is_encoder_decoder else words


def symbols_line(config: Config) -> str:
    """What the symbols of the formulas stand for here, plain text."""
    used = used_symbols(config)
    named = [f"{symbol} = {used[symbol]:,} ({words})" for symbol, words in SYMBOLS.items() if symbol in used]
    return "; ".join(named) + "."


def used_symbols(config: Config) -> dict[str, int]:
    """The symbols that stand in a formula of this model, with their sizes."""
    return {symbol: part.symbols[symbol] for part in parts_of(config) for shape in part.shapes for symbol in shape}


def reading_lines(config: Config) -> list[str]:
    """What one has to know to read the bars and formulas of this model, Markdown."""
    return list(filter(None, (BAR_LINE, formula_line(config), shared_table(config), heads_line(config))))


def formula_line(config: Config) -> str:
    """What a formula on the screen means, by that of the attention."""
    group = next(group for group in groups_of(config) if group.name == "self_attention")
    copies, monomials = next(iter(group.monomials.items()))
    inner = "four matrices of d × d and four vectors of d" if monomials == PAPER_ATTENTION else ""
    if copies == 1:
        return f"“{formula(group)}” means {inner}." if inner else ""
    if not inner:
        return f"“{copies} ×” means {copies} layers."
    return f"“{formula(group)}” means {copies} layers, each with {inner}."


def shared_table(config: Config) -> str:
    """Which parts use one table of embeddings; "" where each has its own."""
    output = config.tie_embeddings and (config.has_decoder or config.word_head)
    if config.is_encoder_decoder and config.share_embeddings:
        users = "Encoder, decoder and output layer" if output else "Encoder and decoder"
        return f"{users} use the same embedding table, so it is counted once."
    return "The output layer reuses the embedding table, so it is counted once." if output else ""


def heads_line(config: Config) -> str:
    """That the heads are free; "" where their number stands in a formula."""
    if used_symbols(config).keys() & {"h", "d_k", "d_q", "d_kv"}:
        return ""
    return (
        "The number of heads does not change the parameters: the heads cut the same matrices into slices. What grows "
        "with it is the memory of the attention weights."
    )


def attention_title(tokens: int) -> str:
    """ "A text of 512 tokens"."""
    return f"A text of {tokens:,} token{'s' if tokens != 1 else ''}"


def attention_sentence(config: Config, tokens: int) -> str:
    """What the square of the length comes to at these sizes."""
    weights, size = weight_count(config, tokens), weight_bytes(config, tokens)
    cost = operations(config, tokens)
    share = cost.of_pairs / (cost.of_pairs + cost.of_tokens)
    both = "Source and target are both this long. " if config.is_encoder_decoder else ""
    return (
        f"{both}Each head of each attention computes {tokens:,} × {tokens:,} weights: {amount(weights)} in all, "
        f"{memory(size)}. A text twice as long has four times as many. One forward pass makes "
        f"{amount(cost.of_pairs + cost.of_tokens)} operations, each a multiplication or an addition of two numbers; "
        f"{percent(share)} of them are products of queries, keys and values, the part that grows with the square."
    )


def limit_sentence(config: Config, tokens: int, *, checkpoint: bool) -> str:
    """What keeps the model from reading so long a text; "" where nothing does.

    checkpoint: whether its longest text is set by a checkpoint's configuration, and not by a table of positions alone.
    """
    if tokens <= config.max_length:
        return ""
    if "n_max" in used_symbols(config):
        return (
            f"The model itself reads at most {config.max_length:,} tokens: its table of positions (n_max) has no "
            "vector for more."
        )
    return f"The configuration of the checkpoint allows at most {config.max_length:,} tokens." if checkpoint else ""


def memory_sentence(config: Config) -> str:
    """What the parameters need."""
    read, trained = memory(parameter_bytes(config)), memory(training_bytes(config))
    return (
        f"The parameters take {read} as 32-bit numbers, and {trained} in training: beside each stand its gradient and "
        "the two averages that the optimiser Adam keeps."
    )


def growth_sentence(points: Sequence[TimedLength], *, live: bool) -> str:
    """How the longest text compares with half of it, as it was measured; or that other work disturbed the measuring."""
    where = "On this server" if live else "As recorded"
    if contradicted := contradiction(points):
        return (
            f"{where}, {contradiction_clause(contradicted)}. Other work on the machine disturbed this: measure again."
        )
    if len(points) < 2:
        return ""
    before, last = points[-2:]
    forward, training = growth(points, "forward"), growth(points, "training")
    return (
        f"{where}, {last.tokens:,} tokens take {forward:.1f} times as long as {before.tokens:,} in a forward pass, "
        f"{training:.1f} times in a training step; the attention weights take "
        f"{growth(points, 'weight_bytes'):.0f} times the memory."
    )


def contradiction_clause(times: Contradiction) -> str:
    """Which of the measured times cannot be, as a clause."""
    if times.shorter is None:
        return f"a training step of {times.tokens:,} tokens took less time than the forward pass that it contains"
    what = {"forward": "forward pass", "training": "training step"}[times.what]
    return f"a {what} of {times.tokens:,} tokens took less time than one of {times.shorter:,}"


def measured_model() -> str:
    """What was measured."""
    return (
        f"An encoder of {MEASURED.layers} layers, {MEASURED.heads} heads and width {MEASURED.width} with random "
        f"weights ({amount(parameter_count(MEASURED))} parameters) reads one text at a time"
    )


def times_caption(record: LengthRecord, live_threads: int | None) -> str:
    """What the times of the chart are, plain text. live_threads: of what was measured here, None where nothing was."""
    recorded = f"Recorded on {record.date}, {record.machine}: milliseconds of processor time on one core."
    here = f" Here: milliseconds on the clock, {threads(live_threads)}." if live_threads else ""
    return recorded + here


def amount(count: int) -> str:
    """ "63.1 million", exact below a million."""
    for size, word in COUNTS:
        if count >= size:
            return f"{count / size:,.1f} {word}"
    return f"{count:,}"


def memory(count: int) -> str:
    """ "151.0 MB", in powers of a thousand."""
    for size, unit in UNITS:
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return f"{count:,} bytes"
