"""What checkpoints are called on the screen."""

from pages.parts.models.catalogue import label_of, labels_of

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
