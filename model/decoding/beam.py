"""Beam search: the best hypotheses of a text followed at a time, for many texts at once."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from model.decoding.steps import ChosenToken, Decoder, Node


@dataclass(frozen=True, kw_only=True, eq=False)
class Beams:
    """Beginnings of texts, best first for every text, and how they came about.

    One that has ended keeps its place among the best, is filled up with padding, and is no longer continued.
    """

    written: Int[Tensor, "text beam position"]  # what was there at the start among them
    lengths: Int[Tensor, "text beam"]  # tokens added, the end token among them, padding not
    typed: int  # how many were there at the start
    scores: Float[Tensor, "text beam"]  # the sum of the logarithms of the added tokens' probabilities; -inf: unused
    ended: Bool[Tensor, "text beam"]
    parents: Int[Tensor, "text beam"] | None = None  # which beam of ``before`` each is a continuation of
    logits: Float[Tensor, "text beam vocabulary"] | None = None  # what the model said after each beam of ``before``
    before: "Beams | None" = None

    @classmethod
    def start(cls, ids: Int[Tensor, "text position"], width: int) -> "Beams":
        """``width`` beams, all but the first of them unused, for they would all be the same."""
        texts, device = len(ids), ids.device
        scores = torch.full((texts, width), -torch.inf, device=device)
        scores[:, 0] = 0.0
        return cls(
            written=ids[:, None].expand(-1, width, -1),
            typed=ids.shape[-1],
            lengths=torch.zeros(texts, width, dtype=torch.long, device=device),
            scores=scores,
            ended=torch.zeros(texts, width, dtype=torch.bool, device=device),
        )

    def grown(
        self, logits: Float[Tensor, "text beam vocabulary"], end_id: int | None, pad_id: int, penalty: float
    ) -> "Beams":
        """The best that one token more, or none where a beam has ended, makes of these."""
        logs = logits.log_softmax(dim=-1).masked_fill(self.ended[..., None], -torch.inf)
        logs[..., pad_id] = torch.where(self.ended, 0.0, logs[..., pad_id])
        totals, lengths = self.scores[..., None] + logs, self.lengths + (~self.ended).long()
        ranks = length_normalised(totals, lengths[..., None], penalty)
        chosen = ranks.flatten(1).topk(self.scores.shape[1], dim=1).indices
        parents, tokens = chosen // logs.shape[-1], chosen % logs.shape[-1]
        written = self.written.gather(1, parents[..., None].expand(-1, -1, self.written.shape[-1]))
        over = self.ended.gather(1, parents)
        return Beams(
            written=torch.cat([written, tokens[..., None]], dim=-1),
            typed=self.typed,
            lengths=lengths.gather(1, parents),
            scores=totals.flatten(1).gather(1, chosen),
            ended=over if end_id is None else over | (tokens == end_id),
            parents=parents,
            logits=logits,
            before=self,
        )

    def ids(self, beam: int, text: int = 0) -> tuple[int, ...]:
        """The tokens that were added."""
        return tuple(self.written[text, beam, self.typed : self.typed + int(self.lengths[text, beam])].tolist())

    def path(self, beam: int, text: int = 0) -> list[Float[Tensor, "vocabulary"]]:
        """What the model said before each of these tokens; of beams that were recorded."""
        level_logits = [level.logits for level in self.levels()[1:]]
        rows = self.rows(beam, text)[: int(self.lengths[text, beam])]
        return [logits[text, row].cpu() for logits, row in zip(level_logits, rows, strict=False) if logits is not None]

    def chosen(self, beam: int, started: tuple[int, ...], text: int = 0) -> list[ChosenToken]:
        """The tokens that were added after ``started``; of beams that were recorded."""
        ids, path = self.ids(beam, text), self.path(beam, text)
        read = (started + ids[:count] for count in range(len(ids)))
        return [ChosenToken(*one) for one in zip(ids, path, read, strict=True)]

    def rows(self, beam: int, text: int = 0) -> list[int]:
        """Which of the beams it was before each token, one that it is filled up with among them, and which it is."""
        ancestors = [beam]
        for level in self.levels()[:0:-1]:
            assert level.parents is not None
            ancestors.append(int(level.parents[text, ancestors[-1]]))
        return ancestors[::-1]

    def levels(self) -> list["Beams"]:
        """These and all that they came from, the first beams first."""
        levels = [self]
        while levels[-1].before is not None:
            levels.append(levels[-1].before)
        return levels[::-1]


Pieces = Callable[[list[int]], Sequence[str]]  # how tokens are shown


def tree(beams: Beams, penalty: float, pieces: Pieces) -> tuple[Node, ...]:
    """Every hypothesis of the first text that was ever among the best; parents come before their children."""
    nodes, places = list[Node](), list[int | None]([None] * beams.scores.shape[1])
    for level in beams.levels()[1:]:
        assert level.parents is not None
        following = list[int | None]()
        for beam, parent in enumerate(level.parents[0].tolist()):
            node = last_node(level, beam, places[parent], penalty, pieces)
            following.append(places[parent] if node is None else len(nodes))
            nodes += [] if node is None else [node]
        places = following
    return tuple(nodes)


def last_node(beams: Beams, beam: int, place: int | None, penalty: float, pieces: Pieces) -> Node | None:
    """The node of a beam's last token; None where it got none."""
    assert beams.before is not None
    assert beams.parents is not None
    parent, score = beams.parents[0, beam], beams.scores[0, beam]
    if beams.before.ended[0, parent] or score == -torch.inf:
        return None
    token_id = int(beams.written[0, beam, -1])
    return Node(
        parent=place,
        depth=int(beams.lengths[0, beam]),
        token_id=token_id,
        token=pieces([token_id])[0],
        probability=float((score - beams.before.scores[0, parent]).exp()),
        score=float(length_normalised(score, beams.lengths[0, beam], penalty)),
        ended=bool(beams.ended[0, beam]),
    )


def length_normalised(
    scores: Float[Tensor, "*beam"], lengths: Int[Tensor, "*#beam"], penalty: float
) -> Float[Tensor, "*beam"]:
    """Scores divided by ((5 + length) / 6) ^ penalty, so that long texts are not the worse for being long.

    Wu et al. 2016, "Google's Neural Machine Translation System", equation 14. A penalty of 0 leaves the scores.
    """
    return scores / ((5 + lengths.float()) / 6) ** penalty


def search(
    decoder: Decoder,
    start: Int[Tensor, "text position"],
    width: int,
    penalty: float,
    longest: int,
    *,
    recorded: bool = False,
) -> Iterator[Beams]:
    """The beams after every token, until all of every text have ended or have ``longest`` tokens in all.

    So long, for one that goes on may yet overtake the best; and a text's beams are the same in a batch and alone.
    ``decoder`` has a memory of ``width`` rows for every text, one text after the other, where it has any.
    recorded: keep what ``path``, ``levels`` and ``tree`` need. A width of 1 is greedy decoding.
    """
    config, beams, cache = decoder.model.config, Beams.start(start, width), None
    first = torch.arange(len(start), device=start.device)[:, None] * width
    while beams.written.shape[-1] < longest and not (beams.ended | beams.scores.isneginf()).all():
        logits, cache = decoder.read(beams.written.flatten(0, 1), cache)
        grown = beams.grown(logits.unflatten(0, (-1, width)), config.end_id, config.pad_id, penalty)
        if cache is not None and grown.parents is not None:
            cache = cache.reordered((first + grown.parents).flatten())
        beams = grown if recorded else replace(grown, before=None, logits=None)
        yield beams
