"""What may be uploaded: the files of one checkpoint or one zip of them, and a sentence for everything else."""

import io
import stat
import zipfile

import numpy as np
import pytest
from safetensors.numpy import save

from model import CheckpointError
from pages.parts.models import uploaded_files
from pages.parts.models.uploaded_files import LARGEST_UPLOAD, MOST_MEMBERS, ArraysError, apart, checkpoint_files

FILES = {"config.json": b"{}", "model.safetensors": b"weights", "tokenizer.json": b"[]"}


def zipped(files=FILES, method=zipfile.ZIP_DEFLATED, folder="", comment=b""):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as archive:
        archive.comment = comment
        for name, data in files.items():
            archive.writestr(folder + name, data)
    return content.getvalue()


def with_member(name, data=b"x", mode=0):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for member_name, member_data in FILES.items():
            archive.writestr(member_name, member_data)
        member = zipfile.ZipInfo(name)
        member.external_attr = mode << 16
        archive.writestr(member, data)
    return content.getvalue()


def refusal(*given):
    with pytest.raises(CheckpointError) as refused:
        checkpoint_files(given)
    sentence = str(refused.value)
    assert len(sentence) <= 300
    assert "\n" not in sentence
    return sentence


def test_files_and_a_zip_of_them_at_the_top_or_in_one_folder_are_the_same_checkpoint():
    loose, kept = checkpoint_files(FILES.items())
    assert dict(kept) == FILES
    for folder in ("", "mine/"):
        name, files = checkpoint_files([("My model.zip", zipped(folder=folder))])
        assert dict(files) == FILES
        assert name == f"My-model-{loose.rpartition('-')[2]}", "the digits are of what the files hold"


def test_other_content_has_another_name():
    names = {checkpoint_files((FILES | {"config.json": content}).items())[0] for content in (b"{}", b"{ }")}
    assert len(names) == 2


def test_each_zip_is_a_checkpoint_and_all_other_files_are_one():
    first, second = ("a.zip", zipped()), ("B.ZIP", zipped(folder="b/"))
    files = list(FILES.items())
    assert apart([files[0], first, *files[1:], second]) == [files, [first], [second]]
    assert apart([second]) == [[second]]
    assert apart([]) == []


def test_what_is_not_called_as_a_file_of_a_checkpoint_is_left_out():
    extra = {"README.md": b"read", "modeling.py": b"code", "__MACOSX/._config.json": b"x"}
    assert dict(checkpoint_files([("a.zip", zipped(FILES | extra))])[1]) == FILES


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (with_member("../config.json"), "leads out"),
        (with_member("/etc/config.json"), "leads out"),
        (with_member("a\\..\\config.json"), "leads out"),
        (with_member("C:config.json"), "leads out"),
        (with_member("link", b"/etc/passwd", stat.S_IFLNK | 0o777), "link"),
        (with_member("pipe", b"", stat.S_IFIFO), "link"),
        (with_member("a/b/config.json"), "folders within folders"),
        (with_member("a/other.json"), "several folders"),
        (with_member("inner.zip", zipped()), "zip in it"),
        (zipped(method=zipfile.ZIP_LZMA), "compressed in a way"),
        (zipped(comment=b"hello"), "no plain zip"),
        (zipped({f"{number}": b"" for number in range(MOST_MEMBERS + 1)}), "too many members"),
        (b"PK", "no plain zip"),
        (zipped()[:-40] + zipped()[-22:], "damaged"),
    ],
)
def test_a_zip_that_holds_anything_else_is_refused_before_it_is_unpacked(content, why, monkeypatch):
    monkeypatch.setattr(uploaded_files, "read", None)
    assert why in refusal(("mine.zip", content))


def test_a_zip_that_unpacks_to_much_is_refused_by_what_it_declares_and_by_what_it_holds(monkeypatch):
    bomb = zipped(FILES | {"vocab.json": bytes(LARGEST_UPLOAD)})
    assert len(bomb) < LARGEST_UPLOAD // 100
    assert "unpacks to more than 32 MB" in refusal(("mine.zip", bomb))
    lying = bytearray(zipped(FILES | {"vocab.json": bytes(100_000)}))
    place = lying.rindex(b"vocab.json") - 46 + 24  # the declared size, in the list of members
    lying[place : place + 4] = (10).to_bytes(4, "little")
    assert "damaged" in refusal(("mine.zip", bytes(lying)))


def test_what_is_missing_or_twice_or_too_much_is_said():
    without = {name: data for name, data in FILES.items() if name != "config.json"}
    assert "no config.json" in refusal(*without.items())
    assert "no model.safetensors" in refusal(("config.json", b"{}"))
    assert "pickled" in refusal(("config.json", b"{}"), ("pytorch_model.bin", b"x"))
    assert "twice" in refusal(*FILES.items(), ("config.json", b"{}"))
    assert "notes.txt holds no file of a model. Choose config.json, model.safetensors" in refusal(("notes.txt", b"x"))
    assert "32 MB" in refusal(("config.json", b"{}"), ("model.safetensors", bytes(LARGEST_UPLOAD)))


def test_arrays_are_told_from_weights_by_what_they_are_called_and_come_before_their_size():
    weights = np.zeros((1, 1, 2, 2), np.float32)
    for file in (("a.npz", bytes(LARGEST_UPLOAD + 1)), ("model.safetensors", save({"cross_weights": weights}))):
        with pytest.raises(ArraysError, match=f"{file[0]} holds arrays and no model"):
            checkpoint_files([file])
    for content in (save({"weights.0": weights}), save({}), b"x", (1 << 60).to_bytes(8, "little") + b"{}"):
        assert "no config.json" in refusal(("model.safetensors", content))
    checkpoint_files([("config.json", b"{}"), ("model.safetensors", save({"weights": weights}))])
