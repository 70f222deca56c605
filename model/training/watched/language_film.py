"""The snapshots of a language model's training, with what each writes: a film, beside those of tasks of letters.

    python -m model.training.language train --data DIR --out runs/small --snapshots 12 …
    python -m model.training.watched.language_film runs/small --data DIR

The second command measures every snapshot on held-out books and writes the film into a folder of its own.
"""

import argparse
import json
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch
from torch.nn import functional as F

from model.checkpoint import Checkpoint, load_checkpoint
from model.errors import CheckpointError
from model.loading.bounded_files import LARGEST_JSON, read_bytes, refuse, strict_json
from model.training.command_line import SNAPSHOTS
from model.training.data.books import rows_of, split
from model.training.watched.head_measures import head_scores
from model.training.watched.moments import Moment
from model.training.watched.recordings import RECORDINGS
from model.training.watched.tasks import Batch

NAME = "stories-small"
FILM = "film.json"
PROMPT, WRITTEN = "Once upon a time there was", 40  # tokens
WINDOWS, LENGTH, MEASURED = 64, 64, 16  # held-out windows and their tokens; of the first, heads are measured
SPECIAL = 3  # ids before those of pieces: padding, the unknown, the end


@dataclass(frozen=True, kw_only=True, eq=False)
class LanguageFilm:
    """A moment for every snapshot. written: what each has after the prompt, by the step; folder: of the snapshots."""

    folder: Path
    moments: tuple[Moment, ...]
    prompt: str
    written: dict[int, str]

    @property
    def steps(self) -> list[int]:
        """Those of the snapshots: all moments have one."""
        return [moment.step for moment in self.moments]

    @property
    def last(self) -> Moment:
        """The end of the training."""
        return self.moments[-1]

    def at(self, step: int) -> Moment:
        """The moment of a step that there is one of."""
        return next(moment for moment in self.moments if moment.step == step)

    def checkpoint(self, step: int) -> Checkpoint:
        """The model as it was after so many steps, on the CPU."""
        return snapshot_at(self.folder / str(step))


@cache
def snapshot_at(folder: Path) -> Checkpoint:
    """A snapshot, loaded once."""
    return load_checkpoint(folder, device="cpu")


@cache
def language_film(folder: Path = RECORDINGS / NAME) -> LanguageFilm:
    """The film in a folder. CheckpointError where its file is none."""
    values = strict_json(read_bytes(folder, FILM, LARGEST_JSON), FILM)
    try:
        moments = tuple(map(Moment.from_json, values["moments"]))
        written = {moment.step: str(values["written"][str(moment.step)]) for moment in moments}
        return LanguageFilm(folder=folder, moments=moments, prompt=str(values["prompt"]), written=written)
    except (KeyError, TypeError, ValueError, AttributeError):
        refuse(FILM, "moments", "something else", "the moments of a film, each with what was written")


def held_out(checkpoint: Checkpoint, data: list[Path]) -> Batch:
    """Windows of the books that nothing was learned from, evenly spread."""
    ids = torch.from_numpy(rows_of(checkpoint.tokenizer, split(data)[1]).ids.astype("int64"))
    starts = torch.linspace(0, len(ids) - LENGTH - 1, WINDOWS).long()
    rows = ids[starts[:, None] + torch.arange(LENGTH + 1)]
    return Batch(rows[:, :-1], rows[:, 1:], torch.ones(WINDOWS, LENGTH, dtype=torch.bool))


@torch.inference_mode()
def moment_of(checkpoint: Checkpoint, batch: Batch) -> Moment:
    """What is measured of a snapshot: loss and accuracy on the windows, and the scores of its heads."""
    training = checkpoint.card["training"]
    logits = checkpoint.model(batch.ids).logits
    loss = F.cross_entropy(logits.flatten(0, 1), batch.truth.flatten())
    right = (logits.argmax(dim=-1) == batch.truth).float().mean()
    first = Batch(*(part[:MEASURED] for part in batch))
    return Moment(
        step=training["steps"],
        loss=float(loss),
        accuracy=float(right),
        tokens=int(training["examples"]),
        seconds=float(training["seconds"]),
        scores=head_scores(checkpoint.model, first, range(SPECIAL, checkpoint.config.vocabulary)),
    )


def record(run: Path, data: list[Path], out: Path) -> LanguageFilm:
    """Measure the snapshots of a run, and write them and the film. CheckpointError where the run has none."""
    folders = sorted((run / SNAPSHOTS).glob("[0-9]*"), key=lambda folder: int(folder.name))
    if not folders:
        raise CheckpointError(f"{run.name} has no folder {SNAPSHOTS}: train with --snapshots.")
    batch = held_out(load_checkpoint(folders[0], device="cpu"), data)
    moments, written = [], {}
    for folder in folders:
        shutil.copytree(folder, out / folder.name, dirs_exist_ok=True)
        checkpoint = load_checkpoint(out / folder.name, device="cpu")
        moments.append(moment_of(checkpoint, batch).to_json())
        written[folder.name] = checkpoint.generate(PROMPT, max_tokens=WRITTEN).text
    values = {"prompt": PROMPT, "moments": moments, "written": written}
    (out / FILM).write_text(json.dumps(values, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return language_film(out)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m model.training.watched.language_film", description=__doc__)
    parser.add_argument("run", type=Path, help="folder of a training with --snapshots")
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="what it was trained on")
    parser.add_argument("--out", type=Path, default=RECORDINGS / NAME, help="folder for the film")
    options = parser.parse_args()
    film = record(options.run, options.data, options.out)
    for moment in film.moments:
        text = film.written[moment.step]
        print(f"step {moment.step}: loss {moment.loss:.4f}, accuracy {moment.accuracy:.4f}: {film.prompt}{text}")


if __name__ == "__main__":
    main()
