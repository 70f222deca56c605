"""The words of the question whether looking at a word means that the word, or the head, matters."""

from collections.abc import Mapping

import numpy as np

from model.edits import HeadSite
from model.measures.learn.heads.attention_to_word import NEARLY_ALL, AttentionToWord
from model.measures.learn.heads.head_effects import HeadEffects
from viz.text.learn.model_answers import answer_name, heads_in_words
from viz.tokens import counted, markdown_text, percent, visible

OPTIONS = (
    "Another answer wins",
    "Falls by over 10, still wins",
    "Falls by 2 to 10 points",
    "Stays within 2 points",
    "Rises by more than 2 points",
)
MUTE_QUESTION = "What happens to {answer} ({plain}) when the {heads_that_look} hardest at {word} {are} muted?"
MUTE_SETTING_NEARLY_ALL = (
    "{Heads} of {all} {give} {word} at least {least} of {their} attention. **Muting** a head replaces its output "
    "with zeros."
)
MUTE_SETTING_HARDEST = (
    "One head gives {word} {hardest} of its attention, more than any head gives another word. **Muting** it replaces "
    "its output with zeros."
)
FORBID_QUESTION = "What happens to {answer} ({plain}) when no head may look at {word}?"
FORBID_SETTING = "The word stays in the text, but all {all} heads have to give their attention to the other words."
CHANGES = (
    "Another answer wins: {answer} falls from {before} to {after}.",
    "{answer} falls from {before} to {after}.",
    "{answer} falls from {before} to {after}.",
    "Almost nothing changes: {answer} goes from {before} to {after}.",
    "{answer} rises from {before} to {after}.",
)
MUTE_SENTENCE = "Of all {all} heads, head {head} of layer {layer} changes it most when it alone is muted: to {most}."
FORBID_SENTENCE = "It was {after_mute} with {heads} muted. "
OTHERS = "The other {others} give {word} {mean} of their attention on average."
OTHER = "The other head gives {word} {mean} of its attention."
NO_WORD = "This question needs a text of at least two whole words."
SPREAD = "No head gives even half of its attention to one word of this text; the most is {hardest}, to {word}."
NONE_MUTED = "No head muted"
THESE_MUTED = "{muted} muted (✕)"
ONE_MUTED = "Layer {layer}, head {head} muted alone"
MOST_MUTED = "Layer {layer}, head {head} muted alone: the largest change"
FORBIDDEN = "No head may look at “{word}” (token {place})"
GRID = "The share of its attention that each head gives {word}: a stronger shade is more, ✕ is muted."
PROBABILITY = "probability of “{answer}”"
CHOOSE_HEAD = "Mute another head alone"
CHOOSE_WORD = "Forbid another word"
PAPER = (
    "Section 3.2.2: each of the heads has its own projections, and their outputs are concatenated. The paper mutes no "
    "head; what large weights say of a head is asked by Jain and Wallace (2019, “Attention is not Explanation”) and "
    "Michel, Levy and Neubig (2019, “Are Sixteen Heads Really Better than One?”)."
)
BARS_ALT = "A bar for each pass of the model: the probability of its answer."
GRID_ALT = "A grid of all heads, shaded by what each gives the word; muted heads are crossed out."
MUTE_DOOR, MUTE_DOOR_EXPLAINED = "These heads muted, in Explore", "Shows where all heads look while these are muted."
FORBID_DOOR = "This experiment in Break the formula"
FORBID_DOOR_EXPLAINED = "Shows the attention of every head before and after the word was forbidden."


def plain_name(token: str) -> str:
    """A token for a chart, which reads no Markdown."""
    return visible(token.strip() or token)


def words(word: AttentionToWord, token: str, answer: str, effects: HeadEffects) -> dict[str, str]:
    """Everything that the sentences name, but for what a change has brought."""
    count, most = len(word.heads), effects.sites[effects.most]
    return {
        "word": f"“{markdown_text(plain_name(token))}”",
        "answer": answer_name(answer),
        "plain": percent(effects.plain, 1),
        "all": str(len(effects.sites)),
        "Heads": heads_in_words(count),
        "heads_that_look": "head that looks" if count == 1 else f"{count} heads that look",
        "are": "is" if count == 1 else "are",
        "give": "gives" if count == 1 else "give",
        "their": "its" if count == 1 else "their",
        "least": percent(NEARLY_ALL),
        "hardest": percent(float(word.given[word.hardest])),
        "layer": counted(most.layer),
        "head": counted(most.head),
        "most": percent(float(effects.alone[effects.most]), 1),
        "heads": heads_in_words(count),
    }


def mute_setting(word: AttentionToWord) -> str:
    """How the heads were chosen: those that give nearly all, or the hardest-looking one."""
    nearly_all = float(word.given[word.hardest]) >= NEARLY_ALL
    return MUTE_SETTING_NEARLY_ALL if nearly_all else MUTE_SETTING_HARDEST


def change(kind: int, names: Mapping[str, str], after: float) -> str:
    """What became of the answer: one of ``CHANGES``."""
    return CHANGES[kind].format(**names, before=names["plain"], after=percent(after, 1))


def forbid_sentence(word: AttentionToWord, names: Mapping[str, str], after_mute: float) -> str:
    """The numbers behind the second answer: the first, and what the heads that were not muted then give the word."""
    others = word.of_others
    rest = "" if not len(others) else (OTHER if len(others) == 1 else OTHERS)
    numbers = {"others": str(len(others)), "mean": percent(float(np.mean(others)))} if len(others) else {}
    return (FORBID_SENTENCE + rest).format(**names, **numbers, after_mute=percent(after_mute, 1)).strip()


def spread(word: AttentionToWord, token: str) -> str:
    """Why there is nothing to ask where no head looks hard at any word."""
    return SPREAD.format(hardest=percent(float(word.given[word.hardest])), word=f"“{markdown_text(plain_name(token))}”")


def head_option(site: HeadSite, given: float) -> str:
    """ "Layer 1, head 4: 77 % of its attention"."""
    return f"Layer {counted(site.layer)}, head {counted(site.head)}: {percent(given)} of its attention"


def these_muted(word: AttentionToWord) -> str:
    """ "2 heads muted (✕)"."""
    return THESE_MUTED.format(muted=heads_in_words(len(word.heads)))


def one_muted(site: HeadSite) -> str:
    return ONE_MUTED.format(layer=counted(site.layer), head=counted(site.head))


def most_muted(site: HeadSite) -> str:
    return MOST_MUTED.format(layer=counted(site.layer), head=counted(site.head))


def forbidden(token: str, place: int) -> str:
    """ "No head may look at “loved” (token 8)", plain text."""
    return FORBIDDEN.format(word=plain_name(token), place=counted(place))


def probability(answer: str) -> str:
    """What the bars measure, plain text."""
    return PROBABILITY.format(answer=plain_name(answer))
