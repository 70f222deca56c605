"""Attention from other programs: what is read is what was saved; what cannot be shown is refused in one sentence."""

import io
import json
import struct
import zipfile
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save as save_numpy
from safetensors.torch import save as save_torch

from model import InputError
from model.loading import array_files
from model.loading.array_files import LARGEST_FILE
from model.loading.attention_arrays import AttentionArrays, attention_of, read_attention

TOKENS = ["the", "cat", "sat", "on", "it"]


def random_weights(*shape: int, seed: int = 0, causal: bool = False) -> np.ndarray:
    scores = np.random.default_rng(seed).normal(size=shape) * 2
    if causal:
        scores = np.where(np.tril(np.ones(shape[-2:], bool)), scores, -np.inf)
    exponents = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (exponents / exponents.sum(axis=-1, keepdims=True)).astype(np.float32)


WEIGHTS = random_weights(2, 3, 5, 5)


def npz(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def zipped(**members: bytes) -> bytes:
    """A zip of these members, whose names may have anything in them."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def torch_saved(weights: np.ndarray) -> bytes:
    file = io.BytesIO()
    torch.save({"weights": torch.from_numpy(weights)}, file)
    return file.getvalue()


def refusal(content: bytes) -> str:
    """The one sentence."""
    with pytest.raises(InputError) as caught:
        read_attention(content)
    sentence = str(caught.value)
    assert sentence.isprintable()
    assert sentence.endswith(".")
    assert len(sentence) <= 300
    assert "Traceback" not in sentence
    return sentence


def the_only(arrays: AttentionArrays, name: str) -> Any:
    assert list(arrays.attentions) == [name]
    return arrays.attentions[name]


# What is read


@pytest.mark.parametrize("kind", ["<f2", "<f4", "<f8", ">f4"])
def test_what_numpy_saves_is_read_number_by_number(kind):
    saved = WEIGHTS.astype(kind)
    stored = the_only(read_attention(npz(weights=saved, tokens=np.array(TOKENS))), "encoder")
    assert stored.weights.dtype == np.float32
    assert np.array_equal(stored.weights, saved.astype(np.float32))
    assert stored.queries == stored.keys == tuple(TOKENS)


def test_columns_first_and_an_uncompressed_file_read_the_same():
    file = io.BytesIO()
    np.savez(file, weights=np.asfortranarray(WEIGHTS), tokens=np.array(TOKENS))
    assert np.array_equal(the_only(read_attention(file.getvalue()), "encoder").weights, WEIGHTS)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("as_bytes", [False, True])
def test_safetensors_read_the_same_with_tokens_in_the_metadata_or_as_bytes(kind, as_bytes):
    tensors = {"weights": torch.from_numpy(WEIGHTS).to(kind)}
    text = json.dumps([*TOKENS[:-1], "né😀"])
    if as_bytes:
        content = save_torch(tensors | {"tokens": torch.tensor(list(text.encode()), dtype=torch.uint8)})
    else:
        content = save_torch(tensors, metadata={"tokens": text})
    stored = the_only(read_attention(content), "encoder")
    assert np.array_equal(stored.weights, tensors["weights"].float().numpy())
    assert stored.queries == (*TOKENS[:-1], "né😀")


def test_keys_of_their_own_make_it_cross_attention():
    weights = random_weights(2, 3, 3, 5)
    stored = the_only(read_attention(npz(weights=weights, tokens=np.array(TOKENS[:3]), keys=np.array(TOKENS))), "cross")
    assert (stored.queries, stored.keys, stored.one_text, stored.causal) == (
        tuple(TOKENS[:3]),
        tuple(TOKENS),
        False,
        False,
    )
    assert stored.visible().all()


def test_one_text_is_a_decoders_where_no_query_sees_what_follows():
    weights = random_weights(2, 3, 5, 5, causal=True)
    stored = the_only(read_attention(npz(weights=weights, tokens=np.array(TOKENS))), "decoder")
    assert stored.causal
    assert np.array_equal(stored.visible(), np.tril(np.ones((5, 5), bool)))


def test_an_encoder_decoder_has_three_attentions_in_one_file():
    source, target = np.array(TOKENS), np.array(TOKENS[:3])
    saved = {
        "encoder_weights": WEIGHTS,
        "decoder_weights": random_weights(1, 2, 3, 3, causal=True),
        "cross_weights": random_weights(1, 2, 3, 5),
    }
    arrays = read_attention(npz(**saved, encoder_tokens=source, decoder_tokens=target))
    assert {f"{name}_weights" for name in arrays.attentions} == saved.keys()
    for name, stored in arrays.attentions.items():
        assert np.array_equal(stored.weights, saved[f"{name}_weights"])
    cross = arrays.attentions["cross"]
    assert (cross.queries, cross.keys) == (tuple(TOKENS[:3]), tuple(TOKENS))


def test_a_mask_says_what_a_query_may_see():
    mask = np.ones((5, 5), bool)
    mask[:, 4] = False
    weights = WEIGHTS * mask
    weights /= weights.sum(axis=-1, keepdims=True)
    stored = the_only(read_attention(npz(weights=weights, tokens=np.array(TOKENS), mask=mask)), "encoder")
    assert np.array_equal(stored.visible(), mask)
    assert "the mask hides that key" in refusal(npz(weights=WEIGHTS, tokens=np.array(TOKENS), mask=mask))


def test_what_a_file_holds_besides_is_left_alone():
    others = {"note": np.array("x"), "objects": np.array([{}], object), "large": np.zeros((4000, 4000))}
    assert np.array_equal(
        the_only(read_attention(npz(weights=WEIGHTS, tokens=np.array(TOKENS), **others)), "encoder").weights, WEIGHTS
    )


def test_rows_that_do_not_add_up_are_shown_and_the_first_is_named():
    weights = WEIGHTS.copy()
    weights[1, 2, 3] *= 0.5
    weights[0, 0, 0] = 0
    arrays = read_attention(npz(weights=weights, tokens=np.array(TOKENS)))
    assert arrays.notes == (
        "One row does not add up to 1 and is shown as it is: query 4 in layer 2, head 3, adds up to 0.5.",
    )
    weights[1, 2, 4] *= 0.5
    assert (
        read_attention(npz(weights=weights, tokens=np.array(TOKENS))).notes[0].startswith("2 of 30 rows do not add up")
    )
    assert read_attention(npz(weights=WEIGHTS.astype(np.float16), tokens=np.array(TOKENS))).notes == ()


def test_from_memory_a_tensor_a_layer_with_a_batch_of_one_is_taken_as_transformers_gives_them():
    layers = tuple(torch.from_numpy(layer)[None].bfloat16().requires_grad_() for layer in WEIGHTS)
    stored = the_only(attention_of(layers, TOKENS), "encoder")
    assert np.array_equal(stored.weights, torch.stack([layer[0] for layer in layers]).detach().float().numpy())
    assert np.array_equal(the_only(attention_of(torch.from_numpy(WEIGHTS), TOKENS), "encoder").weights, WEIGHTS)
    with pytest.raises(InputError, match="different shapes"):
        attention_of([WEIGHTS[0], WEIGHTS[1, :2]], TOKENS)


# What is refused


def changed(place: tuple[int, ...], value: float) -> np.ndarray:
    weights = WEIGHTS.copy()
    weights[place] = value
    return weights


ARRAYS: dict[str, tuple[dict[str, Any], str]] = {
    "no weights": ({"tokens": np.array(TOKENS)}, "no array called weights"),
    "no tokens": ({"weights": WEIGHTS}, "weights and no tokens"),
    "fewer tokens": (
        {"weights": WEIGHTS, "tokens": np.array(TOKENS[:4])},
        "weights has 5 queries, but there are 4 tokens",
    ),
    "fewer keys": (
        {"weights": WEIGHTS, "tokens": np.array(TOKENS), "keys": np.array(TOKENS[:2])},
        "weights has 5 keys, but there are 2 tokens",
    ),
    "three axes": ({"weights": WEIGHTS[0], "tokens": np.array(TOKENS)}, "needs the four axes (layer, head, query,"),
    "whole numbers": ({"weights": WEIGHTS.astype(int), "tokens": np.array(TOKENS)}, "found int64 of shape (2, 3"),
    "nothing": ({"weights": np.zeros((0, 3, 5, 5)), "tokens": np.array(TOKENS)}, "there is nothing to show"),
    "a nan": (
        {"weights": changed((1, 2, 3, 4), np.nan), "tokens": np.array(TOKENS)},
        "The weight of layer 2, head 3, query 4, key 5 (counted from 1) is not a finite number",
    ),
    "infinity": ({"weights": changed((0, 0, 0, 0), np.inf), "tokens": np.array(TOKENS)}, "is not a finite number"),
    "too large for float32": (
        {"weights": changed((0, 0, 0, 1), 0).astype(np.float64) + 1e300, "tokens": np.array(TOKENS)},
        "is not a finite number",
    ),
    "a score": (
        {"weights": changed((0, 1, 2, 0), -2.5), "tokens": np.array(TOKENS)},
        "The weight of layer 1, head 2, query 3, key 1 (counted from 1) is -2.5; weights lie between 0 and 1",
    ),
    "above one": ({"weights": changed((0, 1, 2, 0), 1.2), "tokens": np.array(TOKENS)}, "is 1.2; weights lie between"),
    "objects": ({"weights": WEIGHTS, "tokens": np.array(TOKENS, object)}, "tokens holds Python objects"),
    "tokens in rows": ({"weights": WEIGHTS, "tokens": np.array([TOKENS])}, "tokens must be a list of texts"),
    "ids": ({"weights": WEIGHTS, "tokens": np.arange(5)}, "tokens must be a list of texts"),
    "complex": ({"weights": WEIGHTS.astype(np.complex64), "tokens": np.array(TOKENS)}, "weights has the type <c8"),
    "a long token": ({"weights": WEIGHTS, "tokens": np.array([*TOKENS[:4], "x" * 201])}, "number 5 has 201 characters"),
    "half a pair": ({"weights": WEIGHTS, "tokens": np.array([*TOKENS[:4], "\ud83d"])}, "half of a surrogate pair"),
    "many tokens": (
        {"weights": np.zeros((1, 1, 513, 513), np.float16), "tokens": np.array(["x"] * 513)},
        "513 tokens; at most 512 are shown",
    ),
    "many layers": ({"weights": np.zeros((129, 1, 5, 5)), "tokens": np.array(TOKENS)}, "129 layers; at most 128"),
    "many heads": ({"weights": np.zeros((1, 257, 5, 5)), "tokens": np.array(TOKENS)}, "257 heads a layer"),
    "many weights": (
        {"weights": np.zeros((61, 1, 513, 513), np.float16), "tokens": np.array(TOKENS)},
        "weights; at most 16,000,000 are read",
    ),
    "one side": (
        {"cross_weights": random_weights(1, 1, 5, 5), "decoder_tokens": np.array(TOKENS)},
        "cross_weights and no encoder_tokens",
    ),
    "a mask of another shape": (
        {"weights": WEIGHTS, "tokens": np.array(TOKENS), "mask": np.ones((5, 4), bool)},
        "The mask of weights must be",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_that_cannot_be_shown_are_refused_with_what_is_wrong(name):
    arrays, expected = ARRAYS[name]
    assert expected in refusal(npz(**arrays))


def stored_as(*, overlapping: bool = False, **tensors: tuple[str, tuple[int, ...], bytes] | bytes) -> bytes:
    """A safetensors file as no library writes it: any shape, and all tensors at the beginning where they overlap."""
    header, body = {}, b""
    for name, tensor in tensors.items():
        kind, shape, content = tensor if isinstance(tensor, tuple) else ("U8", (len(tensor),), tensor)
        start = 0 if overlapping else len(body)
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [start, start + len(content)]}
        body = content if overlapping else body + content
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


LONG_AXIS = b"{'descr': '<f4', 'fortran_order': False, 'shape': (%s,)}" % (b"9" * 900)
GOOD = npz(weights=WEIGHTS, tokens=np.array(TOKENS))
FILES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "neither NPZ nor safetensors"),
    "text": (b"weights, tokens\n1, 2\n", "neither NPZ nor safetensors"),
    "one array": (npy(WEIGHTS), "one array without its tokens"),
    "a pickle": (b"\x80\x04K\x01.", "opens no pickled file"),
    "too many bytes": (b"PK\x03\x04" + bytes(LARGEST_FILE), "at most 33,554,432 are read"),
    "cut off": (GOOD[:-30], "may have been cut off"),
    "a list of members before its beginning": (GOOD[:-4] + b"\x01" + GOOD[-3:], "its archive cannot be unpacked"),
    "a folder": (zipped(**{"archive/data.bin": b"x"}), "holds “archive/data.bin”, but an NPZ file holds arrays alone"),
    "of torch.save": (torch_saved(WEIGHTS), "The file is one of torch.save, which can run code when it is loaded"),
    "climbing": (zipped(**{"../weights.npy": npy(WEIGHTS)}), "holds “../weights.npy”"),
    "another zip": (zipped(**{"weights.npz": GOOD}), "in no folder"),
    "an empty zip": (zipped(), "no array called weights"),
    "no npy": (zipped(**{"weights.npy": b"hello"}), "weights is no array as numpy writes it"),
    "a long header": (
        zipped(**{"weights.npy": b"\x93NUMPY\x02\x00" + struct.pack("<I", 1 << 30) + b"{"}),
        "weights is no array as numpy writes it",
    ),
    "code in a header": (
        zipped(**{"weights.npy": b"\x93NUMPY\x01\x00" + struct.pack("<H", 20) + b"__import__('os')    "}),
        "has a header that numpy does not write",
    ),
    "deep brackets": (
        zipped(**{"weights.npy": b"\x93NUMPY\x01\x00" + struct.pack("<H", 1000) + b"(" * 1000}),
        "has a header that numpy does not write",
    ),
    "fewer bytes": (zipped(**{"weights.npy": npy(WEIGHTS)[:-4]}), "the file is damaged"),
    "a negative axis": (
        zipped(**{"weights.npy": npy(WEIGHTS).replace(b"(2, 3, 5, 5)", b"(2, 3, -5,5)")}), "which no array has",
    ),
    "an axis of a thousand digits": (
        zipped(**{"weights.npy": b"\x93NUMPY\x01\x00" + struct.pack("<H", len(LONG_AXIS)) + LONG_AXIS}),
        "the file is damaged",
    ),
    "axes that no array has": (
        stored_as(weights=("F32", (1 << 47, 1 << 47, 0, 1), b""), tokens=b'["a"]'), "which no array has",
    ),
    "a long safetensors header": (struct.pack("<Q", 1 << 40) + b"{}", "header that is longer than the file"),
    "no JSON": (struct.pack("<Q", 5) + b"{abcd", "expected valid JSON"),
    "tensors beyond the end": (save_numpy({"weights": WEIGHTS})[:-4], "ends after the file"),
    "tokens that are no list": (save_numpy({"weights": WEIGHTS}, metadata={"tokens": '{"a": 1}'}), "no list of texts"),
    "tokens that are no JSON": (save_numpy({"weights": WEIGHTS}, metadata={"tokens": "the cat"}), "no list of texts"),
    "numbers as tokens": (save_numpy({"weights": WEIGHTS}, metadata={"tokens": "[1, 2]"}), "no list of texts"),
    "eight bits": (
        save_torch({"weights": torch.zeros(1, 1, 5, 5).to(torch.float8_e4m3fn)}, metadata={"tokens": "[]"}),
        "weights has the type F8_E4M3",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_files_that_are_no_such_file_are_refused_in_one_sentence(name):
    content, expected = FILES[name]
    assert expected in refusal(content)


def test_a_bomb_of_zeros_is_refused_by_what_it_says_that_it_unpacks_to(monkeypatch):
    bomb = zipped(**{"weights.npy": npy(np.zeros((100 << 20), np.uint8))})
    assert len(bomb) < 1 << 20
    monkeypatch.setattr(array_files, "unpacked", lambda *_: pytest.fail("it was unpacked"))
    assert "take 100 MiB unpacked, and at most 64 are read" in refusal(bomb)


def test_one_long_text_among_many_is_refused_before_each_takes_as_much_memory(monkeypatch):
    bomb = stored_as(
        weights=("F32", (1, 1, 1, 1), bytes(4)), tokens=json.dumps(["a" * 50_000, *[""] * 20_000]).encode()
    )
    assert len(bomb) < 200_000
    monkeypatch.setattr(np, "array", lambda *_: pytest.fail("the array was made"))
    assert "take 3,815 MiB unpacked, and at most 64 are read" in refusal(bomb)


def test_tensors_that_share_their_bytes_are_counted_each(monkeypatch):
    masks = dict.fromkeys(("mask", "encoder_mask", "cross_mask"), ("BOOL", (25 << 20,), bytes(25 << 20)))
    monkeypatch.setattr(array_files, "tensor_of", lambda *_: pytest.fail("a tensor was read"))
    assert "take 75 MiB unpacked" in refusal(stored_as(overlapping=True, **masks))


def test_a_bomb_that_lies_about_its_size_is_unpacked_no_further_than_it_says():
    """The real size is 100 MiB; both places that tell it are changed to 1,000 bytes."""
    bomb = zipped(**{"weights.npy": bytes(100 << 20)})
    lying = bomb.replace(struct.pack("<I", 100 << 20), struct.pack("<I", 1000))
    assert lying.count(struct.pack("<I", 1000)) == 2
    read = []
    unpack = zipfile.ZipExtFile._read1  # type: ignore[attr-defined]

    def counting(self, size):
        data = unpack(self, size)
        read.append(len(data))
        return data

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(zipfile.ZipExtFile, "_read1", counting)
        assert "cannot be unpacked" in refusal(lying)
    assert sum(read) <= 1000


def test_a_directory_of_many_members_is_refused_before_it_is_read(monkeypatch):
    many = zipped(**{f"a{number}.npy": b"" for number in range(1000)})
    monkeypatch.setattr(zipfile, "ZipFile", lambda *_: pytest.fail("the directory was read"))
    assert "holds 1,000 arrays; at most 200" in refusal(many)


def test_encrypted_or_strangely_packed_members_are_refused():
    flagged = bytearray(zipped(**{"weights.npy": npy(WEIGHTS)}))
    flagged[flagged.index(b"PK\x01\x02") + 8] |= 1
    assert "encrypted" in refusal(bytes(flagged))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("weights.npy", npy(WEIGHTS))
    assert "packed as numpy does not" in refusal(file.getvalue())


def test_a_name_that_stands_twice_is_refused():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("weights.npy", npy(WEIGHTS))
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("weights.npy", npy(WEIGHTS))
    assert "twice" in refusal(file.getvalue())


def test_a_path_is_read_and_a_refusal_names_no_folder(tmp_path):
    (tmp_path / "a.npz").write_bytes(GOOD)
    assert np.array_equal(the_only(read_attention(tmp_path / "a.npz"), "encoder").weights, WEIGHTS)
    for path in (tmp_path / "b.npz", tmp_path):
        with pytest.raises(InputError, match="is not there, or no regular file") as caught:
            read_attention(path)
        assert str(tmp_path.parent) not in str(caught.value)


SAFETENSORS = save_numpy({"weights": WEIGHTS}, metadata={"tokens": json.dumps(TOKENS)})


@settings(max_examples=600, deadline=None)
@given(st.sampled_from([GOOD, SAFETENSORS]), st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 255)), max_size=6))
def test_a_file_with_bytes_changed_is_read_or_refused_and_never_fails_otherwise(content, changes):
    mutated = bytearray(content)
    for place, byte in changes:
        mutated[place % len(mutated)] = byte
    try:
        arrays = read_attention(bytes(mutated))
    except InputError:
        refusal(bytes(mutated))
    else:
        for stored in arrays.attentions.values():
            assert np.isfinite(stored.weights).all()
            assert stored.weights.shape[2:] == (len(stored.queries), len(stored.keys))
