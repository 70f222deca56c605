"""The files of one checkpoint as somebody uploads them, or one zip of them: checked before they are written.

What is not called as a checkpoint's files are is left out. Nothing in a zip is unpacked before all its members have
been looked at, and of each no more than it declares.
"""

import hashlib
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from pathlib import PurePosixPath
from typing import NoReturn

from model import CheckpointError
from model.errors import printable
from model.loading.attention_arrays import names_attention
from model.loading.checkpoint_files import CARD, CONFIG, TOKENIZER
from model.loading.foreign_tokenizers import MARIAN_FILES
from model.loading.headers import INDEX, WEIGHTS

LARGEST_UPLOAD = 32_000_000  # bytes, of all files together
MOST_MEMBERS = 20  # of a zip, folders among them
LARGEST_DIRECTORY = 1 << 14  # bytes of a zip's own list of its members
MOST_FILES = 20
KNOWN = (CONFIG, WEIGHTS, INDEX, TOKENIZER, CARD, *MARIAN_FILES)
SHARD = re.compile(r"model-\d{5}-of-\d{5}\.safetensors", re.ASCII)
APPLE = "__MACOSX/"  # what one maker of zips adds beside the files
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
END, END_BYTES, LOCATOR = b"PK\5\6", 22, b"PK\6\7"
PIECE = 1 << 20  # bytes that are unpacked at a time
NAME_LETTERS, LONGEST_NAME, DIGITS = re.compile(r"[^A-Za-z0-9._-]+"), 40, 8
PICKLED = (".bin", ".pt", ".pth", ".ckpt")
TOGETHER = f"Choose {CONFIG}, {WEIGHTS} and {TOKENIZER} all at once, or a zip of them."
REMEDY = "zip the files themselves, as config.json, model.safetensors and tokenizer.json"
Files = Mapping[str, bytes]


class ArraysError(CheckpointError):
    """The upload is attention that another program saved, and no model."""


def refuse(why: str) -> NoReturn:
    """CheckpointError, one sentence."""
    raise CheckpointError(why) from None


def apart(uploaded: Iterable[tuple[str, bytes]]) -> list[list[tuple[str, bytes]]]:
    """What was uploaded, by checkpoint: each zip is one, and all other files together are one."""
    given = list(uploaded)
    files = [one for one in given if not is_zip(one[0])]
    return [*([files] if files else []), *([one] for one in given if is_zip(one[0]))]


def is_zip(name: str) -> bool:
    """Whether a file is called as a zip is."""
    return name.lower().endswith(".zip")


def checkpoint_files(uploaded: Iterable[tuple[str, bytes]]) -> tuple[str, Files]:
    """The checkpoint in a zip, or in files: a name for it, and its files by their names.

    The name ends with digits of what the files hold, so that no two checkpoints share one. Raises CheckpointError.
    """
    given = list(uploaded)
    check_no_arrays(given)
    if sum(len(content) for _, content in given) > LARGEST_UPLOAD or len(given) > MOST_FILES:
        refuse(
            f"An upload has at most {MOST_FILES} files of {megabytes(LARGEST_UPLOAD)} together: a larger model can be "
            "opened from Hugging Face."
        )
    zipped = next((name for name, _ in given if is_zip(name)), "")
    files = unpacked(*given[0]) if zipped else known_files(given)
    check_complete(files, [name for name, _ in given])
    return called(zipped, files), files


def check_no_arrays(given: Sequence[tuple[str, bytes]]) -> None:
    """ArraysError for an NPZ file, and for a safetensors file of attention weights that comes without a config."""
    has_config = any(name == CONFIG for name, _ in given)
    for name, content in given:
        if name.lower().endswith(".npz") or (not has_config and names_attention(content)):
            raise ArraysError(
                f"{printable(name, 40)} holds arrays and no model: attention that is saved in it opens on the page "
                "Your arrays."
            )


def known_files(given: Iterable[tuple[str, bytes]]) -> Files:
    """Those that are called as a checkpoint's files are."""
    files: dict[str, bytes] = {}
    for name, content in given:
        if is_known(name):
            if name in files:
                refuse(f"{name} was given twice: upload the files of one checkpoint.")
            files[name] = content
    return files


def is_known(name: str) -> bool:
    """Whether a checkpoint's file is called so."""
    return name in KNOWN or SHARD.fullmatch(name) is not None


def check_complete(files: Files, given: Sequence[str]) -> None:
    """Refuse what lacks its config or its weights."""
    has_weights = any(name.endswith(".safetensors") for name in files)
    pickled = next((name for name in given if name.lower().endswith(PICKLED)), None)
    if pickled is not None and not has_weights:
        refuse(f"{printable(pickled, 40)} is pickled and is not opened: save the weights as safetensors. {TOGETHER}")
    if not files:
        refuse(f"{printable(PurePosixPath(given[0]).name, 40)} holds no file of a model. {TOGETHER}")
    for name, is_there in ((CONFIG, CONFIG in files), (WEIGHTS, has_weights)):
        if not is_there:
            refuse(f"The upload has no {name}. {TOGETHER}")


def called(file: str, files: Files) -> str:
    """ "my-model-1a2b3c4d": what the file was called, and digits of what the files hold."""
    digits = hashlib.sha256()
    for name in sorted(files):
        digits.update(f"{name} {len(files[name])}\n".encode())
        digits.update(files[name])
    stem = NAME_LETTERS.sub("-", PurePosixPath(file).stem)[:LONGEST_NAME].strip("-.") or "upload"
    return f"{stem}-{digits.hexdigest()[:DIGITS]}"


def unpacked(name: str, content: bytes) -> Files:
    """The known files of a zip. CheckpointError for one that is no zip, or holds what no checkpoint needs."""
    label = printable(PurePosixPath(name).name, 40)
    check_directory(label, content)
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            members = members_of_model(label, archive.infolist())
            return {PurePosixPath(member.filename).name: read(archive, member, label) for member in members}
    except CheckpointError:  # a ValueError too, and said already
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError, struct.error):
        refuse(f"{label} is damaged or no zip: {REMEDY}.")


def check_directory(label: str, content: bytes) -> None:
    """Refuse a zip whose list of members is long, before it is read; a zip ends with that list's length."""
    end = content[-END_BYTES:]
    if len(end) < END_BYTES or not end.startswith(END):
        refuse(f"{label} is damaged or no plain zip: {REMEDY}.")
    members, length = struct.unpack("<H", end[10:12])[0], struct.unpack("<L", end[12:16])[0]
    if content[-END_BYTES - 20 :].startswith(LOCATOR) or members > MOST_MEMBERS or length > LARGEST_DIRECTORY:
        refuse(f"{label} has too many members, at most {MOST_MEMBERS} are read: {REMEDY}.")


def members_of_model(label: str, members: list[zipfile.ZipInfo]) -> list[zipfile.ZipInfo]:
    """The known files among the members, once none of all is refused."""
    if len(members) > MOST_MEMBERS:
        refuse(f"{label} has {len(members):,} members, and at most {MOST_MEMBERS} are read: {REMEDY}.")
    own = [member for member in members if not member.filename.startswith(APPLE)]
    for member in own:
        check_member(label, member)
    files = [member for member in own if not member.is_dir()]
    if len({PurePosixPath(member.filename).parent for member in files}) > 1:
        refuse(f"{label} has files in several folders: {REMEDY}, all in one.")
    if sum(member.file_size for member in own) > LARGEST_UPLOAD:
        refuse(f"{label} unpacks to more than {megabytes(LARGEST_UPLOAD)}: a larger model can be opened from the hub.")
    model_files = [member for member in files if is_known(PurePosixPath(member.filename).name)]
    if len({member.filename for member in model_files}) < len(model_files):
        refuse(f"{label} has a file twice: {REMEDY}, each once.")
    return model_files


def check_member(label: str, member: zipfile.ZipInfo) -> None:
    """Refuse a member that is no plain file or folder, at the top or in one folder."""
    name, kind = member.orig_filename, stat.S_IFMT(member.external_attr >> 16)
    parts = name.rstrip("/").split("/")
    if name.startswith("/") or {"", ".", ".."} & set(parts) or "\\" in name or ":" in name or "\0" in name:
        refuse(f"{label} has a member whose name leads out of its folder: {REMEDY}.")
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        refuse(f"{label} has a link or another member that is no file: {REMEDY}.")
    if len(parts) > 2 or (len(parts) == 2 and member.is_dir()):
        refuse(f"{label} has folders within folders: {REMEDY}, all at the top or in one folder.")
    if name.lower().endswith(".zip"):
        refuse(f"{label} has a zip in it: {REMEDY}.")
    if member.flag_bits & 1:
        refuse(f"{label} is encrypted: {REMEDY}, without a password.")
    if member.compress_type not in METHODS:
        refuse(f"{label} is compressed in a way that is not read: {REMEDY}, with the usual compression.")


def read(archive: zipfile.ZipFile, member: zipfile.ZipInfo, label: str) -> bytes:
    """A member's content, which may be no longer than it says."""
    content = bytearray()
    with archive.open(member) as opened:
        while part := opened.read(PIECE):
            content += part
            if len(content) > member.file_size:
                refuse(f"{label} holds more than it says: {REMEDY}.")
    return bytes(content)


def megabytes(count: int) -> str:
    """ "32 MB"."""
    return f"{count / 1e6:.0f} MB"
