"""What is said of a training that is watched, in Markdown. Layers and heads count from 0, and show from 1."""

from model.training.watched.history import History
from model.training.watched.language_film import LanguageFilm
from model.training.watched.run_settings import RunSettings
from viz.tokens import counted, percent
from viz.watched.player import KINDS, HeadLine, head_line

# Tasks by what a person does with them, and what a head has to learn for each.
TASKS = {
    "induction": "Say what followed last time",
    "copy": "Copy letters",
    "reverse": "Write letters backwards",
    "sort": "Sort letters",
    "text": "Continue a text of yours",
}
LEARNS = {
    "induction": (
        "Random letters. Where a letter comes again, the model must say which letter stood after it last time. That "
        "takes two heads in a row: one that looks at the previous letter, and an induction head that looks for it."
    ),
    "copy": "Random letters, the sign >, and the same letters again: a head must find the letter that is next.",
    "reverse": (
        "Random letters, the sign >, and the same letters backwards. A head may look further and further back; or one "
        "tells every letter which stood before it, and another finds the letter just written where it stood first."
    ),
    "sort": "Random letters, the sign >, and the same letters by the alphabet: heads must find the next larger letter.",
    "text": "A text, character by character. The last tenth is held out, and measures what the model has learned.",
}
KIND_NAMES = {
    "previous_token": "previous letter",
    "induction": "induction",
    "copying": "copying",
    "answer": "on the answer",
}
KIND_SENTENCES = {
    "previous_token": "gives {score} of its attention to the previous character",
    "induction": "gives {score} of its attention to what followed the same letter before",
    "copying": "raises the letter that it looks at most for {score} of all letters",
    "answer": "gives {score} of its attention to the letter that must come next",
}
NO_HEAD = "no head has learned it"
FRESH_ONES = "fresh sequences of the task"
HELD_OUT = {"text": "the last tenth of the text", "language": "held-out text"}  # in the place of these, by task
KINDS_EXPLAINED = {
    "previous_token": f"The weight on the position before the query, on {FRESH_ONES}.",
    "induction": (
        "The weight on what followed the same letter before, on random letters that come twice (Olsson et al. 2022)."
    ),
    "copying": "For how many letters the head, on looking at one, raises that letter's own logit most.",
    "answer": f"The weight on the letter that must come next, wherever the query may look at it, on {FRESH_ONES}.",
}
LEGEND = "Best head for"
WORDS = {
    "play": "Play",
    "pause": "Pause",
    "step": "step",
    "of": "of",
    "slider": "Step of the training",
    "speed": "Speed",
    "accuracy": "accuracy",
    "loss": "loss",
    "nats": "nats",
    "layer": "layer",
    "head": "head",
    "legend": LEGEND,
    "curves": "accuracy and loss over the steps of the training",
    "scores": "scores of heads over the steps of the training",
    "dotted": "Dotted: the same by chance.",
    "none": "No kind of head is chosen above.",
    "no_head": NO_HEAD,
    "weights": "Attention weights",
    "weight": "weight",
    "reads": "reads",
    "guesses": "says next",
}
LANGUAGE_MODEL = "3 layers of 4 heads"
STARTING = "The training starts."
STOPPING = "The training stops at the end of its step; what it came to stays."
BEGUN = "The training has begun: it is shown at the top of the page."
COPYING_ALONE = "A head can copy and look at the wrong place, so that copying alone solves no task."
OF_ITS_QUERIES = (
    "Each number is a mean over the queries that it is about, so that two of one head can be more than 100 % together."
)
MEASURED_ON = {"text": "the last tenth of the text, which it never learned from"}
FRESH = "fresh sequences, where the answer can be known"
NEVER = 0.5  # of accuracy at the end: with less, a task was not learned


def player_words(task: str) -> dict[str, str]:
    """All words of the player, those of the kinds among them."""
    explained = {f"{kind}_explained": said for kind, said in KINDS_EXPLAINED.items()}
    return WORDS | {name: in_units(said, task) for name, said in (KIND_NAMES | explained).items()}


def in_units(said: str, task: str) -> str:
    """A sentence about characters, of a language model about tokens; and about what heads are measured on."""
    said = said.replace(FRESH_ONES, HELD_OUT.get(task, FRESH_ONES))
    return said.replace("letter", "token").replace("character", "token") if task == "language" else said


def many(count: int, what: str) -> str:
    """ "1 step", "1,000 steps"."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def run_name(settings: RunSettings) -> str:
    """What tells a training from another: "2 layers of 2 heads, without positions"."""
    layers = "1 layer" if settings.layers == 1 else f"{settings.layers} layers"
    heads = "1 head" if settings.heads == 1 else f"{settings.heads} heads"
    more = [
        *(["without positions"] if settings.positions == "none" else []),
        *(["post-norm"] if settings.norm_order == "post" else []),
        *(["without a mask"] if settings.mask == "none" else []),
    ]
    return ", ".join([f"{layers} of {heads}", *more])


def explained(task: str) -> str:
    """The kinds of heads, in Markdown."""
    kinds = "; ".join(
        f"**{KIND_NAMES[kind]}**: {said[0].lower()}{said[1:-1]}" for kind, said in KINDS_EXPLAINED.items()
    )
    return in_units(f"- {kinds}. {COPYING_ALONE} {OF_ITS_QUERIES}", task)


def best_line(history: History | LanguageFilm, task: str) -> HeadLine:
    """That of the head that does most, above chance, what heads have to do for a task."""
    return max((head_line(history, kind) for kind in KINDS[task]), key=lambda line: line.excess)


def title(history: History) -> str:
    """What happened in a training, in one line."""
    change, last = history.sudden_change(), history.last
    if last.step == 0:
        right = percent(last.accuracy)
        return f"Stopped before the first step: the weights are random, and {right} of the answers right by chance."
    if change is not None:
        jump = f"accuracy jumps from {percent(change.before)} to {percent(change.after)}"
        return f"About step {change.step:,}, {jump}."
    first = history.moments[0].accuracy
    return (
        f"Accuracy goes from {percent(first)} to {percent(last.accuracy)} in {many(last.step, 'step')}, without a jump."
    )


def live_title(settings: RunSettings) -> str:
    """What is going on while a training goes on."""
    return f"{run_name(settings)} learn{'s' if settings.layers == 1 else ''}: {TASKS[settings.task].lower()}."


def head_sentence(line: HeadLine, kind: str, task: str) -> str:
    """What a head does at the end, beside the same by chance; or that none does what the task needs."""
    if not line.is_seen:
        return "no head has learned what this task needs"
    done = in_units(KIND_SENTENCES[kind], task).format(score=percent(line.scores[-1]))
    return f"layer {counted(line.site[0])}, head {counted(line.site[1])} {done} (by chance {percent(line.nulls[-1])})"


def sentence(history: History, beside: History | None) -> str:
    """Which head came to be by then, and how the other training ended."""
    best, steps = best_line(history, history.settings.task), history.settings.steps
    step = history.last.step
    early = f"It ended early, at step {step:,} of {steps:,}: press Train for all of them. " if step < steps else ""
    said = f"{early}In the end, {head_sentence(best, best.kind, history.settings.task)}."
    return " ".join([said, *([beside_sentence(history, beside)] if beside is not None else [])])


def beside_sentence(history: History, beside: History) -> str:
    """How the training beside it ended, and what it lacks."""
    last = beside.last
    ending = f"**{run_name(beside.settings)}**, beside it, ends at {percent(last.accuracy)}"
    reason = ""
    if last.accuracy < NEVER <= history.last.accuracy:
        reason = why_not(history.settings, beside.settings)
    return f"{ending}{reason}."


def why_not(settings: RunSettings, beside: RunSettings) -> str:
    """Why the other one could not learn it, where that is known."""
    if settings.task == "induction" and beside.layers == 1 < settings.layers:
        return ": in one layer, no head can use what another has found out"
    if beside.positions == "none" != settings.positions:
        return ": without positions, it can hardly tell where a letter stands"
    return ""


def language_title(film: LanguageFilm) -> str:
    """How far the language model came, in one line."""
    return f"From noise to English in {film.last.step:,} steps."


def language_sentence(film: LanguageFilm) -> str:
    """Its loss and its best heads, at both ends."""
    first, last = film.moments[0], film.last
    best = best_line(film, "language")
    return (
        f"Its loss on unseen books falls from {first.loss:.2f} to {last.loss:.2f} nats a token, and it says the next "
        f"token right {percent(last.accuracy)} of the time. In the end, {head_sentence(best, best.kind, 'language')}."
    )


def language_caveat(film: LanguageFilm) -> str:
    """What was trained."""
    return (
        f"A decoder of {film.checkpoint(film.last.step).card['parameters']:,} weights with a vocabulary of its own, "
        f"trained on the same children’s books as the model stories. It goes on from “{film.prompt}”, always with the "
        "likeliest token."
    )


def caveat(history: History) -> str:
    """What was trained, so that nobody takes it for more."""
    settings = history.settings
    steps, seconds = many(history.last.step, "step"), "less than a second"
    if history.last.seconds >= 1:
        seconds = many(round(history.last.seconds), "second")
    return (
        f"{LEARNS[settings.task]} This is a decoder of width {settings.width}, trained for {steps} in {seconds} of "
        f"computing. Accuracy is measured on {MEASURED_ON.get(settings.task, FRESH)}."
    )


def progress(history: History) -> str:
    """How far a training is: step, loss, accuracy and speed."""
    last = history.last
    return (
        f"Step {last.step:,} of {history.settings.steps:,} · loss {last.loss:.2f} · "
        f"accuracy {percent(last.accuracy)} · {last.tokens_per_second:,.0f} tokens a second"
    )


def waiting(place: int) -> str:
    """That others train, and how many are before this one."""
    before = f"{place - 1:,} before you" if place > 1 else "you are next"
    return f"Others are training on this server. Yours begins by itself: {before} in the line."
