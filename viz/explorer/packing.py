"""A trace's attention as one value of bytes for the browser, and back.

    4 bytes     length of the header, little-endian
    header      JSON: the texts, and for every kind of attention its sizes and where its streams stand
    streams     zlib, one for the thumbnails of a kind and one for each of its layers

A weight is one byte, 255 times its square root: what is read back differs from it by at most 0.004, and by far less
where weights are small. Of a causal layer only the lower triangle is stored, row by row.
"""

import json
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from jaxtyping import Float, UInt8

from viz.explorer.attention_kinds import Kind, Text
from viz.explorer.layout import THUMB_SIDE
from viz.explorer.view import groups_of
from viz.tokens import visible

WHOLE = 4_000_000  # bytes: a model that takes more is sent as thumbnails, and its layers when they are looked at
ONE_CORE = 1 << 20  # bytes that are compressed before two threads would have begun
VERSION = 1


def pack(kinds: Mapping[str, Kind], *, name: str = "", limit: int = WHOLE) -> bytes:
    """Texts, thumbnails and, where all fit into ``limit`` bytes, every layer of every kind.

    ``name`` tells one trace from another: rows and layers that come later say which one they belong to.
    The limit is judged by the first layer of each kind, since compressing what will not be sent takes longest.
    """
    first = {kind.name: layer_stream(kind, 0) for kind in kinds.values()}
    whole = sum(len(first[kind.name]) * kind.layers for kind in kinds.values()) <= limit
    streams, described = Streams(), []
    for kind in kinds.values():
        layers = [first[kind.name], *all_layers(kind, range(1, kind.layers))] if whole else []
        shape, thumbs = thumbnails(kind)
        places = {"thumbs": streams.add(compressed(thumbs)), "layers_at": [streams.add(layer) for layer in layers]}
        described.append(describe(kind) | {"thumb_shape": shape} | places)
    texts = {text.stack: describe_text(text) for kind in kinds.values() for text in (kind.queries, kind.keys)}
    return joined_streams({"version": VERSION, "name": name, "kinds": described, "texts": texts}, streams)


def pack_layer(kind: Kind, layer: int, *, name: str = "") -> bytes:
    """One layer alone, for the browser that has only its thumbnails."""
    streams = Streams()
    place = streams.add(layer_stream(kind, layer))
    return joined_streams({"version": VERSION, "name": name, "kind": kind.name, "layer": layer, "at": place}, streams)


class Streams:
    """Compressed pieces that will stand one after another."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.size = 0

    def add(self, piece: bytes) -> list[int]:
        """Where the piece will stand: its first byte and its length."""
        self.pieces.append(piece)
        self.size += len(piece)
        return [self.size - len(piece), len(piece)]


def joined_streams(header: Mapping[str, Any], streams: Streams) -> bytes:
    """Header and streams as they are sent."""
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    return b"".join([struct.pack("<I", len(text)), text, *streams.pieces])


def describe(kind: Kind) -> dict[str, Any]:
    """Names and sizes of one kind."""
    return {
        "name": kind.name,
        "queries": kind.queries.stack,
        "keys": kind.keys.stack,
        "layers": kind.layers,
        "heads": kind.heads,
        "shape": list(kind.weights[0].shape[1:]),
        "causal": kind.causal,
    }


def describe_text(text: Text) -> dict[str, Any]:
    """A text for the browser: its tokens as they are printed, and the words that they are pieces of."""
    merged = groups_of(text, words=True)
    words = [[group.first, group.last, group.label] for group in merged]
    return {
        "tokens": [visible(token) for token in text.tokens],
        "special": text.special,
        "words": words if len(words) < len(text.tokens) else None,
        "segments": text.segments,
    }


def all_layers(kind: Kind, layers: Iterable[int]) -> list[bytes]:
    """The streams of several layers; zlib and the large steps of numpy let go of the interpreter."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda layer: layer_stream(kind, layer), layers))


def layer_stream(kind: Kind, layer: int) -> bytes:
    """One layer, as it is sent."""
    weights = kind.weights[layer]
    return compressed(quantised(triangle(weights) if kind.causal else weights))


def triangle(weights: Float[np.ndarray, "head query key"]) -> Float[np.ndarray, "head cell"]:
    """The lower triangle, row by row: query 0's one key, query 1's two …"""
    queries = weights.shape[1]
    cells = np.empty((len(weights), queries * (queries + 1) // 2), weights.dtype)
    for query in range(queries):
        start = query * (query + 1) // 2
        cells[:, start : start + query + 1] = weights[:, query, : query + 1]
    return cells


def quantised(weights: Float[np.ndarray, "..."]) -> UInt8[np.ndarray, "..."]:
    """255 times the root, rounded: small weights, of which a long text has most, keep their differences."""
    roots = np.sqrt(weights)
    roots *= 255
    roots += 0.5
    return roots.astype(np.uint8)


def compressed(cells: UInt8[np.ndarray, "..."]) -> bytes:
    """A zlib stream. Of many cells each half is compressed on a core of its own: somebody waits for the one layer."""
    data = np.ascontiguousarray(cells).data.cast("B")
    half = len(data) // 2
    if len(data) < ONE_CORE:
        parts = [deflated(data, zlib.Z_FINISH)]
    else:
        with ThreadPoolExecutor(2) as pool:
            parts = list(pool.map(deflated, (data[:half], data[half:]), (zlib.Z_SYNC_FLUSH, zlib.Z_FINISH)))
    # Header and checksum as in RFC 1950; a part that ends in a synchronising flush may be followed by another.
    return b"".join([b"\x78\x01", *parts, zlib.adler32(data).to_bytes(4, "big")])


def deflated(data: memoryview, ending: int) -> bytes:
    """By runs and frequencies alone: attention repeats no longer strings, and looking for them costs most time."""
    squeeze = zlib.compressobj(1, zlib.DEFLATED, -15, 9, zlib.Z_RLE)
    return squeeze.compress(data) + squeeze.flush(ending)


def thumbnails(kind: Kind) -> tuple[list[int], UInt8[np.ndarray, "tile row column"]]:
    """Their shape, and every head's weights, the mean of each layer, and the mean of each head over the layers."""
    tiles = tiles_of(kind.weights)
    return list(tiles.shape[1:]), quantised(tiles)


def tiles_of(layers: Iterable[Float[np.ndarray, "head query key"]]) -> Float[np.ndarray, "tile row column"]:
    """The weights of thumbnails: all heads' layer by layer, then the layers' means, then each head's over the layers.

    Where a text is longer than a thumbnail, one cell is the largest weight of those that it stands for: a mean would
    wash out the single strong ones.
    """
    heads, means, total = [], [], None
    for weights in layers:
        heads.append(pooled(weights))
        means.append(weights.mean(axis=0))
        total = weights if total is None else total + weights
    return np.concatenate([*heads, *([] if total is None else [pooled(np.stack(means)), pooled(total / len(heads))])])


def pooled(weights: Float[np.ndarray, "tile query key"]) -> Float[np.ndarray, "tile row column"]:
    """The largest weight of each block of cells; row r of n stands for the queries from r·length // n on.

    Slices, because numpy's reduceat takes eight times as long; rows first, because that is the quicker half.
    """
    for axis in (1, 2):
        length = weights.shape[axis]
        edges = [block * length // THUMB_SIDE for block in range(THUMB_SIDE + 1)]
        if length > THUMB_SIDE:
            slices = (slice(*edge) for edge in pairwise(edges))
            blocks = (weights[(slice(None),) * axis + (one,)].max(axis=axis) for one in slices)
            weights = np.stack(list(blocks), axis=axis)
    return weights


def is_whole(packed: bytes) -> bool:
    """Whether every layer of every kind is in what ``pack`` made."""
    return all(len(kind["layers_at"]) == kind["layers"] for kind in split_streams(packed)[0]["kinds"])


def split_streams(packed: bytes) -> tuple[dict[str, Any], bytes]:
    """The header, and the streams after it."""
    (length,) = struct.unpack_from("<I", packed)
    return json.loads(packed[4 : 4 + length]), packed[4 + length :]


@dataclass(frozen=True)
class Unpacked:
    """What a packed value says. ``layers`` has an entry for every (kind, layer) that was sent."""

    header: Mapping[str, Any]
    thumbs: Mapping[str, Float[np.ndarray, "tile row column"]]
    layers: Mapping[tuple[str, int], Float[np.ndarray, "head query key"]]


def unpack(packed: bytes) -> Unpacked:
    """The numbers of ``pack`` or ``pack_layer`` as the browser reads them; of the latter only the header and cells.

    The browser's decoder is data.js; this one is what it is tested against.
    """
    header, body = split_streams(packed)
    thumbs, layers = {}, {}
    for kind in header["kinds"]:
        thumbs[kind["name"]] = weights_of(body, kind["thumbs"]).reshape(-1, *kind["thumb_shape"])
        for layer, place in enumerate(kind["layers_at"]):
            layers[kind["name"], layer] = squares(weights_of(body, place), kind)
    return Unpacked(header, thumbs, layers)


def unpack_layer(packed: bytes, kind: Mapping[str, Any]) -> Float[np.ndarray, "head query key"]:
    """The numbers of ``pack_layer``, with the kind's entry in the header of ``pack``."""
    header, body = split_streams(packed)
    return squares(weights_of(body, header["at"]), kind)


def weights_of(body: bytes, place: Sequence[int]) -> Float[np.ndarray, "cell"]:
    """One stream's weights, in a row."""
    start, length = place
    roots = np.frombuffer(zlib.decompress(body[start : start + length]), np.uint8)
    return (roots.astype(np.float32) / 255) ** 2


def squares(cells: Float[np.ndarray, "cell"], kind: Mapping[str, Any]) -> Float[np.ndarray, "head query key"]:
    """Stored cells as whole matrices, with zeros above the diagonal of a causal one."""
    queries, keys = kind["shape"]
    if not kind["causal"]:
        return cells.reshape(kind["heads"], queries, keys)
    weights = np.zeros((kind["heads"], queries, keys), np.float32)
    rows, columns = np.tril_indices(queries)
    weights[:, rows, columns] = cells.reshape(kind["heads"], -1)
    return weights
