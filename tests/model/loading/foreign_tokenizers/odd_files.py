"""Odd tokenizer.json files, each small: some are merely wrong, others end or hold up the library that reads them."""

import json
from typing import Any

Json = dict[str, Any]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORD_LEVEL: Json = {"type": "WordLevel", "vocab": {"<unk>": 0, "the": 1, "dog": 2}, "unk_token": "<unk>"}
LONG_WORD = "a" * 20_000
TEXTS = ("the dog aé", "a" * 40 + "c", LONG_WORD)


def file(model: Json = WORD_LEVEL, **parts: Any) -> bytes:
    """A tokenizer.json with these parts."""
    empty = ("truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder")
    values = dict.fromkeys(empty) | {"version": "1.0", "added_tokens": [], "model": model} | parts
    return json.dumps(values).encode()


def added(content: str, number: int = 3, **flags: bool) -> Json:
    names = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return {"id": number, "content": content} | dict.fromkeys(names, False) | flags


def nested(part: str, depth: int) -> bytes:
    return b'{"type":"Sequence","%s":[' % part.encode() * depth + b"null" + b"]}" * depth


def unigram(vocab: list[Any], **more: Any) -> Json:
    return {"type": "Unigram", "unk_id": 0, "vocab": vocab, "byte_fallback": False} | more


def word_pieces(longest: int) -> Json:
    vocab = {"[UNK]": 0, "a": 1, "##a": 2} | {"##" + "a" * length: length + 1 for length in range(2, 60)}
    prefix = {"continuing_subword_prefix": "##", "max_input_chars_per_word": longest}
    return {"type": "WordPiece", "unk_token": "[UNK]", "vocab": vocab} | prefix


def byte_pairs(**more: Any) -> Json:
    fields = {"dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None}
    vocab = {letter: number for number, letter in enumerate(LETTERS)}
    return {"type": "BPE", "fuse_unk": False, "byte_fallback": False, "vocab": vocab, "merges": []} | fields | more


def template(ids: list[int]) -> Json:
    pieces = [{"SpecialToken": {"id": "[X]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    special = {"[X]": {"id": "[X]", "ids": ids, "tokens": ["[X]"] * len(ids)}}
    return {"type": "TemplateProcessing", "single": pieces, "pair": pieces, "special_tokens": special}


def doubling(times: int) -> Json:
    replace = {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 64}
    return {"type": "Sequence", "normalizers": [replace] * times}


def split(pattern: str) -> Json:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


PADDING = {"strategy": {"Fixed": 4_000_000_000}, "direction": "Right", "pad_to_multiple_of": 0, "pad_id": 0}
ODD_FILES: dict[str, bytes] = {
    "no JSON": b"\x00\xff",
    "an empty object": b"{}",
    "an array nested in itself": b"[" * 100_000,
    "normalizers nested deeply": b'{"version":"1.0","normalizer":'
    + nested("normalizers", 100_000)
    + b',"model":{"type":"WordLevel","vocab":{},"unk_token":"x"}}',
    "decoders nested less deeply": b'{"version":"1.0","decoder":'
    + nested("decoders", 60)
    + b',"model":{"type":"WordLevel","vocab":{},"unk_token":"x"}}',
    "an empty vocabulary": file({"type": "WordLevel", "vocab": {}, "unk_token": "<unk>"}),
    "an empty Unigram": file(unigram([])),
    "a Unigram whose unknown lies outside": file(unigram([["a", 0.0]], unk_id=7)),
    "a Unigram with an empty piece": file(unigram([["<unk>", 0.0], ["", -1.0], ["a", -1e308]])),
    "a Unigram without an unknown": file(unigram([["a", 0.0]], unk_id=None)),
    "duplicate ids": file(WORD_LEVEL | {"vocab": {"<unk>": 0, "the": 1, "dog": 1}}),
    "an id out of range": file(WORD_LEVEL | {"vocab": {"<unk>": 0, "the": 1, "dog": 500}}),
    "a sparse id": file(WORD_LEVEL | {"vocab": {"<unk>": 0, "the": 1, "dog": 2**31}}),
    "the largest id": file(WORD_LEVEL | {"vocab": {"<unk>": 0, "the": 2**32 - 1}}),
    "no unknown token": file(WORD_LEVEL | {"unk_token": "missing"}),
    "a template of an unknown token": file(post_processor=template([]) | {"special_tokens": {}}),
    "a template with a foreign id": file(post_processor=template([4_000_000_000])),
    "a template with many tokens": file(post_processor=template([1] * 100_000)),
    "padding to billions": file(padding=PADDING | {"pad_type_id": 0, "pad_token": "<unk>"}),
    "truncation with a stride that is too long": file(
        truncation={"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 100}
    ),
    "an empty added token": file(added_tokens=[added("")]),
    "an added token of one space": file(added_tokens=[added(" ", lstrip=True, rstrip=True)]),
    "an added token whose id is taken": file(added_tokens=[added("cat", 1)]),
    "a text that grows exponentially": file(normalizer=doubling(8)),
    "a text that grows a little": file(normalizer=doubling(2)),
    "a normalizer of nonsense": file(normalizer={"type": "Precompiled", "precompiled_charsmap": "////////AAAA"}),
    "pieces of length nought": file(pre_tokenizer={"type": "FixedLength", "length": 0}),
    "an expression that backtracks": file(pre_tokenizer=split(r"(a|aa|a+)+$|(?:a*)*b")),
    "an expression that counts far": file(pre_tokenizer=split("((a{1,9999}){1,9999}){1,9999}")),
    "an expression nested deeply": file(pre_tokenizer=split("(" * 20_000 + "a" + ")" * 20_000)),
    "an expression that is none": file(pre_tokenizer=split("(")),
    "an empty expression": file(pre_tokenizer=split("")),
    "a long word": file(word_pieces(10**9)),
    "merges that lead nowhere": file(byte_pairs(merges=[["a", "zz"]])),
    "a dropout over one": file(byte_pairs(dropout=2.0)),
    "bytes without their tokens": file(byte_pairs(byte_fallback=True, vocab={"a": 0, "<0xZZ>": 1, "<0x41>": 2})),
    "a decoder of bytes": file(decoder={"type": "ByteFallback"}, added_tokens=[added("<0xFF>"), added("<0xé>", 4)]),
    "a decoder that strips too much": file(decoder={"type": "Strip", "content": "d", "start": 2**31, "stop": 2**31}),
    "a decoder of an empty pattern": file(
        decoder={"type": "Replace", "pattern": {"String": ""}, "content": "a" * 9999}
    ),
}
