"""The words of the page Mistakes: what is written wrong, what it does to this text, and what one would notice."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from model.measures.learn.mistakes.effect import Curves, Effect, Tables
from viz.export.share_picture import Bar
from viz.tokens import decimal, markdown_text, percent, visible

UNMOVED = 0.0005  # a difference of probabilities below this is not seen in a percentage of one decimal
FLOAT16 = " In float16 the line with −1e9 stops: “{error}”."
TURNED = ": the verdict turns"
SAME_TITLE = "The wrong lines and the right ones give the same numbers on this text."
SAME = "Only where there are two tokens and two heads can they be mixed up."
SIDES = ("right", "wrong")
AT_PLACE = "{up}; {across}: {place}"
NO_CONTIGUOUS = " The transpose without `contiguous` stops at `view`: “{error}”."


@dataclass(frozen=True, kw_only=True)
class MistakeWords:
    """What stands on the screen of one mistake; Markdown.

    name: in a list. subject: of the sentence "… moves the answer from 94 % to 31 %". wrong: what is written wrong.
    notice: what one would notice. axes: of the curves, across and up; "" up: the probability of the answer.
    furthest: of which answers the wrong one is that furthest off, where there are several. other: the title where
    there is no answer. cells: what the numbers of the matrices are.
    """

    name: str
    subject: str
    wrong: str
    notice: str
    numbers: Callable[[Effect, str], str]
    axes: tuple[str, str] = ("", "")
    furthest: str = ""
    other: Callable[[Effect], str] = lambda effect: ""
    cells: str = ""


def title(words: MistakeWords, effect: Effect, labels: Sequence[str]) -> str:
    """What the mistake does to the answer, or where it has none, to its own number. labels: escaped."""
    if is_same(effect):
        return SAME_TITLE
    if effect.answers is None:
        return words.other(effect)
    right, wrong = effect.answers
    before = f"{percent(right, 1)} {labels[effect.label]}"
    if effect.moved < UNMOVED:
        return f"{words.subject} leaves the answer at {before}."
    furthest = words.furthest.format(count=len(effect.picture.places)) if isinstance(effect.picture, Curves) else ""
    turned = TURNED if len(labels) == 2 and wrong < 1 / 2 <= right else ""
    return f"{words.subject} moves the answer from {before} to {percent(wrong, 1)}{furthest}{turned}."


def sentence(words: MistakeWords, effect: Effect, labels: Sequence[str]) -> str:
    """The numbers behind the title. labels: escaped."""
    if is_same(effect):
        return SAME
    return words.numbers(effect, labels[effect.label] if labels else "")


def is_same(effect: Effect) -> bool:
    """Whether a mistake that mixes up tokens or heads has only one to mix up."""
    picture = effect.picture
    return isinstance(picture, Tables) and np.array_equal(picture.wrong, picture.right)


def bars(words: MistakeWords, effect: Effect, labels: Sequence[str]) -> tuple[list[Bar], str]:
    """The number that goes wrong, right and wrong, for the picture to share; and what it is, plain text.

    No bars where the mistake has neither an answer nor a line of numbers that are all 0 or more.
    """
    if effect.answers is not None:
        label = visible(labels[effect.label])
        numbers = [(share, percent(share, 1)) for share in effect.answers]
        return [bar(*named) for named in zip(SIDES, numbers, strict=True)], answer_axis(label)
    if not isinstance(effect.picture, Curves):
        return [], ""
    right, wrong = effect.picture.right, effect.picture.wrong
    place = int(np.abs(wrong - right).argmax())
    pair = float(right[place]), float(wrong[place])
    if min(pair) < 0 or max(pair) == 0:
        return [], ""
    numbers = [(number / max(pair), decimal(number, ".2f")) for number in pair]
    foot = AT_PLACE.format(up=words.axes[1], across=words.axes[0], place=effect.picture.places[place])
    return [bar(*named) for named in zip(SIDES, numbers, strict=True)], foot


def bar(name: str, number: tuple[float, str]) -> Bar:
    """A bar of a length, and its number in words."""
    return Bar(name=name, length=number[0], label=number[1])


def curves(effect: Effect) -> Curves:
    """The picture of a mistake that has two lines."""
    assert isinstance(effect.picture, Curves)
    return effect.picture


def tables(effect: Effect) -> Tables:
    """The picture of a mistake that has two matrices."""
    assert isinstance(effect.picture, Tables)
    return effect.picture


def listed(numbers: Sequence[str]) -> str:
    """ "64, −0.3 and −8.0"."""
    return " and ".join(filter(None, [", ".join(numbers[:-1]), numbers[-1]]))


def sign(effect: Effect, label: str) -> str:
    """The first four mean products."""
    wrong, right = (
        listed([decimal(number, ".1f" if number % 1 else ".0f") for number in line[:4].round(6)])
        for line in (curves(effect).wrong, curves(effect).right)
    )
    return (
        f"The mean product of two position vectors at distance 0, 1, 2 and 3 is {wrong}, in place of {right}. "
        "Neighbouring positions no longer have similar vectors."
    )


def sign_title(effect: Effect) -> str:
    """For a model without an answer."""
    right, wrong = (decimal(line[1], ".1f") for line in (curves(effect).right, curves(effect).wrong))
    return f"The missing minus turns the product of neighbouring positions from {right} to {wrong}."


def batch(effect: Effect, label: str) -> str:
    """The least and the largest answer."""
    least, most, right = curves(effect).wrong.min(), curves(effect).wrong.max(), curves(effect).right[0]
    return (
        f"The text fills a batch of {len(curves(effect).places)} rows, and the rows answer {percent(least, 1)} to "
        f"{percent(most, 1)} {label}. Counted along the sentence, every row answers {percent(right, 1)}."
    )


def seen(effect: Effect) -> tuple[int, int, int]:
    """How many keys head 1 looks at, wrong and right, and how many heads there are."""
    wrong, right = (int((matrix[0] > 0).sum()) for matrix in (tables(effect).wrong, tables(effect).right))
    return wrong, right, len(tables(effect).right)


def mask(effect: Effect, label: str) -> str:
    """What the first head sees."""
    wrong, right, heads = seen(effect)
    return (
        f"In a batch of {heads} texts, text 1 masks head 1, text 2 head 2, and so on. Text 1 is only "
        f"the first {several(wrong, 'token')} of yours, so that head 1 sees {wrong} of your {right} tokens."
    )


def mask_title(effect: Effect) -> str:
    wrong, right, _ = seen(effect)
    return f"With the mask of another text, head 1 sees {several(wrong, 'token')} in place of {right}."


def billion(effect: Effect, label: str) -> str:
    """The row that may look at nothing."""
    first, count = float(tables(effect).wrong[0, 0]), tables(effect).wrong.shape[1]
    return (
        f"The text is read from left to right, and its first token is padding, so that row 1 may look at nothing. With "
        f"−1e9 it gives {percent(first, 1)} to each of {several(count, 'token')}, all of which are masked; with −∞ and "
        f"`nan_to_num(0)`, 0.{FLOAT16.format(error=markdown_text(effect.error)) if effect.error else ''}"
    )


def billion_title(effect: Effect) -> str:
    first, count = float(tables(effect).wrong[0, 0]), tables(effect).wrong.shape[1]
    return f"With −1e9, a row that may look at nothing gives {percent(first, 1)} to each of {several(count, 'token')}."


def mean(effect: Effect, label: str) -> str:
    """The answer with the most padding."""
    most, wrong, right = curves(effect).places[-1], curves(effect).wrong[-1], curves(effect).right[-1]
    return (
        f"With {several(most, 'token')} of padding behind it, the text is {percent(wrong, 1)} {label}. With the mean "
        f"over its own tokens it stays {percent(right, 1)} {label}, however much padding there is."
    )


def weights(effect: Effect, label: str) -> str:
    """What a whole row adds up to."""
    line = curves(effect).wrong
    changed = int((np.abs(line - 1) > 0.005).sum())
    some = f"all {changed}" if changed == len(line) else f"{changed}"
    return (
        f"Before dropout, each of the {several(len(line), 'row')} of head 1 in layer 1 adds up to 1. After it, "
        f"{some} of them add up to something else: some weights are 0, and the others are scaled up."
    )


def weights_title(effect: Effect) -> str:
    least, most = curves(effect).wrong.min(), curves(effect).wrong.max()
    return f"After dropout, the weights of a row add up to anything from {least:.2f} to {most:.2f}."


def held(effect: Effect) -> int:
    """How many tokens head 1 holds numbers of."""
    return len(set(tables(effect).wrong[0].tolist()))


def view(effect: Effect, label: str) -> str:
    """What the first head holds."""
    count = tables(effect).right.shape[1]
    last = int((tables(effect).wrong[0] == 1).sum())
    return (
        f"Head 1 gets the numbers of the first {several(held(effect), 'token')}, in place of a part of each of the "
        f"{count} tokens of this text: its places 1 to {last} all come from token 1."
    )


def view_title(effect: Effect) -> str:
    count = tables(effect).right.shape[1]
    return f"With `view` alone, head 1 holds numbers of {several(held(effect), 'token')} in place of {count}."


def reshape(effect: Effect, label: str) -> str:
    """What the first row holds, and the error before."""
    count = held(effect)
    told = NO_CONTIGUOUS.format(error=markdown_text(effect.error.rstrip("."))) if effect.error else ""
    return f"Row 1 holds numbers of {several(count, 'token')} in place of token 1 alone.{told}"


def reshape_title(effect: Effect) -> str:
    return f"With `reshape` alone, the vector of token 1 holds numbers of {several(held(effect), 'token')}."


def norm(effect: Effect, label: str) -> str:
    """The stream's length behind the last layer."""
    wrong, right = curves(effect).wrong[-1], curves(effect).right[-1]
    return (
        f"Behind the last layer a token's vector is {wrong:.1f} long on average, in place of {right:.1f}. The norm "
        "rescales the whole stream after every sum."
    )


def dropout(effect: Effect, label: str) -> str:
    """The range of answers."""
    wrong = curves(effect).wrong
    return (
        f"{len(wrong)} calls on this text answer {percent(wrong.min(), 1)} to {percent(wrong.max(), 1)} {label}. With "
        f"dropout off, each of them answers {percent(curves(effect).right[0], 1)}."
    )


def several(count: int, noun: str) -> str:
    """ "1 token", "3 tokens"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


WORDS = {
    "sign": MistakeWords(
        name="The sign in the sinusoids",
        subject="The missing minus",
        wrong="The exponent has lost its minus: the angles grow from pair to pair, where they should shrink.",
        notice="Nothing stops, for sines stay between −1 and 1. A picture of the table shows noise in place of waves.",
        numbers=sign,
        axes=("distance between two positions", "mean product of their vectors"),
        other=sign_title,
    ),
    "batch": MistakeWords(
        name="Positions along the batch",
        subject="Counting positions along the batch",
        wrong="The first axis is taken for the position. In this code it is the batch.",
        notice="Another row of the batch gives another answer; another order of the words gives the same answer.",
        numbers=batch,
        axes=("row of the batch in which this text stands", ""),
        furthest=" in the worst of {count} rows",
    ),
    "mask": MistakeWords(
        name="A mask broadcast over heads",
        subject="A mask broadcast over heads",
        wrong="The mask has an axis for sentences and none for heads, so that sentence 1 masks head 1.",
        notice=(
            "Nothing where a batch has as many texts as the model has heads. A batch of another size stops with an "
            "error."
        ),
        numbers=mask,
        other=mask_title,
        cells="Weights of the last token of this text in layer 1, a row for each head.",
    ),
    "billion": MistakeWords(
        name="−1e9 in place of −∞",
        subject="",
        wrong="Masked scores become a large negative number, not −∞.",
        notice="Nothing, until a row has no token left to look at, or the model runs in float16.",
        numbers=billion,
        other=billion_title,
        cells="Weights of head 1 in layer 1, a row for each query.",
    ),
    "mean": MistakeWords(
        name="Padding in the mean",
        subject="Padding in the mean",
        wrong="The mean is taken over all positions, padding among them.",
        notice="A text gets one answer alone, and another in a batch with a longer text.",
        numbers=mean,
        axes=("tokens of padding behind the text", ""),
    ),
    "weights": MistakeWords(
        name="Weights after dropout",
        subject="",
        wrong="Dropout changes the weights before they are returned.",
        notice="The rows of a picture of the weights do not add up to 1, and every call draws another picture.",
        numbers=weights,
        axes=("query, counted from 1", "sum of its weights"),
        other=weights_title,
    ),
    "view": MistakeWords(
        name="view in place of transpose",
        subject="A `view` without the transpose",
        wrong="`view` makes the right shape, and leaves the numbers in the order of memory.",
        notice="All shapes are right and nothing stops. A comparison with `nn.MultiheadAttention` fails.",
        numbers=view,
        other=view_title,
        cells="The number of the token that each place of a head comes from.",
    ),
    "reshape": MistakeWords(
        name="reshape in place of transpose and contiguous",
        subject="A `reshape` without the transpose",
        wrong="Heads are joined without the transpose back, so that a row mixes tokens and heads.",
        notice="The error of `view` is gone, all shapes are right. A comparison with `nn.MultiheadAttention` fails.",
        numbers=reshape,
        other=reshape_title,
        cells="The number of the token that each part of a row comes from.",
    ),
    "norm": MistakeWords(
        name="Post-norm called pre-norm",
        subject="Post-norm in place of pre-norm",
        wrong=(
            "The norm stands after the sum, in a class that is called pre-norm. The paper has this order, but this "
            "model was trained with the other."
        ),
        notice="The weights load, for both orders have the same names and shapes.",
        numbers=norm,
        axes=("layers read so far", "mean length of a token's vector"),
    ),
    "dropout": MistakeWords(
        name="Dropout left on",
        subject="Dropout left on",
        wrong="`no_grad` is there, but the model is still in training mode: nobody has called `model.eval()`.",
        notice="Two calls on one text give two answers.",
        numbers=dropout,
        axes=("call", ""),
        furthest=" in the worst of {count} calls",
    ),
}


def answer_axis(label: str) -> str:
    """ "probability of “positive”"."""
    return f"probability of “{label}”"


_CLASSIFIER = (
    "This mistake shows in the answer of a classifier with pre-norm, the paper's sinusoids and a mean over tokens. "
    "{model} is not such a model."
)
NOT_HERE = " (not in this model)"
UNFIT = {
    "sign": "{model} does not add the paper's sinusoids, so that there is no exponent whose sign could be wrong.",
    "batch": _CLASSIFIER,
    "mean": _CLASSIFIER,
    "norm": _CLASSIFIER,
    "dropout": (
        "This mistake shows in the answer of a classifier that was trained with dropout. {model} is not such a model."
    ),
}


def first_tokens(read: int, all_tokens: int) -> str:
    """What is said of a text that is longer than the page reads."""
    return f"This page reads the first {read} of {all_tokens} tokens." if read < all_tokens else ""


CHECK_YOURS = (
    "Have you written attention yourself? Download two files into one folder: the arrays of head 1 of layer 1 as it "
    "read this text (input, Q, K, V, mask, and the expected scores, weights and context), and a script. Put your "
    "function into the script and run it: it compares scores, mask, weights and context, and names the first step that "
    "differs. It runs on your own computer, and needs Python and NumPy. The mask of an encoder hides nothing: take the "
    "arrays of a decoder to test yours."
)
NOT_CHECKED = (
    "{model} adds to its scores or scales them in a way of its own, so that the formula alone does not give its "
    "weights. Take another model to check your own function."
)
