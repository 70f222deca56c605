"""What a download would bring, found out before it: the files, how large, and whether the model can be opened here.

Of the weights only the headers are read. They and the config go through the checks of a folder on the disk.
"""

import shutil
import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import Any

from model import families
from model.errors import CheckpointError, printable
from model.loading import checkpoint_files, weights
from model.loading.bounded_files import LARGEST_JSON, strict_json
from model.loading.checkpoint_files import CONFIG, LARGEST_TOKENIZER, TOKENIZER, Outline
from model.loading.headers import INDEX, LARGEST_HEADER, LARGEST_WEIGHTS, WEIGHTS, weight_files
from model.loading.hub import client, disk
from model.loading.hub.background import never, watched
from model.loading.hub.names import MAIN, HubName
from model.loading.hub.repositories import HubFile, Repository, conversions, repository
from model.loading.memory import free_memory, gigabytes, memory_needed

LONGEST_LOOK = 120.0  # seconds
MARIAN, MARIAN_TOKENIZER = "marian", ("source.spm", "target.spm", "vocab.json")
FIRST_READ = 64 << 10  # bytes of a file of weights: most headers are shorter
SPARE_DISK = 64 << 20  # bytes that stay free
LONGEST_SENTENCE = 300


@dataclass(frozen=True)
class Listing:
    """What a download would bring.

    name: with the commit that its revision, ``asked``, is now. files: those that are fetched, and no others. memory:
    bytes of the loaded weights. family: as its papers spell it. conversion: the pull request of the hub's own account
    that has the weights as safetensors, where the main branch has none.
    """

    name: HubName
    files: tuple[HubFile, ...]
    memory: int
    parameters: int | None
    family: str
    conversion: str | None = None
    asked: str = MAIN

    @property
    def bytes(self) -> int:
        """How many bytes the files have together."""
        return sum(file.size for file in self.files)


class NoSafetensors(CheckpointError):  # noqa: N818 -- it says what is missing
    """A repository whose weights are pickled. ``offer``: what a conversion in a pull request would bring, if any."""

    def __init__(self, message: str, offer: Listing | None = None) -> None:
        super().__init__(message)
        self.offer = offer


def listing(name: HubName, *, stop: Callable[[], bool] = never) -> Listing:
    """What a download would bring now.

    Raises CheckpointError, one sentence, where the model is not there, cannot be opened here or is too large for what
    is free; NoSafetensors where its weights are pickled; DownloadStopped.
    """

    def look(over: Event) -> Listing:
        with client.explained(name):
            return inspect(name, over)

    return watched(look, stop=stop, seconds=LONGEST_LOOK)


def inspect(name: HubName, over: Event) -> Listing:
    """The listing of a name at its own revision, or the refusal."""
    remote = repository(name, over)
    values = strict_json(read_small(remote, CONFIG, over), CONFIG)
    family = families.family_of(values)
    if not {WEIGHTS, INDEX} & remote.files.keys():
        raise without_safetensors(name, values, over)
    tokenizer = tokenizer_files(remote, values)
    with TemporaryDirectory() as temporary:
        outline = sketched(remote, values, Path(temporary), over)
        shards = weight_files(Path(temporary))
        memory = weights.memory_kept(outline.model, outline.sources, outline.stored)
        copied = is_copied(outline)
    index = [INDEX] if shards != [WEIGHTS] else []
    files = tuple(remote.files[path] for path in [CONFIG, *index, *shards, *tokenizer])
    check_memory(name, memory_needed(outline.model.config, memory))
    check_disk(remote.name, files, sum(remote.files[path].size for path in shards) if copied else 0)
    parameters = sum(parameter.numel() for parameter in outline.model.parameters())
    return Listing(remote.name, files, memory, parameters, family.name, asked=name.revision or MAIN)


def is_copied(outline: Outline) -> bool:
    """Whether the weights will be written once more, in the order of their columns."""
    transposed = weights.transposed(outline.model, outline.sources, outline.stored)
    return bool(transposed) and weights.is_large(outline.stored)


def read_small(remote: Repository, path: str, over: Event) -> bytes:
    """What a file of at most 1 MiB holds."""
    repo = printable(remote.name.repo)
    if path not in remote.files:
        raise CheckpointError(f"{repo} has no {path}, so it is no model that Headlight can open: choose another.")
    if (size := remote.files[path].size) > LARGEST_JSON:
        raise CheckpointError(f"{repo}: {path} has {gigabytes(size)}, and at most {gigabytes(LARGEST_JSON)} is read.")
    return client.read(client.file_address(remote.name, path), LARGEST_JSON, over)


def without_safetensors(name: HubName, values: dict[str, Any], over: Event) -> NoSafetensors:
    """The refusal of pickled weights, with what the hub's own conversion would bring."""
    repo = printable(name.repo)
    for revision in conversions(name.repo, over) if name.revision in (None, MAIN) else []:
        try:
            converted = inspect(HubName(name.repo, revision), over)
        except NoSafetensors:
            continue
        why = f"{repo} has no safetensors on its main branch; the hub's own conversion of it is {repo}@{revision}."
        return NoSafetensors(why, replace(converted, conversion=revision))
    why = f"{repo} has no safetensors, and Headlight opens no pickled file, because loading one can run code; "
    remedies = [checkpoint_files.conversion(values, name.repo), checkpoint_files.conversion({"model_type": ""})]
    fitting = [remedy for remedy in remedies if len(why) + len(remedy) < LONGEST_SENTENCE]
    return NoSafetensors(f"{why}{fitting[0]}.")


def tokenizer_files(remote: Repository, values: dict[str, Any]) -> list[str]:
    """The files that a repository's tokenizer is in; of Marian the three of sentencepiece, if they are there."""
    kinds = [MARIAN_TOKENIZER, (TOKENIZER,)] if values.get("model_type") == MARIAN else [(TOKENIZER,)]
    paths = next((paths for paths in kinds if remote.files.keys() >= set(paths)), ())
    repo = printable(remote.name.repo)
    if not paths:
        names = ", ".join(kinds[0])
        raise CheckpointError(f"{repo} has no {names}, without which it can read no text: choose another model.")
    for path in paths:
        if (size := remote.files[path].size) > LARGEST_TOKENIZER:
            most = gigabytes(LARGEST_TOKENIZER)
            raise CheckpointError(f"{repo}: {path} has {gigabytes(size)}, and at most {most} are read.")
    return list(paths)


def sketched(remote: Repository, values: dict[str, Any], folder: Path, over: Event) -> Outline:
    """What config and headers say, checked as in a folder on the disk: in one where the weights have no numbers."""
    repo = printable(remote.name.repo)
    if WEIGHTS not in remote.files:
        (folder / INDEX).write_bytes(read_small(remote, INDEX, over))
    else:
        (folder / WEIGHTS).touch()
    shards = weight_files(folder)
    if missing := [path for path in shards if path not in remote.files]:
        raise CheckpointError(f"{repo}: {INDEX} lists {printable(missing[0])}, which is not there: choose another.")
    if (size := sum(remote.files[path].size for path in shards)) > LARGEST_WEIGHTS:
        most = gigabytes(LARGEST_WEIGHTS)
        raise CheckpointError(
            f"{repo} has {gigabytes(size)} of weights, and at most {most} are read: choose a smaller model."
        )
    for path in shards:
        sketch(folder / path, client.file_address(remote.name, path), remote.files[path].size, over)
    outline = checkpoint_files.read_outline(folder, values)
    weights.check_shapes(outline.model, outline.sources, outline.stored)
    return outline


def sketch(path: Path, url: str, size: int, over: Event) -> None:
    """A file of weights with its header alone: as long as the real one, and a hole where the numbers would be."""
    start = client.read(url, size, over, last=min(FIRST_READ, size) - 1) if size else b""
    length = 8 + struct.unpack("<Q", start[:8])[0] if len(start) >= 8 else 0
    if len(start) < length <= min(8 + LARGEST_HEADER, size):
        start = client.read(url, size, over, last=length - 1)
    with path.open("wb") as file:
        file.write(start[: max(8, length)])
        file.truncate(size)


def check_memory(name: HubName, needed: int) -> None:
    """Refuse a model that does not fit the memory that is free."""
    if needed > (free := free_memory()):
        raise CheckpointError(
            f"{printable(name.repo)} needs about {gigabytes(needed)} of memory, and {gigabytes(free)} are free: choose "
            "a smaller model, or close what else takes memory."
        )


def check_disk(name: HubName, files: tuple[HubFile, ...], copied: int) -> None:
    """Refuse a download that does not fit the disk. ``copied``: bytes that are written a second time, transposed."""
    needed = sum(file.size for file in files) - disk.present_bytes(name, files) + copied
    if needed + SPARE_DISK > (free := shutil.disk_usage(disk.existing_folder()).free):
        raise CheckpointError(
            f"{printable(name.repo)} takes {gigabytes(needed)} of the disk, and {gigabytes(free)} are free: make room "
            "there, or delete a downloaded model."
        )
