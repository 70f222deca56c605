"""Sentences in which one word has two senses. The word comes after what tells its sense: a causal model reads no more.

Of *bank*, eight of twenty such were taken with which a model may sort the senses completely: tests/pages/learn keeps
the twenty, and says what all the other choices of four and four give. Those of the other words are as first written.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Senses:
    """A word, its two senses, and as many sentences of each."""

    names: tuple[str, str]
    sentences: tuple[tuple[str, ...], tuple[str, ...]]


SENSES: Mapping[str, Senses] = {
    "bank": Senses(
        names=("the side of a river", "a place for money"),
        sentences=(
            (
                "The frog jumped out of the pond and sat on the bank.",
                "The river had risen and flowed over its bank.",
                "They rowed the boat across the river to the other bank.",
                "The fish swam up to the green bank.",
            ),
            (
                "He owed a great debt, and he borrowed from the bank.",
                "The clerk counted the coins and carried them to the bank.",
                "The rich man kept all his money in the bank.",
                "She paid the rent with a cheque on the bank.",
            ),
        ),
    ),
    "ring": Senses(
        names=("a thing for a finger", "a circle"),
        sentences=(
            (
                "The prince put upon her finger a golden ring.",
                "She took from her hand a diamond ring.",
                "The jeweller made of gold and pearls a ring.",
                "He married her and gave her a silver ring.",
            ),
            (
                "The children joined hands and danced in a ring.",
                "The fairies danced on the grass in a ring.",
                "The soldiers stood around him in a ring.",
                "The wolves sat round the fire in a ring.",
            ),
        ),
    ),
    "rose": Senses(
        names=("a flower", "stood up"),
        sentences=(
            (
                "In the garden she picked from the bush a red rose.",
                "The flower that she loved best was the rose.",
                "The lily was white, and sweet smelled the rose.",
                "On the thorny bush there bloomed a single rose.",
            ),
            (
                "The king put down his cup, and slowly he rose.",
                "In the morning, as soon as the sun rose.",
                "The bird spread her wings, and into the air she rose.",
                "He was sitting by the fire, and when they came he rose.",
            ),
        ),
    ),
    "light": Senses(
        names=("something to see by", "not heavy"),
        sentences=(
            (
                "The sun rose, and the room was full of light.",
                "It was dark, and he saw far off a light.",
                "She lit the candle, and it gave a little light.",
                "The moon shone into the window with a pale light.",
            ),
            (
                "The basket was empty, and so it was quite light.",
                "The feather was not heavy, it was very light.",
                "The box was small, and to carry it was light.",
                "The load on his back was no longer heavy but light.",
            ),
        ),
    ),
    "bat": Senses(
        names=("a thing to hit a ball", "an animal"),
        sentences=(
            (
                "The boy threw the ball, and his friend swung the bat.",
                "He played at cricket with a ball and a bat.",
                "In the game he hit the ball with his bat.",
                "The player picked up from the grass his wooden bat.",
            ),
            (
                "The owl and the mouse flew by night with the bat.",
                "In the dark cave there hung by its wings a bat.",
                "The bird said to the beasts that he was a bat.",
                "At night flew about the tower a black bat.",
            ),
        ),
    ),
}
