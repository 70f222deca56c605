"""The words of the question why a decoder may not look ahead."""

import math
from collections.abc import Sequence

from model.measures.learn.records.blindfold import MASKED, UNMASKED, BlindfoldRecord, Moment
from model.measures.learn.recurrence.lookahead import Lookahead
from model.training.watched import moments as watched
from viz.tokens import markdown_text, percent, visible

NAMES = {MASKED: "with the mask", UNMASKED: "without the mask"}
LEAST = 1e-5  # of a loss that is printed as a number
GRID = "the cat"  # the text of the picture before the first guess

ACROSS_STEPS, UP_LOSS = "training step", "training loss, nats a character"
LOSS_QUESTION = "One decoder learns with its mask, one without. Whose loss ends lower?"
LOSS_SETTING = (
    "Both learn for {steps} steps to predict the next character of {stories} stories (recorded). The **mask** hides "
    "all later characters. Without it, the decoder sees the character that it has to predict (ringed)."
)
LOSS_OPTIONS = ("With the mask", "Without the mask", "About the same")
LOSS_ANSWERS = {
    UNMASKED: "Without the mask: {unmasked} against {masked}.",
    MASKED: "With the mask: {masked} against {unmasked}.",
    None: "About the same: {masked} with the mask, {unmasked} without.",
}
LOSS_SENTENCE = (
    "After {steps} steps, the loss is {unmasked} without the mask and {masked} with it. Then both read {prefixes} "
    "stories only up to a place, so that no next character is there to be seen: there the loss is {blind_unmasked} "
    "without the mask and {blind_masked} with it. A random guess among {characters} characters has {chance}."
)

LIVE, LIVE_AGAIN = "Train two to copy letters, in some ten seconds", "Train both again"
LIVE_STOP, LIVE_STOP_HELP = "Stop", "Ends both trainings, with what they have learned until now."
LIVE_HELP = (
    "Two tiny decoders learn to copy letters, “light>light”, on this server: one with its mask, one without. You see "
    "what each writes where the answer is not there to be seen."
)
LIVE_LOSS = "loss on new letters, nats"
LIVE_ALT = "The loss of both over the steps of their training."
LIVE_SAID = (
    "**{name}**, {stopped}step {step} of {steps}. It learns to write letters again, “light>light”; where it can read "
    "the copy as well, {accuracy} of its letters are right. "
    "After “{prompt}” it writes “**{written}**”: {right} of {all} letters are right."
)
TOO_EARLY = "It is too early to judge what it has learned."
LIVE_WAITING = "**{name}**: starts, as soon as the server has room."

TEXT_QUESTION = "Now each writes, and no character stands ahead. Which writes English?"
TEXT_SETTING = (
    "Each continues “{prompt}”: {written} times, it adds the character that it finds likeliest. The training losses "
    "ended at {masked} with the mask and {unmasked} without."
)
TEXT_OPTIONS = ("With the mask only", "Without the mask only", "Both", "Neither")
TEXT_ANSWERS = {
    frozenset({MASKED}): "Only the one that learned with the mask.",
    frozenset({UNMASKED}): "Only the one that learned without the mask.",
    frozenset({MASKED, UNMASKED}): "Both of them.",
    frozenset[str](): "Neither of them.",
}
TEXT_SENTENCE = (
    "To judge by a count: do two words that one of them wrote side by side stand so in the stories, too? Of {pairs} "
    "such pairs of the first, {known} do; of {other_pairs} of the second, {other_known}. A decoder that can copy the "
    "next character never learns to predict it."
)
STEP_LABEL = "Written after so many steps"
STEP_CAPTION = "{name}, after {step} steps: training loss {loss}"

TRAINED_QUESTION = "A trained decoder now sees your next word. Does it predict it better?"
TRAINED_SETTING = (
    "{model} has learned with its mask. Now it reads this text without the mask, so every token can look at the next "
    "one, which it has to predict."
)
TRAINED_OPTIONS = ("Yes, better", "About as well", "No, worse")
TRAINED_ANSWERS = {
    1: "Better here: {masked} becomes {unmasked}.",
    0: "About as well: {masked} becomes {unmasked}.",
    -1: "Worse: {masked} becomes {unmasked}.",
}
TRAINED_SENTENCE = (
    "These are mean probabilities of the {tokens} after the first. Without the mask, {rose} of them {get} likelier, "
    "and {right} {are} the model’s first choice. A model that copies would have all {count}{but}."
)
NOT_LEARNED = "; this one has not learned to copy"
ALONE = "This text has a single token, so there is no next one to predict."
PLACE_LABEL = "What it expected"
PLACE_SENTENCE = "With the mask: {masked}. Without: {unmasked}."


def losses(record: BlindfoldRecord) -> dict[str, str]:
    """What the sentences of both recorded rounds name."""
    masked, unmasked = (record.at(name, -1) for name in (MASKED, UNMASKED))
    facts = record.facts
    return {
        "masked": loss(masked.training_loss),
        "unmasked": loss(unmasked.training_loss),
        "blind_masked": loss(masked.prefix_loss),
        "blind_unmasked": loss(unmasked.prefix_loss),
        "steps": f"{facts['steps']:,}",
        "stories": f"{facts['stories']:,}",
        "prefixes": f"{facts['prefixes']:,}",
        "written": f"{facts['written']:,}",
        "characters": str(facts["characters"]),
        "chance": loss(record.chance),
        "prompt": markdown_text(record.prompt),
        "known": str(masked.known),
        "pairs": str(masked.pairs),
        "other_known": str(unmasked.known),
        "other_pairs": str(unmasked.pairs),
    }


def loss(nats: float) -> str:
    """ "1.03", "0.0009" of a small one; records keep five decimals."""
    if nats < LEAST:
        return f"less than {LEAST:.5f}"
    return f"{nats:.{2 if nats >= 0.1 else -math.floor(math.log10(nats))}f}"


def step_caption(name: str, moment: Moment) -> str:
    caption = STEP_CAPTION.format(name=NAMES[name], step=f"{moment.step:,}", loss=loss(moment.training_loss))
    return caption[0].upper() + caption[1:]


def source(record: BlindfoldRecord) -> str:
    """Where the recorded numbers come from."""
    facts = record.facts
    return (
        f"Recorded: {record.parameters:,} parameters, seed {facts['seed']}, {record.seconds:,} s on "
        f"{record.machine}, by `{record.command}`."
    )


def trained(ahead: Lookahead, checkpoint: str) -> dict[str, str]:
    """What the sentences of the round on this text name."""
    masked, unmasked = ahead.means
    rose = sum(
        after.probability > before.probability for before, after in zip(ahead.masked, ahead.unmasked, strict=True)
    )
    right = sum(token.rank == 0 for token in ahead.unmasked)
    return {
        "model": markdown_text(checkpoint),
        "masked": percent(masked),
        "unmasked": percent(unmasked),
        "count": str(len(ahead.masked)),
        "tokens": "1 token" if len(ahead.masked) == 1 else f"{len(ahead.masked)} tokens",
        "rose": str(rose),
        "get": "gets" if rose == 1 else "get",
        "right": str(right),
        "are": "is" if right == 1 else "are",
        "but": NOT_LEARNED if right < len(ahead.masked) else "",
    }


def expected(likeliest: Sequence[tuple[str, float]]) -> str:
    """ "“ girl” 31 %, “ boy” 20 %", escaped."""
    return ", ".join(f"“{markdown_text(visible(token))}” {percent(share)}" for token, share in likeliest)


def live_said(
    name: str, moment: watched.Moment, steps: int, prompt: str, written: str, answer: str, *, stopped: bool = False
) -> str:
    """How far a training is that goes on, and what its model writes by itself in the place of the answer, Markdown."""
    right = sum(letter == wanted for letter, wanted in zip(written, answer, strict=True))
    return LIVE_SAID.format(
        name=NAMES[name].capitalize(),
        stopped="stopped at " if stopped else "",
        step=f"{moment.step:,}",
        steps=f"{steps:,}",
        accuracy=percent(moment.accuracy),
        prompt=markdown_text(prompt),
        written=markdown_text(written),
        right=right,
        all=len(answer),
    )


def live_waiting(name: str, refusal: str) -> str:
    """That a training has not begun, or why it ended before it came to anything, Markdown."""
    return markdown_text(refusal) if refusal else LIVE_WAITING.format(name=NAMES[name].capitalize())
