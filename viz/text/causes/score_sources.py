"""Why a head looks where it does, in words: a score above the mean, its largest part, and the head that wrote that.

Layers and heads count from 0, and show from 1. The parts are an account of one pass with its norms frozen; what would
happen without a head is another question (``head_effects``).
"""

from collections.abc import Mapping, Sequence

from model.edits import NO_EDITS, HeadSite
from model.measures.causes.score_sources import ScoreSources, largest
from model.measures.causes.source_chain import SourceStep
from model.measures.causes.stream_parts import Part
from model.measures.one_weight import WeightPath
from viz.explorer.attention_kinds import Text
from viz.text.head_findings import quoted_token
from viz.tokens import counted, decimal, markdown_text, percent

LEAST = 0.01  # of a score above or below the mean, of which something can be said
LOOKS = 0.1  # the weight from which on a query is said to look at a key
HALF, ALL = 0.5, 1.005  # shares: the main reason; more than all there is, rounding aside
MUCH = 0.25  # the share that parts of the other sign take away, from which on it is said
MEAN = "the mean of the scores that this query gives"
NOTHING = "Nothing to explain here: the score is {} " + MEAN + "."
HELP = (
    "A query and a key are each made of a sum: of the token's own vector, of its position's, and of what every head "
    "and feed-forward layer before wrote into the stream. So the score is a sum, too, in which each norm divides by "
    "the number that it had in this pass. The whole score can be split by the query's parts, each with the whole "
    "key, or by the key's parts, each with the whole query. It counts what is above the mean of the query's scores, "
    "because a softmax sees only differences. This is an account of one pass, not an experiment: to see what becomes "
    "of the answer without a head, mute it."
)
EDITED = (
    "This is told of the model as it is. The pass on the screen has muted heads or edits: take them back to see why "
    "this head looks where it does."
)
MASKED = (
    "The mask hides this key from this query: whatever their product is, the softmax gives the key a weight of 0. "
    "Choose a key that the query may see to read why it looks there."
)
ALONE = "This query sees one key alone: whatever its score is, the softmax gives it all of the attention."
SIDES = {
    "query": "By what stands in the query's stream, {}",
    "key": "By what stands in the key's stream, {}",
}
TWICE = "twice, by what made the query and by what made the key: two accounts of one number."
BARS = "part of the score above the mean"
OTHERS = "all others"


def why_not(path: WeightPath) -> str | None:
    """Why there is nothing to tell of a weight, if that is so."""
    if not path.is_allowed():
        return MASKED
    if path.edits != NO_EDITS:
        return EDITED
    mask = path.attention.mask.expand_as(path.attention.weights)[path.site.head, path.site.query]
    return ALONE if int(mask.sum()) == 1 else None


def title(steps: Sequence[SourceStep], texts: Mapping[str, Text]) -> str:
    """ "“it” looks at “cat” because of what head 4 of layer 1 wrote at “cat”", with its share of the score.

    With where that head read it; Markdown. texts: of the stacks, by name.
    """
    if not told(steps):
        return NOTHING.format("close to" if steps else "exactly")
    return f"{clause(steps[0], texts)}{read(steps[0], texts)}."


def told(steps: Sequence[SourceStep]) -> list[SourceStep]:
    """The steps of which there is something to say; none where the title has said that there is nothing."""
    if not steps or abs(steps[0].score) < LEAST:
        return []
    return [step for step in steps if abs(step.score) >= LEAST]


def sums(sources: ScoreSources, traced: float, *, capped: bool) -> str:
    """That the parts add up to what the pass computed. capped: whether the model caps its scores."""
    whole, theirs = decimal(sources.score, ".7g"), decimal(traced, ".7g")
    cap = " before its cap" if capped else ""
    return f"The parts of each side add up to {whole}; the model computed {theirs}{cap}."


def score_line(whole: float, above: float) -> str:
    """The whole score, the mean of the query's scores and the rest, which is what the parts below are of."""
    side = "above" if above >= 0 else "below"
    sizes = [decimal(value, ".4f") for value in (whole, whole - above, abs(above))]
    return f"The score is {sizes[0]}; {MEAN} is {sizes[1]}. The bars split the {sizes[2]} {side} it {TWICE}"


def line(step: SourceStep, texts: Mapping[str, Text]) -> str:
    """The same of a step further back: "In head 4 of layer 1, “cat” looks at “The” because of …"."""
    return f"In {head_name(step.site, texts)}, {clause(step, texts)}{read(step, texts)}."


def read(step: SourceStep, texts: Mapping[str, Text]) -> str:
    """ "; 97 % of that was read at “The”"; nothing where no head wrote the part."""
    if step.read is None or step.head is None or step.read_share is None:
        return ""
    if step.position == 0 and step.head.stack == "decoder" and step.head.attention == "self":
        return ""  # the first token sees itself alone
    place = token_at(texts[key_stack(step.head)], step.read)
    elsewhere = f", and {percent(step.read_share - 1)} taken away by what was read elsewhere"
    return f"; {percent(step.read_share)} of that was read at {place}{elsewhere if step.read_share > ALL else ''}"


def clause(step: SourceStep, texts: Mapping[str, Text]) -> str:
    """What the score is, and what it is because of."""
    what = part_words(step.part, step.side, step.stack, texts, token_at(texts[step.stack], step.position))
    of_score = f"of the score {'above' if step.score > 0 else 'below'} the mean"
    if step.share < HALF or step.opposed_share >= 1:
        largest_part = f"the largest part on the {step.side}'s side, {percent(step.share)} {of_score}, is {what}"
        return f"{looks(step, texts)}: {largest_part}{taken_away(step)}"
    by_side = f"{percent(step.share)} {of_score}, by the {step.side}'s parts"
    return f"{looks(step, texts)} because of {what} ({by_side}{taken_away(step)})"


def taken_away(step: SourceStep) -> str:
    """ "; other parts add 40 % and take 38 %", where they take much: then a large share is no sole reason."""
    if step.opposed_share < MUCH and step.share <= ALL:
        return ""
    added = 1 + step.opposed_share - step.share
    return f"; other parts, each counted by itself, add {percent(added)} and take {percent(step.opposed_share)}"


def looks(step: SourceStep, texts: Mapping[str, Text]) -> str:
    """ "“it” looks at “cat”", or of a small weight where the score stands."""
    query = token_at(texts[step.site.stack], step.query)
    itself = step.query == step.key and step.site.attention == "self"
    key = "itself" if itself else token_at(texts[key_stack(step.site)], step.key)
    if step.score > 0 and step.weight >= LOOKS:
        return f"{query} looks at {key}"
    size = decimal(abs(step.score), ".2f")
    return f"{query} gives {key} a score {size} {'above' if step.score > 0 else 'below'} the mean"


def key_stack(site: HeadSite) -> str:
    """The stack that a head's keys are in."""
    return "encoder" if site.attention == "cross" else site.stack


def token_at(text: Text, position: int) -> str:
    """ "“cat”", with its place where the text has several; Markdown."""
    return markdown_text(quoted_token(text, position))


def head_name(site: HeadSite, texts: Mapping[str, Text]) -> str:
    """ "head 4 of layer 1", in a model of two stacks with its stack."""
    kind = "cross-attention head" if site.attention == "cross" else "head"
    return f"{kind} {counted(site.head)} of {layer_name(site.layer, site.stack, texts)}"


def layer_name(layer: int, stack: str, texts: Mapping[str, Text]) -> str:
    return f"layer {counted(layer)}" + (f" of the {stack}" if len(texts) > 1 else "")


def part_words(part: Part, side: str, stack: str, texts: Mapping[str, Text], token: str) -> str:
    """ "what head 4 of layer 1 wrote at “cat”", Markdown. token: where the part stands, as Markdown."""
    if part.layer is None:
        return {
            "token": f"the token {token} itself",
            "position": f"the position of {token}",
            "segment": f"the segment of {token}",
            "norm bias": f"the learned biases of the norms on the way to the {side}",
            "projection bias": f"the learned bias of the {side} projection",
            "score bias": "the bias that the score gets for the two positions",
        }[part.kind]
    where = layer_name(part.layer, stack, texts)
    if part.head is not None:
        return f"what {head_name(HeadSite(stack, part.layer, part.head, part.kind), texts)} wrote at {token}"
    if part.kind == "feed-forward":
        return f"what the feed-forward layer of {where} wrote at {token}"
    kind = "cross-attention" if part.kind == "cross bias" else "attention"
    return f"the output bias of the {kind} in {where}"


def part_name(part: Part) -> str:
    """ "layer 1, head 4": the name of a bar."""
    if part.layer is None:
        return {"norm bias": "biases of norms", "score bias": "bias of the positions"}.get(part.kind, part.kind)
    where = f"layer {counted(part.layer)}"
    if part.head is not None:
        return f"{where}, {'cross-attention ' if part.kind == 'cross' else ''}head {counted(part.head)}"
    name = {"self bias": "output bias", "cross bias": "cross-attention output bias"}.get(part.kind, part.kind)
    return f"{where}, {name}"


def bars(parts: Mapping[Part, float], most: int = 8) -> dict[str, float]:
    """The parts with the largest magnitudes by their names, the largest first, and the sum of all others as one."""
    chosen = largest(parts, most if len(parts) > most + 1 else len(parts))
    named = {part_name(part): value for part, value in chosen}
    others = [value for part, value in parts.items() if part not in dict(chosen)]
    return named | ({f"{OTHERS} ({len(others)})": sum(others)} if others else {})
