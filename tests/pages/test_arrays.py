"""The page Your arrays: the worked example, a visitor's files one after the other, and what an address can carry."""

from typing import Any

import numpy as np
import pytest

from model import load_checkpoint
from pages.parts.arrays.opened_file import NAMED, OPENED, FilesInMemory, OpenedFile
from pages.parts.explore.explorer_panel import packed_cache
from pages.parts.state.selection import EXAMPLES
from tests.first_example import LOVED
from tests.model.loading.test_attention_arrays import TOKENS, WEIGHTS, npz, random_weights
from tests.pages.test_every_page import ask, component, follow, link, one_refusal, opened, picture
from viz.export.array_script import SAVING
from viz.tokens import visible

PAGE = "arrays.py"
BYTE = 0.004
HOSTILE = ["<img src=x onerror=alert(1)>", "**bold**", "$x$", "[a](//example.org)", "\u202e\u200b😀"]
GOOD = npz(weights=WEIGHTS, tokens=np.array(TOKENS))
LINKED = "No address carries a file"


def whole(app: Any) -> Any:
    assert not app.exception
    assert not app.error
    return app


def uploaded(app: Any, content: bytes, name: str = "mine.npz") -> Any:
    """The page after a visitor chose a file."""
    app.file_uploader[0].set_value((name, content, "application/octet-stream"))
    return app.run()


def by_menu(app: Any, page: str) -> Any:
    """Another page by its link in the sidebar, which names no more than the page."""
    app.query_params.clear()
    return whole(app.switch_page(f"pages/{page}.py").run())


def texts(app: Any) -> str:
    return "\n".join(each.value for each in (*app.title, *app.caption, *app.markdown)).replace("\\", "")


def has_weights(app: Any, weights: np.ndarray) -> bool:
    """Whether the explorer was sent these numbers."""
    layers = picture(app)["layers"]
    assert len(layers) == len(weights)
    return all(np.abs(sent - weights[layer]).max() <= BYTE for (_, layer), sent in layers.items())


def test_it_opens_on_an_example_with_the_models_own_numbers_and_says_so():
    app = whole(opened(PAGE))
    trace: Any = load_checkpoint("sentiment").trace(EXAMPLES[0])
    assert has_weights(app, trace.encoder.weights().numpy())
    assert "A worked example, made just now with the model sentiment" in texts(app)
    assert app.title[0].value.replace("\\", "") == f"Every token looks at “{trace.encoder.names()[LOVED]}”."
    assert component(app, "headlight_bar") is not None
    assert picture(app)["header"]["texts"]["encoder"]["tokens"] == [visible(token) for token in trace.encoder.names()]


def test_a_file_takes_the_place_of_the_example_with_its_own_numbers():
    app = whole(uploaded(opened(PAGE), GOOD))
    assert has_weights(app, WEIGHTS)
    assert "mine.npz: 2 layers with 3 heads each, 5 tokens." in texts(app)
    assert "worked example" not in texts(app)
    exact = ask(app, layer=1, query=2)
    assert np.array_equal(np.array(exact["heads"]["1"], np.float32), WEIGHTS[1, 1, 2])


def test_cross_attention_and_its_two_texts():
    weights = random_weights(2, 3, 3, 5)
    app = whole(uploaded(opened(PAGE), npz(weights=weights, tokens=np.array(TOKENS[:3]), keys=np.array(TOKENS))))
    assert has_weights(app, weights)
    assert picture(app)["view"]["attention"] == "cross"
    assert "3 tokens and 5 keys" in texts(app)


def test_a_bad_file_gets_a_sentence_and_a_good_one_after_it_is_shown():
    weights = WEIGHTS.copy()
    weights[1, 2, 3, 4] = np.nan
    app = uploaded(opened(PAGE), npz(weights=weights, tokens=np.array(TOKENS)))
    assert "layer 2, head 3, query 4, key 5" in one_refusal(app).replace("\\", "")
    assert app.title[0].value == "What do the heads of another program look at?"
    assert has_weights(whole(uploaded(app, GOOD, "better.npz")), WEIGHTS)
    app.file_uploader[0].set_value(None)
    assert "A worked example" in texts(whole(app.run()))


def test_rows_that_do_not_add_up_are_said():
    weights = WEIGHTS.copy()
    weights[1, 2, 3] *= 0.5
    app = whole(uploaded(opened(PAGE), npz(weights=weights, tokens=np.array(TOKENS))))
    assert "One row does not add up to 1 and is shown as it is: query 4 in layer 2, head 3" in texts(app)


def test_hostile_tokens_and_names_stay_text():
    app = whole(uploaded(opened(PAGE), npz(weights=WEIGHTS, tokens=np.array(HOSTILE)), "<b>*x* $y$.npz"))
    assert picture(app)["header"]["texts"]["encoder"]["tokens"] == [visible(token) for token in HOSTILE]
    for each in (*app.title, *app.caption, *app.markdown):
        if "import numpy" not in each.value:
            assert "<img" not in each.value.replace("\\<img", "")
            assert "](//example" not in each.value
            assert "<b>" not in each.value.replace("\\<b", "")


def test_the_file_stays_while_other_pages_are_looked_at_and_each_keeps_its_layers_and_heads():
    app = opened(layer="3", off="3.0", mute="1")
    app = by_menu(app, "arrays")
    assert (picture(app)["view"]["layer"], picture(app)["view"]["off"]) == (0, [])
    app = uploaded(app, npz(weights=random_weights(6, 2, 5, 5), tokens=np.array(TOKENS)))
    app.session_state["_chosen"] |= {"layer": 5}
    app.session_state["_touched"] = True
    app.run()
    assert picture(app)["view"]["layer"] == 5
    app = by_menu(app, "explore")
    assert (picture(app)["view"]["layer"], picture(app)["view"]["off"]) == (3, [[3, 0]])
    assert app.toggle(key="mute").value
    assert "arrays" not in app.query_params
    app = by_menu(app, "arrays")
    assert picture(app)["view"]["layer"] == 5
    assert "mine.npz" in texts(app)
    assert "layer=3" in link(app, "Next: Explore, from the beginning").query_string
    assert picture(whole(follow(app, "Next: Explore, from the beginning")))["view"]["layer"] == 3


def test_another_file_is_not_shown_with_the_heads_of_the_one_before():
    app = uploaded(opened(PAGE), npz(weights=random_weights(6, 2, 5, 5), tokens=np.array(TOKENS)))
    app.session_state["_chosen"] |= {"layer": 1, "off": frozenset({(1, 0)}), "query": 2}
    app.session_state["_touched"] = True
    assert picture(app.run())["view"]["layer"] == 1
    app = whole(uploaded(app, GOOD))
    view = picture(app)["view"]
    assert (view["layer"], view["off"], view["query"]) == (0, [], None)
    assert app.query_params["arrays"] in ("own.1", ["own.1"])


def test_an_address_of_a_file_says_that_the_file_stayed_with_its_visitor_and_waits_for_it():
    large = npz(weights=random_weights(7, 2, 5, 5), tokens=np.array(TOKENS))
    app = whole(opened(PAGE, arrays="own.1", layer="6", off="6.1", query="3"))
    assert [LINKED in info.value for info in app.info] == [True]
    assert "A worked example" in texts(app)
    assert app.query_params["layer"] in ("6", ["6"])
    app = whole(uploaded(app, large))
    view = picture(app)["view"]
    assert (view["layer"], view["off"], view["query"]) == (6, [[6, 1]], 3)
    assert not app.info


def test_without_a_file_no_address_says_that_there_is_one():
    app = whole(opened(PAGE, layer="2"))
    assert not app.info
    assert picture(app)["view"]["layer"] == 2
    assert "arrays" not in app.query_params


def test_the_page_opens_on_the_file_that_the_server_was_started_with(tmp_path, monkeypatch):
    file = tmp_path / "started.npz"
    file.write_bytes(GOOD)
    monkeypatch.setenv(NAMED, str(file))
    app = whole(opened(PAGE))
    assert has_weights(app, WEIGHTS)
    assert "started.npz" in texts(app)
    assert str(tmp_path) not in texts(app)
    file.write_bytes(npz(weights=1 - WEIGHTS, tokens=np.array(TOKENS)))
    assert has_weights(app.run(), 1 - WEIGHTS)
    other = whole(uploaded(app, npz(weights=WEIGHTS[:1], tokens=np.array(TOKENS))))
    assert has_weights(other, WEIGHTS[:1])
    for content in (None, b"nonsense"):
        file.unlink() if content is None else file.write_bytes(content)
        assert one_refusal(opened(PAGE))


def test_a_visitors_file_is_in_no_cache_that_others_share():
    packed_cache.clear()
    app = whole(uploaded(opened(PAGE), GOOD))
    assert not packed_cache().values
    assert app.session_state[OPENED].packed.values


def test_what_is_below_tells_what_a_file_holds_and_gives_the_script():
    app = whole(opened(PAGE))
    assert [code.value for code in app.code] == [SAVING.strip()]
    assert "`weights` | layer, head, query, key" in texts(app)


def test_alone_the_picture_has_no_field_for_a_file():
    app = whole(opened(PAGE, view="picture"))
    assert not app.file_uploader
    assert picture(app) is None


# Files in memory


def a_file(number: int, read: list[int]) -> OpenedFile:
    def content() -> bytes:
        read.append(number)
        return GOOD

    return OpenedFile(("upload", number), f"{number}.npz", content)


def test_files_take_no_more_memory_than_there_is_for_them_and_come_back_when_they_are_needed():
    memory = FilesInMemory(3 * WEIGHTS.nbytes)
    read: list[int] = []
    files = [a_file(number, read) for number in range(5)]
    for file in files:
        memory.arrays_of(file)
    assert [file.arrays is not None for file in files] == [False, False, True, True, True]
    memory.arrays_of(files[2])
    assert np.array_equal(memory.arrays_of(files[0]).attentions["encoder"].weights, WEIGHTS)
    assert [file.arrays is not None for file in files] == [True, False, True, False, True]
    assert read == [0, 1, 2, 3, 4, 0]


def test_what_no_session_holds_any_longer_is_gone():
    memory = FilesInMemory(10 * WEIGHTS.nbytes)
    file = a_file(0, [])
    memory.arrays_of(file)
    del file
    assert [each() for each in memory.used] == [None]


def test_a_refusal_is_not_computed_twice():
    read: list[int] = []
    file = a_file(0, read)
    file.read = lambda: bytes(read.append(1) or b"x")  # type: ignore[func-returns-value]
    for _ in range(2):
        with pytest.raises(ValueError, match="neither NPZ nor safetensors"):
            FilesInMemory(1).arrays_of(file)
    assert read == [1]
