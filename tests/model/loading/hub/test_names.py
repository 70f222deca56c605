"""Names on the hub: what can be one, and what can be none."""

import pytest
from huggingface_hub.utils._validators import validate_repo_id

from model.loading.hub import HubName, parse_hub_name

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("text", "repo", "revision"),
    [
        ("gpt2", "gpt2", None),
        ("Helsinki-NLP/opus-mt-en-de", "Helsinki-NLP/opus-mt-en-de", None),
        ("org/name@v1.0", "org/name", "v1.0"),
        ("org/name@refs/pr/3", "org/name", "refs/pr/3"),
        (f"gpt2@{COMMIT}", "gpt2", COMMIT),
    ],
)
def test_a_name_is_read_and_written_alike(text, repo, revision):
    name = parse_hub_name(text)
    assert name == HubName(repo, revision)
    assert str(name) == text
    assert name.is_pinned == (revision == COMMIT)


WRONG_IDS = [
    "",
    "a/b/c",
    "../gpt2",
    "/gpt2",
    "gpt2/",
    "a//b",
    "-a",
    "a.",
    "a--b",
    "a..b",
    "a.git",
    "gpt 2",
    "café",
    "a\n",
]


@pytest.mark.parametrize("text", [*WRONG_IDS, "~/gpt2", "./gpt2", "C:\\gpt2", "x" * 97])
def test_what_the_hub_could_not_have_is_no_name(text):
    with pytest.raises(ValueError, match="an id on the hub"):
        parse_hub_name(text)
    with pytest.raises(ValueError, match=r"."):  # nor does huggingface_hub take it
        validate_repo_id(text)


@pytest.mark.parametrize(
    "revision", ["", "..", "a/../b", "/a", "a/", "-a", ".a", "a b", "a.lock", "x" * 101, "a@b", "é"]
)
def test_what_git_or_a_folder_could_not_have_is_no_revision(revision):
    with pytest.raises(ValueError, match="a revision is"):
        parse_hub_name(f"gpt2@{revision}")
