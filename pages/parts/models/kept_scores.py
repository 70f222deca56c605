"""The scores of heads beside a checkpoint, read again only where their file has changed."""

from functools import lru_cache
from pathlib import Path

from model.measures.head_scores.score_file import FILE, HeadScores, read_head_scores


def kept_scores(folder: Path, file: str = FILE) -> HeadScores | None:
    """What ``read_head_scores`` gives; nobody may change it. None where there is no such file.

    CheckpointError for a file of another kind.
    """
    try:
        state = (folder / file).stat()
    except OSError:
        return None
    return read_once(folder, file, (state.st_mtime_ns, state.st_size))


@lru_cache(maxsize=16)
def read_once(folder: Path, file: str, _state: tuple[int, int]) -> HeadScores | None:
    """The same for one state of the file: when it was written, and its size."""
    return read_head_scores(folder, file)
