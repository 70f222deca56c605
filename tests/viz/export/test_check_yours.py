"""The files for readers who coded along: the script is run as at home, with functions that are right and wrong."""

import importlib.util
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from model import load_checkpoint
from tests import tiny
from viz.export import check_at_home
from viz.export.check_yours import can_check, check_arrays, check_file, check_script
from viz.export.provenance import Provenance

FILE = "mistakes-check.npz"
STUB = "    raise NotImplementedError\n"
RIGHT = """
scores = query @ key.T / np.sqrt(query.shape[1])
masked = np.where(mask, scores, -np.inf)
weights = np.exp(masked - masked.max(axis=1, keepdims=True))
weights = weights / weights.sum(axis=1, keepdims=True)
return scores, masked, weights, weights @ value
"""
WIDTH = 256  # of the model
WRONG = {  # what is written in place of what, the step that differs, and what the script says
    "scale": ("/ np.sqrt(query.shape[1])", "", "scores", "the division by √d_k is missing"),
    "width": ("query.shape[1])", f"{WIDTH})", "scores", "divided by √d_model: the width of one head is meant"),
    "order": ("query @ key.T", "key @ query.T", "scores", "Yours are transposed"),
    "inverted mask": ("np.where(mask,", "np.where(~mask,", "masked", "Yours hides what the query may see"),
    "no mask": ("np.where(mask, scores, -np.inf)", "scores", "masked", "the scores without a mask"),
    "axis": ("axis=1", "axis=0", "weights", "Your columns add up to 1"),
    "value": ("weights @ value", "weights @ value[::-1]", "context", "query 0, coordinate 0"),
    "shape": ("weights @ value", "(weights @ value).T", "context", "Rows and columns have changed places"),
    "batch": ("return scores,", "return scores[None],", "scores", "Take the axes of length 1 away"),
    "words": ("return scores,", "return 'scores',", "scores", "yours is no array of numbers"),
    "NaN": ("weights @ value", "weights @ value * np.nan", "context", "Some of yours are NaN"),
}


@pytest.fixture(scope="module")
def decoder() -> Any:
    return load_checkpoint("stories", device="cpu").trace("Once upon a time there was a king").text_stack.blocks[2]


def home(folder: Path, block: Any, body: str | None, *, file: bytes | None = None) -> Path:
    """What a reader has in a folder: the arrays, and the script with a function in it."""
    source = Provenance(checkpoint="stories", text='Once "upon"\na time')
    (folder / FILE).write_bytes(check_file(block.self_attention, 3, provenance=source) if file is None else file)
    text = check_script(FILE, provenance=source)
    assert text.count(STUB) == 1
    script = folder / "check.py"
    script.write_text(text if body is None else text.replace(STUB, textwrap.indent(body, "    ")), encoding="utf-8")
    return script


def run(script: Path, *arguments: str) -> tuple[int, str, str]:
    command = [sys.executable, "-I", script.name, *arguments]
    done = subprocess.run(command, cwd=script.parent, capture_output=True, text=True, encoding="utf-8", check=False)
    return done.returncode, done.stdout, done.stderr


def test_a_right_function_passes_every_step(tmp_path, decoder):
    status, told, errors = run(home(tmp_path, decoder, RIGHT))
    assert (status, errors) == (0, "")
    assert told.splitlines() == [
        "scores: the same",
        "masked: the same",
        "weights: the same",
        "context: the same",
        "Every step that was given is right.",
    ]


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_function_learns_the_first_step_that_differs(tmp_path, decoder, name):
    before, after, step, complaint = WRONG[name]
    assert before in RIGHT
    status, told, errors = run(home(tmp_path, decoder, RIGHT.replace(before, after)))
    assert (status, errors) == (1, "")
    *_, difference, last = told.splitlines()
    assert difference.startswith(f"{step}: ")
    assert complaint in difference
    assert last == "This is the first step that differs."
    steps = list(check_at_home.EXPECTED)
    assert told.count(": the same") == steps.index(step)


def test_a_large_negative_number_in_place_of_infinity_passes_and_is_remarked(tmp_path, decoder):
    status, told, _ = run(home(tmp_path, decoder, RIGHT.replace("-np.inf", "-1e9")))
    assert status == 0
    assert "Elsewhere yours is -1e+09, not −inf: see the page Mistakes." in told


def test_where_the_mask_hides_nothing_the_last_line_says_that_it_was_not_tested(tmp_path):
    block = load_checkpoint("sentiment", device="cpu").trace("A good film").text_stack.blocks[0]
    without = RIGHT.replace("np.where(mask, scores, -np.inf)", "scores")
    for body in (RIGHT, without):
        status, told, _ = run(home(tmp_path, block, body))
        assert status == 0
        assert told.splitlines()[1] == "masked: the same, and would be without a mask"
        assert told.splitlines()[-1] == (
            "Every step that was given is right, but the mask was not tested: this head may look at every token. "
            "Download a head of a decoder's own attention, on a few tokens, to test it."
        )


def test_steps_that_are_not_given_are_passed_over(tmp_path, decoder):
    body = RIGHT.replace("return scores, masked, weights,", "return None, None, None,")
    status, told, _ = run(home(tmp_path, decoder, body))
    assert status == 0
    assert told.splitlines()[:4] == [
        "scores: not given",
        "masked: not given",
        "weights: not given",
        "context: the same",
    ]
    status, told, _ = run(home(tmp_path, decoder, "return None, None, None, None\n"))
    assert (status, told.splitlines()[-1]) == (1, "No step was given, so that nothing was compared.")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (None, "Write your function in place of the line that raises NotImplementedError"),
        ("return query\n", "has to give back four things: scores, masked, weights, context"),
    ],
)
def test_a_function_that_is_not_there_or_gives_too_little_gets_one_sentence(tmp_path, decoder, body, reason):
    status, told, errors = run(home(tmp_path, decoder, body))
    assert (status, errors, len(told.splitlines())) == (1, "", 1)
    assert reason in told


def test_without_its_file_the_script_says_so_in_one_sentence(tmp_path, decoder):
    script = home(tmp_path, decoder, RIGHT)
    (tmp_path / FILE).rename(tmp_path / "other.npz")
    status, told, errors = run(script)
    assert (status, errors, len(told.splitlines())) == (1, "", 1)
    assert f"There is no file {FILE} here." in told
    assert run(script, "other.npz")[0] == 0


def damaged(whole: bytes) -> dict[str, bytes]:
    array = Path("array.npy")
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 255
    return {
        "empty": b"",
        "cut": whole[: len(whole) // 2],
        "text": b"hello",
        "flipped": bytes(flipped),
        array.name: b"\x93NUMPY",
    }


@pytest.mark.parametrize("kind", ["empty", "cut", "text", "flipped", "array.npy"])
def test_a_damaged_file_gets_one_sentence(tmp_path, decoder, kind):
    whole = check_file(decoder.self_attention, 3, provenance=Provenance(checkpoint="stories", text="a"))
    status, told, errors = run(home(tmp_path, decoder, RIGHT, file=damaged(whole)[kind]))
    assert (status, errors, len(told.splitlines())) == (1, "", 1)
    assert "damaged or another kind" in told


def test_a_file_damaged_anywhere_never_gives_a_raw_error(tmp_path, decoder, capsys):
    whole = check_file(decoder.self_attention, 3, provenance=Provenance(checkpoint="stories", text="a"))
    generator = np.random.default_rng(0)
    for place in generator.integers(len(whole), size=200):
        broken = bytearray(whole)
        broken[place] ^= int(generator.integers(1, 256))
        (tmp_path / FILE).write_bytes(bytes(broken))
        assert check_at_home.main([str(tmp_path / FILE)]) == 1  # damaged, or the function is still to be written
        assert len(capsys.readouterr().out.splitlines()) == 1


def test_another_npz_file_is_none_of_the_script(tmp_path, capsys):
    np.savez(tmp_path / "other.npz", weights=np.eye(2))
    assert check_at_home.main([str(tmp_path / "other.npz")]) == 1
    assert "another kind" in capsys.readouterr().out


def test_tensors_that_keep_gradients_are_taken():
    assert check_at_home.numbers(torch.ones(2, requires_grad=True)).tolist() == [1, 1]


def test_the_script_needs_numpy_alone():
    spec = importlib.util.find_spec("viz.export.check_at_home")
    assert spec is not None
    assert spec.origin is not None
    imports = [
        line.split()[1].split(".")[0]
        for line in Path(spec.origin).read_text().splitlines()
        if line.startswith(("import", "from"))
    ]
    assert set(imports) - set(sys.stdlib_module_names) == {"numpy"}


# The arrays


@pytest.mark.parametrize(
    ("architecture", "changes"),
    [("encoder", {}), ("decoder", {}), ("decoder", {"kv_heads": 2}), ("decoder", {"positions": "rotary"})],
    ids=["encoder", "decoder", "shared keys", "rotary"],
)
def test_the_arrays_are_what_torchs_own_attention_makes_of_them(architecture, changes):
    trace = tiny.checkpoint(architecture, **changes).trace(tiny.TEXT)
    attention = trace.text_stack.blocks[1].self_attention
    for head in range(4):
        arrays = {name: torch.tensor(array) for name, array in check_arrays(attention, head).items()}
        query, key, value, mask = (arrays[name] for name in ("query", "key", "value", "mask"))
        expected = F.scaled_dot_product_attention(query[None], key[None], value[None], attn_mask=mask[None])[0]
        assert torch.allclose(arrays["context"], expected, rtol=0, atol=1e-5)
        assert torch.allclose(arrays["context"], attention.context[head], rtol=0, atol=1e-6)
        scores = query @ key.T / 2
        assert torch.allclose(arrays["scores"], scores, rtol=0, atol=1e-5)
        assert torch.equal(arrays["masked"].isneginf(), ~mask)
        assert torch.allclose(
            arrays["weights"], scores.masked_fill(~mask, -torch.inf).softmax(dim=-1), rtol=0, atol=1e-6
        )


def test_heads_with_another_formula_are_not_offered():
    assert can_check(tiny.config())
    assert can_check(tiny.config(score_scale=0.5))  # 1/√4, as the paper's
    for change in ({"score_scale": 1.0}, {"score_cap": 5.0}, {"positions": "alibi"}, {"positions": "relative"}):
        assert not can_check(tiny.config(**change))


def test_what_a_visitor_typed_stays_a_comment(decoder):
    text = 'a"""\nimport os\r\u2028b'
    script = check_script(FILE, provenance=Provenance(checkpoint="stories", text=text))
    assert "\nimport os" not in script
    compile(script, "check.py", "exec")
    assert f"FILE = {FILE!r}\n" in script
