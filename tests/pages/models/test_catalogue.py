"""What checkpoints are called."""

import time
from concurrent.futures import ThreadPoolExecutor

from pages.parts.models import catalogue
from pages.parts.models.catalogue import label_of, labels_of, open_folder
from pages.parts.models.watched_moments import moment_label

ONE, OTHER = f"gpt2@{'1' * 40}", f"gpt2@{'2' * 40}"


def test_a_model_of_the_hub_is_called_without_its_commit():
    assert [label_of(name) for name in ("sentiment", ONE, f"org/name@{'a' * 40}", "mine@home")] == [
        "sentiment",
        "gpt2",
        "org/name",
        "mine@home",
    ]


def test_two_of_one_name_are_told_apart_by_their_commits():
    assert labels_of([ONE, "sentiment"]) == ["gpt2", "sentiment"]
    assert labels_of([ONE, OTHER, "gpt2"]) == ["gpt2 @ 1111111", "gpt2 @ 2222222", "gpt2"]


def test_a_folder_that_several_open_at_once_has_one_name(monkeypatch, tmp_path):
    folders = dict[str, object]()
    monkeypatch.setattr(catalogue, "opened", lambda: folders)

    def slow_name(name_wished: str) -> str:
        time.sleep(0.05)
        return name_wished if name_wished not in folders else f"{name_wished}-{len(folders) + 1}"

    monkeypatch.setattr(catalogue, "free_name", slow_name)
    with ThreadPoolExecutor(4) as visitors:
        assert set(visitors.map(open_folder, [tmp_path] * 4)) == {tmp_path.name}
    assert list(folders) == [tmp_path.name]


def test_a_moment_of_a_training_is_labelled_by_its_step_and_shortly():
    assert moment_label("induction-two-layers.256") == "induction-two-layers, step 256"
    assert moment_label("induction-0123456789abcdef.1000") == "induction-01234567, step 1,000"
