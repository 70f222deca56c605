"""The sentences of the recorded stops: numbers as they are printed, options where they begin and end."""

import pytest

from model.measures.learn.records.blindfold import blindfold_record
from model.measures.learn.records.recurrence import cost_record, training_record
from model.measures.learn.recurrence.gradient_reach import GradientReach
from viz.text.learn.stops import blindfold, recurrent_network


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (7.4e-15, "7 × 10⁻¹⁵"),
        (9.7e-7, "1 × 10⁻⁶"),
        (0.0, "nothing"),
        (0.5, "50 %"),
        (0.034, "3.4 %"),
        (2.25, "2.2 times"),
        (1.0, "100 %"),
        (3e-4, "< 0.1 %"),
    ],
)
def test_a_share_is_printed_down_to_the_smallest(number, text):
    assert recurrent_network.power(number).replace("\u00a0", " ") == text


@pytest.mark.parametrize(("first", "option"), [(0.9, 0), (0.3, 1), (0.001, 2), (1e-7, 3), (0.0, 3)])
def test_the_right_option_holds_the_gradient(first, option):
    assert recurrent_network.gradient_option(GradientReach(lstm=(first, 1.0), transformer=(1.0, 1.0))) == option


@pytest.mark.parametrize(("start", "option"), [(16, 0), (32, 0), (64, 1), (256, 1), (512, 2), (1024, 2), (None, 3)])
def test_the_right_option_holds_the_length(start, option):
    assert recurrent_network.cost_option(start) == option


@pytest.mark.parametrize(("count", "back"), [(2, 1), (5, 2), (30, 14), (33, 16), (34, 32), (512, 32)])
def test_what_is_left_is_told_of_a_token_between_first_and_last(count, back):
    norms = tuple(10.0 ** (place - count) for place in range(count))
    told = recurrent_network.gradient(GradientReach(lstm=norms, transformer=norms))
    assert told["back"] == str(back)
    assert told["middle"] == recurrent_network.power(10.0**-back)


@pytest.mark.parametrize(
    ("nats", "text"), [(1.234, "1.23"), (0.0451, "0.05"), (0.00093, "0.0009"), (0.0, "less than 0.00001")]
)
def test_a_loss_is_printed_without_powers(nats, text):
    assert blindfold.loss(nats) == text


def test_the_sentences_name_the_recorded_numbers():
    record = blindfold_record()
    numbers = blindfold.losses(record)
    assert numbers["masked"] == f"{record.at('masked', -1).training_loss:.2f}"
    assert numbers["chance"] == "4.09"  # log 60
    costs = {(cost.model, cost.tokens): cost.forward_ms for cost in cost_record().costs}
    told = recurrent_network.cost(cost_record().costs, None, parameters=cost_record().models["transformer"])
    assert told["growth"] == f"{costs['transformer', 1024] / costs['transformer', 512]:.1f}"
    trained = recurrent_network.trained(training_record())
    assert trained["reviews"] == "2,513"
    assert trained["lstm_range"].count("%") == len(training_record().of("lstm"))


def test_the_table_of_parameters_has_a_row_for_each_and_bears_a_strange_card():
    card = {"evaluations": [{"what": "accuracy, all", "value": 89.28, "examples": 25_000}]}
    strange = {"evaluations": [7, {"what": 3}, {"what": "accuracy", "value": "x", "examples": None}]}
    table = recurrent_network.parameter_table(training_record(), "a|b*", 2_841_602, (card, strange), 63_082_496)
    assert len(table.splitlines()) == 9
    assert "2,841,602 | 89.3\u00a0% of 25,000" in table
    assert "63.1\u00a0M" in table
    assert "a\\|b\\*" in table
