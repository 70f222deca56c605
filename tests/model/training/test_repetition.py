"""What a model repeats in its own text, and how it unlearns that: by hand, and on a model of random weights."""

import math

import torch

from model.config import Config
from model.training.repetition import continued, repeated, unlikelihood
from model.transformer import Transformer


def decoder() -> Transformer:
    """A small decoder with random weights."""
    torch.manual_seed(0)
    return Transformer(
        Config(
            architecture="decoder", vocabulary=20, width=16, heads=2, layers=2, hidden=32, max_length=64,
            positions="learned", norm_order="pre", activation="gelu", scale_embeddings=False,
        )
    )  # fmt: skip


def test_a_token_is_repeated_where_a_run_with_it_stood_before() -> None:
    texts = torch.tensor([[1, 2, 3, 9, 1, 2, 3, 4], [1, 2, 3, 4, 5, 6, 7, 8], [5, 5, 5, 5, 6, 6, 7, 7]])
    assert repeated(texts, 3).int().tolist() == [[0, 0, 0, 0, 1, 1, 1, 0], [0] * 8, [0, 1, 1, 1, 0, 0, 0, 0]]


def test_every_unwanted_token_costs_the_logarithm_of_what_it_leaves_to_others() -> None:
    logits = torch.log(torch.tensor([[[0.2, 0.8], [0.5, 0.5]]]))
    texts, unwanted = torch.tensor([[1, 0]]), torch.tensor([[True, False]])
    assert math.isclose(float(unlikelihood(logits, texts, unwanted)), -math.log(1 - 0.8) / 2, rel_tol=1e-5)
    assert float(unlikelihood(logits, texts, ~unwanted)) > 0
    assert float(unlikelihood(logits, texts, unwanted & ~unwanted)) == 0


def test_texts_are_continued_by_the_likeliest_token_each_time() -> None:
    model = decoder()
    prompts = torch.randint(1, 20, (3, 5))
    texts = continued(model, prompts, 6)
    assert model.training
    assert torch.equal(texts[:, :5], prompts)
    model.eval()
    for end in range(5, 11):  # each from the whole text, without a cache
        assert torch.equal(model(texts[:, :end]).logits[:, -1].argmax(dim=-1), texts[:, end])


def test_a_model_unlearns_to_repeat_itself() -> None:
    model = decoder()
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
    prompts = torch.randint(1, 20, (4, 5))
    shares = []
    for _ in range(60):
        texts = continued(model, prompts, 30)
        again = repeated(texts[:, 5:], 4)
        shares.append(float(again.float().mean()))
        optimiser.zero_grad()
        unlikelihood(model(texts[:, :-1]).logits[:, 4:], texts[:, 5:], again).backward()
        optimiser.step()
    assert shares[0] > 0.25
    assert min(shares[-10:]) < 0.5 * shares[0]
