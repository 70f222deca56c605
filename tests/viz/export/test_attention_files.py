"""Attention of other programs in the explorer: in a notebook, in files, and by the script that saves such a file."""

import io
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from model import InputError
from model.loading.attention_arrays import AttentionArrays, attention_of, read_attention
from model.loading.checkpoint_files import TOKENIZER
from tests import reference, tiny
from tests.kinds import BART, BERT, GPT2
from tests.model.loading.test_attention_arrays import TOKENS, WEIGHTS, npz, random_weights
from tests.scripts import run_script
from tests.viz.explorer.test_packing import BYTE
from viz.explorer import View, html_page, show
from viz.explorer.attention_kinds import kinds_of_arrays
from viz.explorer.packing import pack, unpack
from viz.explorer.standalone import page_of
from viz.explorer.svg.picture import svg
from viz.explorer.view import SHOWS
from viz.export.array_script import SAVING, showing_script
from viz.export.data_files import kinds_npz, selection_csv, selection_json, trace_npz
from viz.export.provenance import FileProvenance, Provenance

HOSTILE = ["<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "=1+1", "\u202eabc", "\x00"]
SOURCE = FileProvenance(checkpoint="a.npz", text="the cat", sha256="0123456789abcdef")


def kinds(weights: Any = WEIGHTS, tokens: Any = TOKENS, keys: Any = None):
    return kinds_of_arrays(attention_of(weights, tokens, keys))


def test_a_notebook_shows_weights_with_their_tokens():
    assert show(WEIGHTS, TOKENS).page == page_of(kinds())
    view = View(layer=1, show="matrix")
    assert show(WEIGHTS, TOKENS, view=view).page == html_page(WEIGHTS, TOKENS, view=view) == page_of(kinds(), view)
    cross = random_weights(2, 3, 3, 5)
    assert show(cross, TOKENS[:3], TOKENS).page == page_of(kinds(cross, TOKENS[:3], TOKENS))
    assert show(attention_of(WEIGHTS, TOKENS), view).page == page_of(kinds(), view)
    with pytest.raises(InputError, match="5 queries, but there are 2 tokens"):
        show(WEIGHTS, TOKENS[:2])
    with pytest.raises(TypeError, match="tokens are missing"):
        show(WEIGHTS)


def test_the_browser_is_sent_every_weight():
    for weights, tokens, keys in (
        (WEIGHTS, TOKENS, None),
        (random_weights(2, 3, 5, 5, causal=True), TOKENS, None),
        (random_weights(2, 3, 3, 5), TOKENS[:3], TOKENS),
    ):
        sent = unpack(pack(kinds(weights, tokens, keys)))
        assert len(sent.layers) == 2
        for (_, layer), numbers in sent.layers.items():
            assert np.abs(numbers - weights[layer]).max() <= BYTE


def test_usual_names_count_as_special_and_no_other_token():
    (kind,) = kinds(WEIGHTS, ["[CLS]", "the", "<img>", "[UNK]", "</s>"]).values()
    assert kind.keys.special == (True, False, False, False, True)
    assert kind.queries is kind.keys
    assert next(iter(kinds().values())).keys.special is None


@pytest.mark.parametrize("show_as", SHOWS)
def test_every_view_is_drawn_and_no_token_becomes_markup(show_as):
    for chosen in (kinds(WEIGHTS, HOSTILE), kinds(random_weights(2, 3, 5, 3), HOSTILE, TOKENS[:3])):
        picture = svg(chosen, View(attention=next(iter(chosen)), show=show_as), provenance=SOURCE)
        assert "<img" not in picture
        assert "<script" not in picture
    page = page_of(kinds(WEIGHTS, HOSTILE), provenance=SOURCE)
    assert "<img" not in page
    assert page.count("</script>") == 4


def test_what_is_saved_is_read_again():
    chosen = kinds_of_arrays(
        read_attention(
            npz(
                encoder_weights=WEIGHTS,
                decoder_weights=random_weights(1, 2, 3, 3, causal=True),
                cross_weights=random_weights(1, 2, 3, 5),
                encoder_tokens=np.array(TOKENS),
                decoder_tokens=np.array(TOKENS[:3]),
            )
        )
    )
    again = kinds_of_arrays(read_attention(kinds_npz(chosen, provenance=SOURCE)))
    assert list(again) == list(chosen)
    for name, kind in chosen.items():
        assert np.array_equal(np.stack(again[name].weights), np.stack(kind.weights))
        assert (again[name].queries, again[name].keys, again[name].causal) == (kind.queries, kind.keys, kind.causal)


def test_what_headlight_saves_of_a_trace_opens_too():
    trace = tiny.checkpoint("encoder-decoder").trace("the dog bit the man .", target="a cat saw")
    arrays = read_attention(trace_npz(trace, provenance=Provenance(checkpoint="tiny", text="the dog")))
    assert np.array_equal(arrays.attentions["cross"].weights, trace.decoder.cross_weights().numpy())
    assert arrays.attentions["cross"].keys == trace.encoder.names()


def test_csv_and_json_have_the_facts_of_a_file_and_none_of_a_checkpoint():
    (kind,) = kinds(WEIGHTS, HOSTILE).values()
    csv, json = selection_csv(kind, View(), provenance=SOURCE), selection_json(kind, View(), provenance=SOURCE)
    for content in (csv, json):
        text = content.decode("utf-8")
        assert "0123456789abcdef" in text
        assert "edits" not in text
        assert "checkpoint" not in text
    assert b"'=1+1" in csv


def test_the_script_of_a_view_opens_the_file_and_draws_the_view_again(tmp_path, monkeypatch):
    file = tmp_path / 'it\'s """odd""".npz'
    file.write_bytes(npz(weights=WEIGHTS, tokens=np.array(TOKENS)))
    view = View(layer=1, show="matrix", off=frozenset({(1, 0)}))
    code = showing_script(str(file), "the file that was open", view, SOURCE)
    page = tmp_path / "attention.html"
    ran = run_script(code.replace('"attention.html"', repr(str(page))))
    assert ran.returncode == 0, ran.stderr
    assert page.read_text(encoding="utf-8") == page_of(kinds(), view)


# The script that saves a file


def folder_of(root: Path, kind: str, fields: dict[str, Any]) -> Path:
    """A tiny random model with its tokenizer, as transformers saves both."""
    reference.make(kind, root, **fields)
    tiny.tokenizer().save(root / TOKENIZER)
    transformers.PreTrainedTokenizerFast(tokenizer_file=str(root / TOKENIZER), pad_token="[PAD]").save_pretrained(root)
    return root


def saved(patch: pytest.MonkeyPatch, folder: Path, *arguments: str) -> AttentionArrays:
    """What the script writes, run as a person runs it, but for the process."""
    (folder / "save_attention.py").write_text(SAVING, encoding="utf-8")
    patch.chdir(folder)
    patch.setattr(sys, "argv", ["save_attention.py", ".", *arguments])
    runpy.run_path("save_attention.py", run_name="__main__")
    return read_attention(folder / "attention.npz")


@pytest.mark.parametrize(
    ("kind", "fields", "name"), [("GPT2LMHeadModel", GPT2, "decoder"), ("BertForMaskedLM", BERT, "encoder")]
)
def test_the_script_saves_the_numbers_of_transformers(tmp_path, monkeypatch, kind, fields, name):
    folder, text = folder_of(tmp_path, kind, fields), "the dog bit the man ."
    arrays = saved(monkeypatch, folder, text)
    assert list(arrays.attentions) == [name]
    assert arrays.notes == ()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    ids = tokenizer(text, return_tensors="pt").input_ids
    with torch.no_grad():
        expected = model(input_ids=ids, output_attentions=True).attentions
    assert arrays.attentions[name].queries == tuple(tokenizer.convert_ids_to_tokens(ids[0].tolist()))
    sent = unpack(pack(kinds_of_arrays(arrays)))
    for layer, attention in enumerate(expected):
        assert np.array_equal(arrays.attentions[name].weights[layer], attention[0].numpy())
        assert np.abs(sent.layers[name, layer] - attention[0].numpy()).max() <= BYTE
    assert show(expected, arrays.attentions[name].queries).page == show(arrays).page


def test_the_script_saves_all_three_attentions_of_an_encoder_decoder(tmp_path, monkeypatch):
    folder = folder_of(tmp_path, "BartForConditionalGeneration", BART)
    text, target = "the dog bit the man .", "a cat saw"
    arrays = saved(monkeypatch, folder, text, target)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    ids, written = (tokenizer(each, return_tensors="pt").input_ids for each in (text, target))
    read = torch.tensor([[BART["decoder_start_token_id"], *written[0, :-1].tolist()]])
    with torch.no_grad():
        out = model(input_ids=ids, decoder_input_ids=read, output_attentions=True)
    for name, expected in (
        ("encoder", out.encoder_attentions), ("decoder", out.decoder_attentions), ("cross", out.cross_attentions)
    ):  # fmt: skip
        assert np.array_equal(arrays.attentions[name].weights, torch.cat(expected).numpy())
    assert arrays.attentions["decoder"].causal
    assert arrays.attentions["cross"].queries == tuple(tokenizer.convert_ids_to_tokens(read[0].tolist()))
    assert arrays.attentions["cross"].keys == tuple(tokenizer.convert_ids_to_tokens(ids[0].tolist()))


def test_the_script_is_short():
    assert len([line for line in SAVING.splitlines() if line.strip()]) <= 30
    assert io.StringIO(SAVING).readline().startswith('"""')
