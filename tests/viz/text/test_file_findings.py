"""What is said of attention that came in a file."""

import numpy as np

from model.loading.attention_arrays import attention_of, read_attention
from tests.model.loading.test_attention_arrays import npz, random_weights
from viz.explorer.attention_kinds import kinds_of_arrays
from viz.text.file_findings import size


def size_of(arrays) -> str:
    return size(list(kinds_of_arrays(arrays).values()))


def test_one_of_a_kind_is_counted_in_the_singular():
    one = attention_of(np.ones((1, 1, 1, 1), np.float32), ["solo"])
    assert size_of(one) == "1 layer with 1 head, 1 token"
    assert size_of(attention_of(np.ones((2, 1, 1, 1), np.float32), ["solo"])) == "2 layers with 1 head each, 1 token"


def test_each_attention_of_an_encoder_decoder_has_its_own_size():
    tokens = {"encoder_tokens": np.array(list("abcde")), "decoder_tokens": np.array(list("xyz"))}
    weights = {
        "encoder_weights": random_weights(2, 3, 5, 5),
        "decoder_weights": random_weights(1, 2, 3, 3),
        "cross_weights": random_weights(1, 2, 3, 5),
    }
    assert size_of(read_attention(npz(**weights, **tokens))) == (
        "encoder: 2 layers with 3 heads each, 5 tokens; decoder: 1 layer with 2 heads, 3 tokens; "
        "decoder → encoder: 1 layer with 2 heads, 3 tokens and 5 keys"
    )
