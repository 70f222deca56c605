"""Edits in a file: what is written is read, and everything else is refused in one plain sentence."""

import json

import pytest

from model import InputError
from model.edits.file_form import KIND, LARGEST_FILE, EditFile

GOOD = {
    "kind": KIND,
    "checkpoint": "a",
    "text": "ein „Satz“ 😀",
    "pair": "",
    "target": "",
    "edits": "weight_e0.0.1.2-0.5n",
}


def changed(**fields: object) -> bytes:
    return json.dumps(GOOD | fields).encode()


def without(name: str) -> bytes:
    return json.dumps({key: value for key, value in GOOD.items() if key != name}).encode()


HOSTILE = {
    "nothing": b"",
    "no JSON": b"edits",
    "a list": b"[]",
    "a pickle": b"\x80\x04\x95\x10\x00\x00\x00",
    "a zip": b"PK\x03\x04",
    "not UTF-8": b'{"kind": "\xff"}',
    "a byte-order mark": b"\xef\xbb\xbf" + changed(),
    "deep": b'{"kind":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "NaN": changed()[:-1] + b', "more": NaN}',
    "a key twice": changed()[:-1] + b', "text": "another"}',
    "half a surrogate": changed()[:-1].replace(b'"pair": ""', b'"pair": "\\ud800"') + b"}",
    "a long number": b'{"kind": ' + b"9" * 6000 + b"}",
    "another kind": changed(kind="headlight edit 2"),
    "one field more": changed(code="import os"),
    "one field less": without("pair"),
    "a number for a text": changed(text=5),
    "a list for the edits": changed(edits=[]),
    "a text too long": changed(text="a" * 2001),
    "edits of another form": changed(edits="os.system"),
    "a weight above 1": changed(edits="weight_e0.0.1.2-1.5n"),
    "a weight that is no number": changed(edits="weight_e0.0.1.2-e.n"),
    "two values for a weight": changed(edits="weight_e0.0.1.2-0.5n_e0.0.1.2-0.6n"),
    "too large": b" " * (LARGEST_FILE + 1),
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_anything_else_is_refused_in_one_plain_sentence(content):
    with pytest.raises(InputError) as refused:
        EditFile.from_bytes(content)
    said = str(refused.value)
    assert len(said) <= 300
    assert said.isprintable()
    assert "Traceback" not in said
    assert "/" not in said


def test_what_is_written_is_read():
    file = EditFile(**{name: value for name, value in GOOD.items() if name != "kind"})
    assert EditFile.from_bytes(file.to_bytes()) == file
    assert file.to_bytes().isascii()
