"""Spoils configs, headers and tokenizers of small checkpoints and counts what loading makes of them.

    python -m benchmarks.fuzz --configs 100000 --headers 1000000 --tokenizers 100000

Every case must load or be refused by a CheckpointError of one printable line of at most 300 characters; what is neither
is printed with its seed, and the command fails. The checkpoints are tiny and of random weights: one of our own kind,
and one of every family, saved by ``transformers``. The tests run the same cases, fewer of them.
"""

import argparse
import json
import random
import struct
import tempfile
import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tqdm import tqdm

from model import CheckpointError, InputError
from model.loading import checkpoint_files, headers
from model.loading.foreign_tokenizers import read_library_tokenizer

NASTY: list[Any] = [
    None, True, False, -1, 0, 1, 2, 16, 256, 1_000_000, 2.5, 1e308, 10**30, 1e-30, "", "pre", "decoder", "relu",
    "gelu_new", "\ud800", [], ["a", "b"], [1, 2], {}, {"a": 1}, [[[]]],
]  # fmt: skip


@dataclass
class Outcomes:
    """How many cases loaded and how many were refused, the slowest, and those that did neither."""

    loaded: int = 0
    refused: int = 0
    slowest: float = 0.0
    escaped: list[str] = field(default_factory=list)

    def add(self, name: str, load: Callable[[], object]) -> None:
        """Run one case."""
        start = time.perf_counter()
        try:
            load()
            self.loaded += 1
        except (CheckpointError, InputError) as error:
            self.refused += 1
            if not (str(error).isprintable() and 0 < len(str(error)) <= 300 and error.__cause__ is None):
                self.escaped.append(f"{name}: refused as {str(error)!r}")
        except Exception as error:  # noqa: BLE001 -- to find those is what this is for
            self.escaped.append(f"{name}: {type(error).__name__}: {error}")
        self.slowest = max(self.slowest, time.perf_counter() - start)


def spoilt_config(sound: dict[str, Any], chance: random.Random) -> bytes:
    """The sound config with a few fields changed, gone or added, some inside others, and sometimes a byte too."""
    values = json.loads(json.dumps(sound))
    for _ in range(chance.randint(1, 3)):
        inside = [value for value in values.values() if isinstance(value, dict) and value]
        target = chance.choice(inside) if inside and chance.random() < 0.2 else values
        name = chance.choice([*target, "surplus"])
        if chance.random() < 0.3:
            target.pop(name, None)
        else:
            values_to_try = [*NASTY, *(value for value in sound.values() if not isinstance(value, dict))]
            target[name] = deepcopy(chance.choice(values_to_try))  # or a later change would be one of the list, too
    content = json.dumps(values).encode()
    return flipped(content, len(content), chance) if chance.random() < 0.3 else content


def flipped(content: bytes, before: int, chance: random.Random) -> bytes:
    """The content with some of its first bytes changed."""
    changed = bytearray(content)
    for _ in range(chance.randint(1, 3)):
        changed[chance.randrange(before)] = chance.randrange(256)
    return bytes(changed)


def fuzz_configs(folders: list[Path], cases: range) -> Outcomes:
    """Spoil the configs of these folders in turn; the folders end as they were."""
    outcomes, sound = Outcomes(), {folder: (folder / checkpoint_files.CONFIG).read_bytes() for folder in folders}
    for seed, folder in numbered(folders, cases):
        (folder / checkpoint_files.CONFIG).write_bytes(spoilt_config(json.loads(sound[folder]), random.Random(seed)))
        outcomes.add(f"{folder.name}, config, seed {seed}", lambda: read(folder))  # noqa: B023 -- called at once
    for folder, content in sound.items():
        (folder / checkpoint_files.CONFIG).write_bytes(content)
    return outcomes


def fuzz_headers(folders: list[Path], cases: range) -> Outcomes:
    """Change bytes in the headers of these folders' weights in turn; the folders end as they were."""
    outcomes, sound = Outcomes(), {folder: (folder / headers.WEIGHTS).read_bytes() for folder in folders}
    for seed, folder in numbered(folders, cases):
        chance, content = random.Random(seed), sound[folder]
        end = 8 + struct.unpack("<Q", content[:8])[0]
        overwrite(folder / headers.WEIGHTS, flipped(content[:end], chance.choice([8, end, end]), chance))
        outcomes.add(f"{folder.name}, header, seed {seed}", lambda: read(folder))  # noqa: B023 -- called at once
        overwrite(folder / headers.WEIGHTS, content[:end])
    return outcomes


def spoilt_tokenizer(sound: bytes, chance: random.Random) -> bytes:
    """A sound tokenizer.json with a few of its values changed, gone, added or nested, and sometimes a byte too."""
    values = json.loads(sound)
    for _ in range(chance.randint(1, 3)):
        places = list(containers(values))
        target = chance.choice([place for place in places if place] or [values])
        names = list(target) if isinstance(target, dict) else list(range(len(target)))
        name, other = chance.choice(names), chance.choice(places)
        change = json.loads(json.dumps(chance.choice([*NASTY, 2**31, 2**32 - 1, "a" * 5000, other])))  # its own copy
        if chance.random() < 0.2:
            del target[name]
        else:
            target[name] = {"type": "Sequence", "normalizers": [change]} if chance.random() < 0.1 else change
    content = json.dumps(values).encode()
    return flipped(content, len(content), chance) if chance.random() < 0.1 else content


def containers(value: Any) -> Iterator[Any]:
    """The objects and lists of a JSON value, itself first; of a long one's atoms none."""
    if isinstance(value, dict | list):
        yield value
        for inside in value.values() if isinstance(value, dict) else value:
            yield from containers(inside)


def fuzz_tokenizers(sound: list[bytes], cases: range) -> Outcomes:
    """Spoil these tokenizer.json files in turn; those that load cut a text and read ids, too."""
    outcomes = Outcomes()
    for seed in tqdm(cases, unit="case", leave=False, disable=None):
        content = spoilt_tokenizer(sound[seed % len(sound)], random.Random(seed))
        outcomes.add(f"tokenizer, seed {seed}", lambda: use_tokenizer(content))  # noqa: B023 -- called at once
    return outcomes


def use_tokenizer(content: bytes) -> object:
    """What pages do with a tokenizer."""
    tokenizer = read_library_tokenizer(content, 1000)
    encoding = tokenizer.encode("The dog bit the man, 7 times: é 狗 😀.")
    return tokenizer.decode(encoding.ids), tokenizer.pieces(encoding.ids), tokenizer.encode("the dog", "a cat")


def overwrite(path: Path, content: bytes) -> None:
    """Change the beginning of a file where it lies, which is far faster than to write it anew."""
    with path.open("r+b") as file:
        file.write(content)


def numbered(folders: list[Path], cases: range) -> Iterator[tuple[int, Path]]:
    """The seed of every case and its folder."""
    return ((seed, folders[seed % len(folders)]) for seed in tqdm(cases, unit="case", leave=False, disable=None))


def read(folder: Path) -> object:
    """What loading does with a config and its weights."""
    return checkpoint_files.read_model(folder, checkpoint_files.read_config(folder))


def sound_tokenizers(folders: list[Path]) -> list[bytes]:
    """The tiny tokenizer of the folders and the bundled ones, without most of their words: small files are fast."""
    paths = [folders[0] / checkpoint_files.TOKENIZER, checkpoint_files.BUNDLED / "stories" / checkpoint_files.TOKENIZER]
    return [shortened(json.loads(path.read_bytes())) for path in paths]


def shortened(values: dict[str, Any]) -> bytes:
    """A tokenizer.json with a few hundred tokens, and no merges of those that are gone."""
    kept = dict(sorted(values["model"]["vocab"].items(), key=lambda item: item[1])[:300])
    values["model"]["vocab"] = kept
    if merges := values["model"].get("merges"):
        values["model"]["merges"] = [pair for pair in merges if {*pair, "".join(pair)} <= set(kept)]
    return json.dumps(values).encode()


def main() -> None:
    """Run the cases and print what came of them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description="Load spoilt checkpoints.")
    parser.add_argument("--configs", type=int, default=100_000, help="spoilt configs (100000)")
    parser.add_argument("--headers", type=int, default=1_000_000, help="spoilt headers (1000000)")
    parser.add_argument("--tokenizers", type=int, default=100_000, help="spoilt tokenizers (100000)")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first case of each kind (0)")
    options = parser.parse_args()

    def cases(number: int) -> range:
        return range(options.seed, options.seed + number)

    from tests.folders import make_folders  # the tests' own small checkpoints, which need transformers

    with tempfile.TemporaryDirectory() as root:
        folders = make_folders(Path(root))
        for name, outcomes in (
            ("configs", fuzz_configs(folders, cases(options.configs))),
            ("headers", fuzz_headers(folders, cases(options.headers))),
            ("tokenizers", fuzz_tokenizers(sound_tokenizers(folders), cases(options.tokenizers))),
        ):
            print(
                f"{name}: {outcomes.loaded:,} loaded, {outcomes.refused:,} refused, {len(outcomes.escaped)} escaped; "
                f"slowest {outcomes.slowest:.2f} s"
            )
            print("\n".join(outcomes.escaped[:20]))
            if outcomes.escaped:
                raise SystemExit(1)


if __name__ == "__main__":
    main()
