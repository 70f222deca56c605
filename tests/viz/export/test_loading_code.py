"""How scripts load their model: a name stays a name, a commit of the hub a revision, a folder is looked for first."""

import ast
from pathlib import Path

import pytest

from viz.export.loading_code import loading_code, loading_import

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("sentiment", "checkpoint = load_checkpoint('sentiment')"),
        (f"org/name@{COMMIT}", f"checkpoint = load_checkpoint('org/name', revision='{COMMIT}')"),
        ("mine@home", "checkpoint = load_checkpoint('mine@home')"),
    ],
)
def test_a_name_is_loaded_by_itself_and_a_commit_as_a_revision(source, code):
    assert loading_code(source) == code
    assert loading_import(source) == ""


@pytest.mark.parametrize("name", ["mine", "a 'quoted' {name}", "back\\slash", "two\nlines"])
def test_a_folder_that_is_not_there_is_one_sentence(name, tmp_path):
    folder = tmp_path / name
    code = loading_import(folder) + loading_code(folder)
    ast.parse(code)
    with pytest.raises(SystemExit) as left:
        exec(code, {"load_checkpoint": pytest.fail})
    assert str(left.value).startswith(f"There is no folder {folder}: put the model's files there")


def test_a_folder_that_is_there_is_loaded(tmp_path):
    names: dict[str, object] = {"load_checkpoint": lambda folder: folder}
    exec(loading_import(tmp_path) + loading_code(tmp_path), names)
    assert names["checkpoint"] == Path(tmp_path)
