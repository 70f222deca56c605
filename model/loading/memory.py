"""How much memory a model needs, and how much is free: to the machine, and to the control group that we run in."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from model.config import Config
from model.tracing.limits import longest_trace, trace_bytes

USUAL_TEXT = 128  # tokens
PROCESS, GROUPS = Path("/proc"), Path("/sys/fs/cgroup")


def memory_needed(config: Config, weight_bytes: int) -> int:
    """About how many bytes a loaded model takes while it computes the trace of a text of 128 tokens."""
    return weight_bytes + trace_bytes(config, min(USUAL_TEXT, longest_trace(config)))


def free_memory(process: Path = PROCESS, groups: Path = GROUPS) -> int:
    """How many bytes can still be used: what the machine has available, or less where a control group allows less."""
    return max(0, min([machine_memory(process), *group_memory(process, groups)]))


def all_memory(process: Path = PROCESS, groups: Path = GROUPS) -> int:
    """How many bytes there are, used or not: the machine's, or less where a control group allows less."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 1 << 62
    limits = [pages]
    for folder in group_folders(process, groups):
        for name in ("memory.max", "memory.limit_in_bytes"):
            with contextlib.suppress(OSError, ValueError):  # it is not there, or there is no limit: "max"
                limits.append(int((folder / name).read_text()))
    return min(limits)


def machine_memory(process: Path) -> int:
    """What Linux counts as available, in bytes; elsewhere all of the memory, for no call says what is free."""
    with contextlib.suppress(OSError, KeyError):
        return figures(process / "meminfo")["MemAvailable"] * 1024
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 1 << 62


def group_memory(process: Path, groups: Path) -> Iterator[int]:
    """What is left in bytes to each of our control groups that has a limit; file pages that may go count as free."""
    for folder in group_folders(process, groups):
        for limit, current, dropped in (
            ("memory.max", "memory.current", "inactive_file"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        ):
            with contextlib.suppress(OSError, ValueError):  # it is not there, or its limit is "max"
                allowed = int((folder / limit).read_text())
                used = int((folder / current).read_text())
                yield allowed - used + figures(folder / "memory.stat").get(dropped, 0)


def group_folders(process: Path, groups: Path) -> list[Path]:
    """The folders of our control groups of memory and of all above them, versions 1 and 2."""
    try:
        lines = (process / "self" / "cgroup").read_text().splitlines()
    except OSError:
        return []
    folders = []
    for _, controllers, path in (line.split(":", 2) for line in lines if line.count(":") >= 2):
        if controllers and "memory" not in controllers.split(","):
            continue
        top = groups / "memory" if controllers else groups
        own = top / path.lstrip("/")
        # In a container the path may be the host's, and its own group lies at the top.
        folders += [folder for folder in (own, *own.parents) if folder == top or top in folder.parents]
    return folders


def figures(file: Path) -> dict[str, int]:
    """The numbers in a file of lines such as "MemAvailable: 1024 kB" or "inactive_file 4096"."""
    rows = (line.replace(":", " ").split() for line in file.read_text().splitlines())
    return {row[0]: int(row[1]) for row in rows if len(row) > 1 and row[1].isdigit()}


def gigabytes(count: int) -> str:
    """A number of bytes as a sentence has it: "0.7 GB", "12 MB"."""
    return f"{count / 1e9:.1f} GB" if count >= 100_000_000 else f"{max(1, round(count / 1e6))} MB"
