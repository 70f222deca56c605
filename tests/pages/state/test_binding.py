"""What a browser that mounts a control late is told: the next run says again what the first one said."""

import pytest
from streamlit.testing.v1 import AppTest


def page() -> None:
    import streamlit as st

    from pages.parts.widgets.binding import bind, bind_text

    st.session_state["_at"] = "page"
    st.text_input("Text", **bind_text("text", "what is selected"))
    st.text_area("Long text", **bind_text("long_text", "what is selected"))
    st.number_input("Number", 0, 9, key=bind("number", 7, told=True))


@pytest.mark.parametrize("runs", [1, 2, 3])
def test_every_run_says_what_a_control_begins_with(runs):
    app = AppTest.from_function(page, default_timeout=120)
    for _ in range(runs):
        app.run()
    assert not app.exception
    assert not app.warning
    for field in (*app.text_input, *app.text_area):
        assert field.value == field.proto.default == "what is selected"
        assert field.proto.set_value == (runs == 1), "what is being typed stays"
    (number,) = app.number_input
    assert number.value == number.proto.value == 7
    assert number.proto.set_value
