"""The formula of a model: what its config names stands in it, what it lacks does not, and each part is one switch."""

import json
from typing import Any

import pytest

from model.measures.one_weight import STEPS
from tests import tiny
from tests.pages.test_every_page import component, opened
from viz.formula import Site, Switch, formula, has_step, with_step, with_switches

PARTS = ("positions", "norm", "uniform", "scale", "unmask", "residual", "mute")


def written(config: Any, attention: str = "encoder", **place: int) -> list[str]:
    """Every equation in one line, without the spaces that only set it."""
    groups = with_switches(formula(config, Site(attention=attention, **place)), {})
    lines = [line for group in groups for line in group["lines"]]
    return ["".join(term["notation"] for term in line["terms"]).replace(" ", "") for line in lines]


def parts(config: Any, attention: str = "encoder") -> set[str]:
    groups = formula(config, Site(attention=attention))
    return {term.part for group in groups for line in group.lines for term in line.terms} - {""}


def test_a_pre_norm_encoder_norms_what_its_sublayers_read_and_the_end():
    config = tiny.config(norm_order="pre", norm="rms", labels=("bad", "good"), scale_embeddings=False)
    assert written(config, head=1) == [
        "x=E[word]+P",
        "z=RMSNorm(x),Q=zW_Q,K=zW_K,V=zW_V",
        "A=softmax(QK^T/√d_k)",
        "x←x+[…A_{2}V_{2}…A_{4}V_{4}]W_O",
        "x←x+FFN(RMSNorm(x))",
        "verdict=softmax(mean(RMSNorm(x))W)",
    ]


def test_a_post_norm_encoder_norms_each_sum():
    assert written(tiny.config(norm_order="post")) == [
        "x=√dE[word]+P",
        "Q=xW_Q,K=xW_K,V=xW_V",
        "A=softmax(QK^T/√d_k)",
        "x←LayerNorm(x+[A_{1}V_{1}…A_{4}V_{4}]W_O)",
        "x←LayerNorm(x+FFN(x))",
    ]


def test_a_causal_model_has_a_mask_and_says_the_next_token():
    config = tiny.config("decoder", norm_order="pre", tie_embeddings=False)
    lines = written(config, "decoder")
    assert "A=softmax(QK^T/√d_k+M)" in lines
    assert lines[-1] == "nexttoken=softmax(LayerNorm(x)W)"
    assert "unmask" in parts(config, "decoder")
    assert "unmask" not in parts(tiny.config())


@pytest.mark.parametrize(
    ("positions", "line", "pressed"),
    [
        ("none", "x=√dE[word]", False),
        ("sinusoidal", "x=√dE[word]+P", True),
        ("learned", "x=√dE[word]+P", True),
        ("rotary", "Q=RxW_Q,K=RxW_K,V=xW_V", True),
        ("alibi", "A=softmax(QK^T/√d_k+B)", True),
        ("relative", "A=softmax(QK^T/√d_k+B)", True),
    ],
)
def test_positions_stand_where_the_model_puts_them(positions, line, pressed):
    config = tiny.config(positions=positions)
    assert line in written(config)
    assert ("positions" in parts(config)) == pressed


def test_a_model_that_never_scales_has_no_scale_to_take_out():
    assert "A=softmax(QK^T)" in written(tiny.config(score_scale=1.0))
    assert "scale" not in parts(tiny.config(score_scale=1.0))
    assert "A=softmax(QK^T·0.1)" in written(tiny.config(score_scale=0.1))


@pytest.mark.parametrize(("scale", "factor"), [(None, "/(√d_k·layer)"), (1.0, "/layer"), (0.1, "·0.1/layer")])
def test_a_scale_of_its_own_in_each_layer_is_written_with_the_layer(scale, factor):
    config = tiny.config(score_scale=scale, score_scale_by_layer=True)
    assert f"A=softmax(QK^T{factor})" in written(config)
    assert "scale" in parts(config)


@pytest.mark.parametrize(
    ("order", "line"),
    [
        ("both", "x←x+LayerNorm([A_{1}V_{1}…A_{4}V_{4}]W_O)"),
        ("parallel", "x←x+[A_{1}V_{1}…A_{4}V_{4}]W_O+FFN(LayerNorm(x))"),
    ],
)
def test_other_orders_of_norms_are_written_as_they_are_computed(order, line):
    assert line in written(tiny.config(norm_order=order))


def test_a_pair_has_two_stacks_and_the_site_decides_which_residual_is_taken_out():
    config = tiny.config("encoder-decoder", decoder_layers=1)
    groups = formula(config, Site(attention="cross"))
    assert [group.words for group in groups[1:3]] == ["Encoder, each of 2 layers", "Decoder, the layer"]
    assert "Q=yW_Q,K=xW_K,V=xW_V,A=softmax(QK^T/√d_k)" in written(config, "cross")
    for attention, name in (("encoder", "encoder"), ("decoder", "decoder"), ("cross", "cross")):
        lines = [line for group in formula(config, Site(attention=attention)) for line in group.lines]
        (line,) = [line for line in lines if any(term.part == "residual" for term in line.terms)]
        assert line.attention == name


def test_every_part_is_one_switch_and_is_struck_through_wherever_it_stands():
    config = tiny.config("encoder-decoder")
    switches = {name: Switch(result=name.upper(), chosen=name == "norm", out=name == "norm") for name in PARTS}
    groups = with_switches(formula(config, Site(attention="cross")), switches)
    terms = [term for group in groups for line in group["lines"] for term in line["terms"]]
    pressed = [term for term in terms if "part" in term]
    assert sorted(term["part"] for term in pressed) == sorted(PARTS)
    assert all(term["result"] == term["part"].upper() for term in pressed)
    struck = [term["notation"] for term in terms if term.get("out")]
    assert struck == ["LayerNorm"] * 5
    assert [term["part"] for term in pressed if term["chosen"]] == ["norm"]


@pytest.mark.parametrize("order", ["pre", "post", "both", "parallel"])
@pytest.mark.parametrize("positions", ["learned", "rotary", "alibi"])
def test_the_steps_to_a_weight_are_marked_in_its_own_attention(order, positions):
    config = tiny.config("decoder", norm_order=order, positions=positions)
    absent = set() if positions == "learned" else {"position"}
    absent |= {"norm", "last-norm"} if order == "post" else set()
    absent |= {"pooling"}  # which a decoder does not do
    for step in STEPS:
        assert has_step(with_step(formula(config, Site(attention="decoder")), "decoder", step)) == (step not in absent)


MARKS = [("last-norm", ["LayerNorm"]), ("pooling", ["mean(", ")"]), ("logits", ["W"]), ("answer", ["softmax("])]


@pytest.mark.parametrize(("step", "notations"), MARKS)
def test_the_steps_to_the_answer_are_marked_in_the_last_line(step, notations):
    config = tiny.config(norm_order="pre", labels=("bad", "good"))
    groups = with_step(formula(config, Site()), "encoder", step)
    *layers, output = [[term for line in group["lines"] for term in line["terms"]] for group in groups]
    assert [term["notation"] for term in output if term.get("present")] == notations
    assert not any("present" in term for terms in layers for term in terms)


def test_the_last_norm_of_an_encoder_is_not_marked_where_that_of_its_decoder_stands():
    groups = formula(tiny.config("encoder-decoder", norm_order="pre"), Site())
    assert not has_step(with_step(groups, "encoder", "last-norm"))
    assert has_step(with_step(groups, "cross", "last-norm"))


def test_a_step_marks_its_term_and_no_other():
    groups = with_step(formula(tiny.config("encoder-decoder"), Site(attention="cross")), "cross", "softmax")
    terms = [term for group in groups for line in group["lines"] for term in line["terms"]]
    assert [term["notation"] for term in terms if term.get("present")] == ["softmax"]
    assert not any("Encoder" in group["words"] for group in groups)


@pytest.mark.parametrize(("step", "notations"), [("softmax", ["softmax"]), ("scale", ["/ √d_k"]), ("mask", [])])
def test_inside_a_head_marks_the_present_step_at_both_depths(step, notations):
    for depth in ("idea", "numbers"):
        app = opened("inside.py", step=step, depth=depth)
        groups = json.loads(component(app, "headlight_formula").json)["groups"]
        terms = [term for group in groups for line in group["lines"] for term in line["terms"]]
        assert [term["notation"] for term in terms if term.get("present")] == notations
        assert not any("part" in term for term in terms)
        assert any(text.value.startswith("This model's formula has no term") for text in app.markdown) == (
            not notations
        )
