"""Checkpoints on disk: config.json, model.safetensors, tokenizer.json, card.json. Nothing in them is ever executed.

Reading is bounded and goes from the cheap to the dear: the config's types and ranges, the header of the weights, their
names and shapes, then the numbers themselves. Every refusal is a CheckpointError of one line, "file: field: found …,
expected …".
"""

import fnmatch
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from model import families
from model.config import Config, expect
from model.errors import CheckpointError, printable
from model.loading import weights
from model.loading.bounded_files import LARGEST_JSON, read_bytes, refuse, strict_json
from model.loading.foreign_tokenizers import (
    MARIAN_FILES,
    TARGET_VOCABULARY,
    read_library_tokenizer,
    read_marian_tokenizer,
)
from model.loading.headers import INDEX, WEIGHTS, Stored, read_headers
from model.tokenizer import NoTokenizer, Tokenizer
from model.transformer import Transformer

CONFIG, TOKENIZER, CARD = "config.json", "tokenizer.json", "card.json"
BUNDLED = Path(__file__).resolve().parents[2] / "checkpoints"
BUNDLED_NAMES = ("sentiment", "translate-en-fr", "stories")
LARGEST_TOKENIZER = 64 << 20
# How PyTorch's pickled weights are called, the usual name first; what a training leaves beside them is called so too.
PICKLED = ("pytorch_model.bin", "pytorch_model.bin.index.json", "*.bin", "*.pt", "*.pth")
NO_WEIGHTS = ("training_args.bin", "optimizer.bin", "optimizer.pt", "scheduler.bin", "scheduler.pt")
CLASS_NAME = re.compile(r"[A-Za-z]\w{0,35}", re.ASCII)


def read_card(folder: Path) -> dict[str, Any]:
    """The card, or an empty one where there is none."""
    return strict_json(read_bytes(folder, CARD, LARGEST_JSON), CARD) if (folder / CARD).exists() else {}


def read_tokenizer(folder: Path, config: Config, *, foreign: bool = False) -> Tokenizer:
    """The tokenizer, none of whose ids may lie outside the model's vocabulary; of a process of its own unless bundled.

    A checkpoint from elsewhere may have none that can be read: its ids can still be traced.
    """
    if foreign and not (folder / TOKENIZER).exists():
        return read_other_tokenizer(folder, config)
    content = read_bytes(folder, TOKENIZER, LARGEST_TOKENIZER)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        refuse(TOKENIZER, "text", "something else", "UTF-8")
    if not is_bundled(folder):
        return read_library_tokenizer(content, config.vocabulary)
    tokenizer = Tokenizer.from_json(text)
    if tokenizer.size > config.vocabulary:
        refuse(TOKENIZER, "vocabulary", f"{tokenizer.size:,} ids", f"at most {config.vocabulary:,}")
    return tokenizer


def has_tokenizer(folder: Path) -> bool:
    """Whether there are files that ``read_tokenizer`` reads, whatever is in them."""
    return (folder / TOKENIZER).exists() or (folder / MARIAN_FILES[0]).exists()


def is_bundled(folder: Path) -> bool:
    """Whether it is one of the three folders that came with this program; others may have been put beside them."""
    return folder.resolve() in {BUNDLED / name for name in BUNDLED_NAMES}


def read_other_tokenizer(folder: Path, config: Config) -> Tokenizer:
    """Marian's tokenizer, in files of its own; where there are none, what says so once text is typed."""
    source, target, vocabulary = MARIAN_FILES
    if not (folder / source).exists():
        remedy = "save the tokenizer in its fast form beside the weights, or trace ids"
        return NoTokenizer(f"{printable(folder.name)} has no {TOKENIZER}, so no text can be read: {remedy}.")
    if (folder / TARGET_VOCABULARY).exists():
        return NoTokenizer(
            f"{TARGET_VOCABULARY} is not read: its ids mean other pieces than those of the source. Trace ids."
        )
    contents = (read_bytes(folder, file, LARGEST_TOKENIZER) for file in (source, target, vocabulary))
    return read_marian_tokenizer(*contents, vocabulary=config.vocabulary)


def read_config(folder: Path) -> dict[str, Any]:
    """The fields of the config, not validated yet."""
    return strict_json(read_bytes(folder, CONFIG, LARGEST_JSON), CONFIG)


@dataclass(frozen=True)
class Outline:
    """What a checkpoint is, checked before a number of it is read.

    model: without memory. sources: for each of its parameters the stored tensor. copies: stored tensors that must be
    others again.
    """

    family: families.Family
    model: Transformer
    stored: Mapping[str, Stored]
    sources: Mapping[str, families.Source]
    copies: Mapping[str, str]


def read_model(folder: Path, values: dict[str, Any]) -> Transformer:
    """The model with its weights, on the CPU; made without memory until config and header have been checked."""
    outline = read_outline(folder, values)
    return weights.load(outline.model, outline.sources, outline.stored, outline.copies)


def read_outline(folder: Path, values: dict[str, Any]) -> Outline:
    """What the config and the headers say of a checkpoint."""
    family, stored, config = read_parts(folder, values)
    try:
        # Each layer stores tensors of its own; said here, a false count costs no time in building what is not there.
        layers = max(config.layers, config.decoder_layers or 0)
        expect(layers <= len(stored), "layers", layers, f"no more than the {len(stored)} stored tensors")
        with torch.device("meta"):
            model = Transformer(config)
    except ValueError as error:
        raise CheckpointError(f"{CONFIG}: {error}.") from None
    sources = family.sources(list(model.state_dict()), config, list(stored), WEIGHTS)
    return Outline(family, model, stored, sources, family.copied(sources, list(stored)))


def read_parts(folder: Path, values: dict[str, Any]) -> tuple[families.Family, dict[str, Stored], Config]:
    """The family that a config belongs to, the headers of the stored tensors, and the config as ours."""
    family = families.family_of(values)
    refuse_pickled(folder, values)
    stored = read_headers(folder)
    try:
        return family, stored, family.config(families.Fields(values), frozenset(map(family.bare, stored)))
    except ValueError as error:
        raise CheckpointError(f"{CONFIG}: {error}.") from None


def refuse_pickled(folder: Path, values: dict[str, Any]) -> None:
    """CheckpointError where a folder's weights are pickled alone; their names tell, and none of them is opened."""
    if any((folder / name).exists() for name in (WEIGHTS, INDEX)):
        return
    present = sorted(path.name for path in folder.glob("*") if path.name not in NO_WEIGHTS)
    pickled = [name for pattern in PICKLED for name in fnmatch.filter(present, pattern)]
    if pickled:
        why = "Headlight opens no pickled file, because loading one can run code"
        raise CheckpointError(f"{printable(pickled[0], 40)}: {why}; {conversion(values)}.")


def conversion(values: dict[str, Any], repo: str | None = None) -> str:
    """How pickled weights become safetensors; with the class that the config names, for another may drop the head.

    repo: where they lie on the hub; None: in a folder.
    """
    if not families.is_foreign(values):
        return f"where you trust it, convert it to {WEIGHTS}"
    named = values.get("architectures")
    kind = named[0] if isinstance(named, list) and len(named) == 1 else None
    if not isinstance(kind, str) or not CLASS_NAME.fullmatch(kind):
        return "where you trust it, load it with transformers, whose save_pretrained writes safetensors"
    source, target = (repo, repo.rpartition("/")[2]) if repo else (".", ".")
    command = f"from transformers import {kind} as M; M.from_pretrained('{source}').save_pretrained('{target}')"
    where = "run" if repo else "run in its folder:"
    return f'where you trust it, {where} python -c "{command}", which writes safetensors'


def save_checkpoint(
    folder: Path, model: Transformer, tokenizer: Tokenizer, card: dict[str, Any], dtype: torch.dtype = torch.float16
) -> None:
    """Write a checkpoint that ``load_checkpoint`` reads; weights in half precision unless told otherwise.

    Raises ValueError where half precision cannot hold a weight.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: parameter.detach().cpu().to(dtype).contiguous() for name, parameter in model.named_parameters()}
    for name, tensor in tensors.items():
        if not tensor.isfinite().all():
            raise ValueError(f"{name}: a weight is not finite in {dtype}")
    save_file(tensors, folder / WEIGHTS)
    tokenizer.save(folder / TOKENIZER)
    (folder / CONFIG).write_text(json.dumps(model.config.to_json(), indent=2) + "\n", encoding="utf-8")
    (folder / CARD).write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
