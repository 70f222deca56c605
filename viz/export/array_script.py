"""Scripts about attention in a file: one saves such a file from a model of transformers, one shows it again."""

from viz.explorer.snippet import settings
from viz.explorer.view import View
from viz.export.package_check import package_check
from viz.export.provenance import FileProvenance, comment

# Run by the tests as it stands, and shown on the page.
SAVING = '''\
"""python save_attention.py gpt2 "A sentence." writes attention.npz. Needs: pip install torch transformers"""

import sys

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer

name, text, *target = sys.argv[1:]
tokenizer = AutoTokenizer.from_pretrained(name)
model = AutoModel.from_pretrained(name, attn_implementation="eager").eval()
inputs, tokens = tokenizer(text, return_tensors="pt"), tokenizer.convert_ids_to_tokens


def stack(attentions):  # one (1, head, query, key) a layer; of one sentence, so that nothing is padded
    return torch.cat(attentions).float().numpy()


with torch.no_grad():
    if model.config.is_encoder_decoder:
        assert target, "This model has a decoder: add the text that it reads as a third argument."
        start = torch.tensor([[model.config.decoder_start_token_id]])
        ids = torch.cat([start, tokenizer(text_target=target[0], return_tensors="pt").input_ids], dim=1)[:, :-1]
        out = model(input_ids=inputs.input_ids, decoder_input_ids=ids, output_attentions=True)
        arrays = {"encoder_weights": stack(out.encoder_attentions), "decoder_weights": stack(out.decoder_attentions)}
        arrays |= {"cross_weights": stack(out.cross_attentions), "encoder_tokens": tokens(inputs.input_ids[0])}
        arrays |= {"decoder_tokens": tokens(ids[0])}
    else:
        out = model(**inputs, output_attentions=True)
        arrays = {"weights": stack(out.attentions), "tokens": tokens(inputs.input_ids[0])}
np.savez_compressed("attention.npz", **arrays)
'''

SHOWING = '''\
"""Attention of another program. Run this in the folder of the file that it reads, or in a notebook there."""

{facts}{check}from pathlib import Path

from model.loading.attention_arrays import read_attention
from viz.explorer import View, html_page, show

attention = read_attention({file!r})  # {origin}
view = View({view})

# As a web page of its own, which needs no network:
Path("attention.html").write_text(html_page(attention, view), encoding="utf-8")

# In a notebook:
show(attention, view)
'''


def showing_script(file: str, origin: str, view: View, provenance: FileProvenance) -> str:
    """A script that opens the file of this name and shows the view of it. origin: where such a file comes from."""
    facts, check = comment(provenance), package_check("model", "viz")
    return SHOWING.format(file=file, origin=origin, facts=facts, check=check, view=settings(view))
