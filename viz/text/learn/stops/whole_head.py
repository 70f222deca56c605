"""The words of the question what the division by √d_k is for."""

from model.measures.learn.heads.score_scale import Sharpness, WithoutDivision
from viz.tokens import counted, decimal, markdown_text, percent, visible

LITTLE = 0.1  # of probability: what is less is called so
LIKE = 1.5  # times as large, or as small: what is less is "about as much"

QUESTION = "No head divides by √dₖ any more. What happens to {answer}, {before}?"
SETTING = (
    "Before its softmax, a head divides every product of a query and a key by √dₖ, here √{width} = {root}. We leave "
    "that out in every layer; the picture shows head {head} of layer {layer}."
)
OPTIONS = (
    "Another answer wins",
    "Down 10 points or more",
    "Up 10 points or more",
    "It changes less",
)
OTHERWISE = "Without the division, {other} wins with {other_share}; {answer} falls from {before} to {after}."
MOVES = "Without the division, {answer} {verb} from {before} to {after}."
SENTENCE = (
    "The largest weight of a row says how sharp the row is. In the head of the picture it is {divided} with the "
    "division and {undivided} without, the mean of its rows; the mean of all heads is {all_divided} with it and "
    "{all_undivided} without."
)
ACT = (
    "Move the scale in the picture: to the left, all words of a row become alike; to the right, one word takes all. "
    "The button “without” leaves the division out.{order}"
)

ORDER = " The order of a row’s weights stays, whatever the scale: all its products are multiplied by one number."

SPREAD_QUESTION = "The products q · k of trained heads have a spread of {deviation}. How large is it without training?"
SPREAD_SETTING = (
    "The **spread** is the standard deviation of q · k, averaged over all heads. The untrained model has the same "
    "sizes and random weights. “About as large” means less than {like} times as large or as small."
)
SPREAD_OPTIONS = ("Far smaller", "About as large", "Far larger")
SPREAD_ANSWER = "The untrained model has a spread of {fresh}, the trained one {deviation}."
SPREAD_SENTENCE = (
    "For random vectors the paper expects √{width} = {root}. In the untrained model, the largest weight of a row is "
    "{fresh_divided} on average with the division and {fresh_undivided} without it. {learned}"
)
LEARNED = "The trained model reaches {divided} with the division."
NOT_LEARNED = "In the trained model it is {divided} with the division."
SPREAD_ACT = (
    "The picture now shows a head of the untrained model. Compare the buttons “with the division” and “without”."
)

ALONE = "This text has a single token. Its row has one weight, which is 1 with and without the division."
TRAINED = "Layer {layer}, head {head}"
UNTRAINED = "Layer {layer}, head {head} of the untrained model"


def place(layer: int, head: int) -> dict[str, str]:
    """A head as the screen counts it."""
    return {"layer": counted(layer), "head": counted(head)}


def answer_name(kind: str, name: str) -> str:
    """ "the answer “positive”", "the next word “ time”"; escaped."""
    what = "the answer" if kind == "label" else "the next token"
    return f"{what} “{markdown_text(visible(name))}”"


def right_option(result: WithoutDivision) -> int:
    """The place of what happened in ``OPTIONS``."""
    if result.other is not None:
        return 0
    moved = result.after - result.probability
    return 3 if abs(moved) < LITTLE else 2 if moved > 0 else 1


def right_spread(trained: Sharpness, fresh: Sharpness) -> int:
    """The place of what is so in ``SPREAD_OPTIONS``."""
    times = trained.deviation / fresh.deviation
    return 0 if times >= LIKE else 2 if times <= 1 / LIKE else 1


def outcome_words(result: WithoutDivision, answer: str, other: str) -> dict[str, str]:
    """What happens to the answer. answer, other: as ``answer_name`` gives them."""
    before, after = percent(result.probability, 1), percent(result.after, 1)
    verb = "stays at" if before == after else "rises" if result.after > result.probability else "falls"
    return {
        "answer": answer,
        "other": other,
        "before": before,
        "after": after,
        "verb": verb,
        "other_share": percent(result.other_probability, 1),
    }


def title(result: WithoutDivision, words: dict[str, str]) -> str:
    """The answer in one line."""
    if result.other is not None:
        return OTHERWISE.format(**words)
    if words["before"] == words["after"]:
        return f"Without the division, {words['answer']} stays at {words['before']}."
    return MOVES.format(**words)


def sharp_words(here: Sharpness, everywhere: Sharpness, width: int, *, biased: bool) -> dict[str, str]:
    """How sharp the rows are."""
    return {
        "divided": percent(here.divided),
        "undivided": percent(here.undivided),
        "all_divided": percent(everywhere.divided),
        "all_undivided": percent(everywhere.undivided),
        "deviation": decimal(here.deviation, ".3g"),
        "width": str(width),
        "root": decimal(width**0.5, ".3g"),
        "order": "" if biased else ORDER,
    }


def spread_words(trained: Sharpness, fresh: Sharpness, width: int) -> dict[str, str]:
    """The two models beside each other: the means of their heads."""
    times = trained.deviation / fresh.deviation
    learned = LEARNED if times >= LIKE and trained.divided > fresh.divided else NOT_LEARNED
    return {
        "deviation": decimal(trained.deviation, ".3g"),
        "fresh": decimal(fresh.deviation, ".3g"),
        "fresh_divided": percent(fresh.divided),
        "fresh_undivided": percent(fresh.undivided),
        "width": str(width),
        "root": decimal(width**0.5, ".3g"),
        "like": decimal(LIKE, ".2g"),
        "learned": learned.format(divided=percent(trained.divided)),
    }
