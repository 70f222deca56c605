"""The names of models on the hub: "gpt2", "org/name", "org/name@revision"."""

import re
from dataclasses import dataclass

# As huggingface_hub's own check of ids has it, and what git allows of a branch's or a tag's name and people use.
PART = r"\w(?:[\w.-]{0,94}\w)?"
REPO = re.compile(rf"(?:{PART}/)?{PART}", re.ASCII)
REVISION = re.compile(r"\w[\w.+-]*(?:/\w[\w.+-]*){0,5}", re.ASCII)
COMMIT = re.compile(r"[0-9a-f]{40}")
LONGEST_REVISION = 100
MAIN = "main"


@dataclass(frozen=True)
class HubName:
    """A model's id, and the branch, tag or commit that is meant; None: its main branch.

    Raises ValueError where the hub could have no such name.
    """

    repo: str
    revision: str | None = None

    def __post_init__(self) -> None:
        if not REPO.fullmatch(self.repo) or "--" in self.repo or ".." in self.repo or self.repo.endswith(".git"):
            raise ValueError("an id on the hub reads name or owner/name")
        if self.revision is not None and not is_revision(self.revision):
            raise ValueError("a revision is a branch, a tag or a commit")

    def __str__(self) -> str:
        return self.repo if self.revision is None else f"{self.repo}@{self.revision}"

    @property
    def is_pinned(self) -> bool:
        """Whether it names a commit, which never changes."""
        return self.revision is not None and COMMIT.fullmatch(self.revision) is not None


def is_revision(text: str) -> bool:
    """Whether git could have a branch, a tag or a commit of this name, and a folder a file."""
    wrong = ".." in text or text.endswith((".", ".lock")) or len(text) > LONGEST_REVISION
    return REVISION.fullmatch(text) is not None and not wrong


def parse_hub_name(text: str) -> HubName:
    """ "gpt2", "org/name" or "org/name@revision" as a name; ValueError where it cannot be an id."""
    repo, separator, revision = text.partition("@")
    return HubName(repo, revision if separator else None)
