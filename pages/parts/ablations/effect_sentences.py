"""What is said of the formula's parts: which matters most, what a part does, what it means that nothing moves."""

from collections.abc import Sequence

from pages.parts.ablations.experiments import EXPERIMENTS, NO
from pages.parts.ablations.part_effects import Board, PartEffect
from viz.export.share_picture import Bar, plain_text
from viz.tokens import counted, markdown_text, percent

STILL = 0.01  # a change of probability below this is none that anybody would see
OF_A_LAYER = {"residual": "residual", "mute": "head"}
CHOSEN_BY = (
    "Every part of the formula was taken out {how}, and the change of {what} was measured. The page names the part "
    "with the largest change. Norms are measured but not compared: without them the numbers grow from layer to "
    "layer, and the model's answer has little to do with this text."
)
WHAT = {
    "label": "the probability of the label that the model finds most probable",
    "next": "the probability of the token that the model finds most probable after the text",
    "masked": "the probability of the word that the model finds most probable in place of the first mask",
    "output": "the mean probability of the output's tokens, including its end,",
    "stream": "the vectors after the last layer (the length of the difference, as a share of their length)",
}


def finding(board: Board, pressed: str = "") -> tuple[str, str]:
    """What a part that was pressed does, or else what matters most in this text: a title, and a sentence with numbers.

    Markdown; "" before it is known.
    """
    most, compared = board.most(), board.compared()
    if not most:
        return "", ""
    if pressed != most and (effect := board.effects.get(pressed)) is not None:
        return finding_of(board, pressed, effect)
    if compared[most].change < STILL:
        return needs_none(board), nothing_moves(board, compared[most])
    rest = sorted(compared.keys() - {most}, key=lambda name: -compared[name].change)
    begins = without(board) if pressed == most else most_matters(board)
    title = f"{begins}{EXPERIMENTS[most].part_at(board.place)}, {outcome_change(board, compared[most])}"
    return title, rest_sentence(board, rest)


def finding_of(board: Board, name: str, effect: PartEffect) -> tuple[str, str]:
    """What one part does, and beside it the part that matters most."""
    experiment, most = EXPERIMENTS[name], board.most()
    lead = f"{without(board)}{experiment.part_at(board.place)}, " if experiment.part else experiment.title(board.place)
    if not experiment.part:
        lead += " on top of the kept edits: " if board.kept != NO else ": "
    aside = ", the norms aside," if norms_aside(board) else ""
    largest = f"{EXPERIMENTS[most].part_at(board.place)} ({board.compared()[most].before_and_after()})"
    return (
        f"{lead}{outcome_change(board, effect)}",
        f"Of the parts that can be taken out{aside} {largest} matters most here.{one_layer_alone(board)}",
    )


def without(board: Board) -> str:
    """How a title about a part that is taken out begins."""
    return "On top of the kept edits, without " if board.kept != NO else "Without "


def most_matters(board: Board) -> str:
    """How the title begins where no part is taken out: what follows is of the part that matters most."""
    among = ", on top of the kept edits" if board.kept != NO else ""
    return f"What matters most here{among}: without "


def needs_none(board: Board) -> str:
    """The title where no part that is compared moves the outcome."""
    other = "other " if board.kept != NO else ""
    title = f"{norms_aside(board)}this text needs no single {other}part of the formula."
    return title[0].upper() + title[1:]


def norms_aside(board: Board) -> str:
    """ "apart from the norms, " where a part that is not compared changes more than all that are."""
    most = max((effect.change for effect in board.compared().values()), default=0.0)
    beside = {name: effect for name, effect in board.effects.items() if effect and not EXPERIMENTS[name].of_text}
    names = [EXPERIMENTS[name].part for name, effect in beside.items() if effect.change > most]
    return f"apart from the {', '.join(names)}, " if names else ""


def beside_what(board: Board) -> str:
    """What else is edited while a part is taken out."""
    return "on top of the kept edits" if board.kept != NO else "alone"


def outcome_change(board: Board, effect: PartEffect) -> str:
    """What becomes of the outcome, after "Without …, "."""
    before, after, name = percent(effect.before, 1), percent(effect.after, 1), markdown_text(board.named)
    stays = before == after and not effect.turned
    goes = f"stays at {before}" if stays else f"goes from {before} to {after}"
    verdict = f"changes; “{name}” goes from {before} to {after}." if effect.turned else f"{goes} {name}."
    return {
        "label": f"the verdict {verdict}",
        "next": f"the next token “{name}” {goes}.",
        "masked": f"the masked word “{name}” {goes}.",
        "output": f"the probability of its own output {goes}.",
        "stream": f"the last vectors move by {after} of their length.",
    }[board.outcome.kind]


def rest_sentence(board: Board, rest: Sequence[str]) -> str:
    """The other parts that were compared, those with the largest change first."""
    if not rest:
        return "No other part of this model can be compared with it."
    compared = board.compared()
    second = f"{EXPERIMENTS[rest[0]].part_at(board.place)} ({compared[rest[0]].before_and_after()})"
    most = "of these, this one changes the answer most"
    if norms_aside(board):
        most += ", norms aside: without them most layers read vectors of lengths that training never gave them"
    largest = f"Each part was taken out {beside_what(board)}; {most}. The second largest change comes from {second}."
    return f"{largest}{one_layer_alone(board)}"


def one_layer_alone(board: Board) -> str:
    """Of which layer the parts are that every layer has for itself; begins with a space, "" where none is compared."""
    parts = " and the ".join(part for name, part in OF_A_LAYER.items() if name in board.compared())
    layer = f"layer {counted(board.place.layer)}"
    return f" The {parts} taken out here {'are' if ' and ' in parts else 'is'} of {layer} alone." if parts else ""


def nothing_moves(board: Board, largest: PartEffect) -> str:
    """What it means that every part can be missed."""
    name, before = markdown_text(board.named), percent(largest.before, 1)
    what = {
        "label": f"the probability of “{name}” ({before})",
        "next": f"the probability of the next token “{name}” ({before})",
        "masked": f"the probability of the masked word “{name}” ({before})",
        "output": f"the probability of its own output ({before})",
        "stream": "the last vectors",
    }[board.outcome.kind]
    points = f"{100 * largest.change:.2g} points when it is taken out {beside_what(board)}"
    none = f"{norms_aside(board)}no part moves {what} by more than {points}"
    none = none[0].upper() + none[1:]
    if board.kept != NO:
        return f"{none}."
    return (
        f"{none}: here, the other parts make up for any one part. A text that depends on the order of its words needs "
        "more of them."
    )


def unmoved_sentence(board: Board, name: str, moved: float) -> str:
    """What it means that the outcome stays where one part is gone; "" where it moves, or where that is not known.

    moved: how far the stream after the last layer moves from that of the unchanged model, as a share of its length.
    Both are held against STILL. Where the stream is all there is to follow, it does not stay if either moves.
    """
    effect, goes = board.effects.get(name), moved >= STILL
    if effect is None or effect.change >= STILL or effect.turned or (goes and board.outcome.kind == "stream"):
        return ""
    if board.kept != NO:
        return f"**The answer hardly changes** beyond the kept edits ({effect.before_and_after()})."
    although = f", although the stream after the last layer moves by {percent(moved)} of its length" if goes else ""
    return f"**The answer hardly changes** ({effect.before_and_after()}){although}. {EXPERIMENTS[name].unmoved}"


def how_chosen(board: Board) -> str:
    return CHOSEN_BY.format(how=beside_what(board), what=WHAT[board.outcome.kind])


def box_legend(board: Board) -> str:
    """What the numbers beside a part are."""
    if board.outcome.kind == "stream":
        beside = f", {beside_what(board)}" if board.kept != NO else ""
        return f"how far the vectors after the last layer move after a press{beside}, as a share of their length"
    of = f" of “{markdown_text(board.named)}”" if board.named else " of the output's tokens, on average,"
    if board.kept != NO:
        return f"the probability{of} with the kept edits → after a press"
    return f"the probability{of} with all parts → after a press"


def bars(board: Board) -> list[Bar]:
    """The parts that are compared, those with the largest change first; nothing before that is known."""
    effects, most = board.compared(), board.most()
    names = sorted(effects, key=lambda name: -effects[name].change) if most else []
    longest = max(effects[most].change, STILL) if most else 1.0
    return [
        Bar(
            name=EXPERIMENTS[name].part_at(board.place),
            length=effects[name].change / longest,
            label=effects[name].before_and_after(),
        )
        for name in names
    ]


def bars_legend(board: Board) -> str:
    """What the bars are, plain text."""
    legend = plain_text(box_legend(board))
    return f"{legend[0].upper()}{legend[1:]}. The length of a bar is the change."
