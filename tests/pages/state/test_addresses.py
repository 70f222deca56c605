"""Addresses that people have kept: whatever they name is still shown when they are opened.

Written down as the app wrote them, before the code that reads them was changed, and a few as somebody types them. Every
value in them is looked for on the screen: on a control, in what the explorer is told, or in the words of the page.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from model.edits.address_form import FORMS
from tests import reference, tiny
from tests.kinds import BERT
from tests.walk import heading
from viz.explorer import View
from viz.walkthrough.step_sentences import TITLES as STEPS

APP = Path(__file__).parents[3] / "app.py"


class Control(NamedTuple):
    """What a control with this label shows, or a pattern of it; of a list the words of the chosen entry."""

    label: str
    value: str | float | list[str] | re.Pattern[str]


class Told(NamedTuple):
    """What the explorer is told to show, under the name that the value has in the address."""

    value: str | float | list[list[int]]


class Said(NamedTuple):
    """Words that stand somewhere on the page."""

    words: str


Sight = Control | Told | Said


class Address(NamedTuple):
    """A page ("" for the first, which opens at /), a query string, and what is seen of every value in it."""

    page: str
    query: str
    seen: dict[str, Sight | list[Sight]]


ADDRESSES = [
    # Explore, as the first page and under its own name
    Address(
        "",
        "text=The+acting+is+not+bad+at+all.&layer=2&off=2.0_2.2-3_2.5-7&query=4&key=7",
        {
            "text": Control("Text", "The acting is not bad at all."),
            "layer": Said("the 2 heads of layer 3 that are on"),
            "off": Told([[2, 0], [2, 2], [2, 3], [2, 5], [2, 6], [2, 7]]),
            "query": Told(4),
            "key": Told(7),
        },
    ),
    Address(
        "",
        "text=Rock+%26+roll%3A+1+%2B+1+%3D+2%2C+%22isn%27t+it%22%3F&show=matrix",
        {"text": Control("Text", 'Rock & roll: 1 + 1 = 2, "isn\'t it"?'), "show": Told("matrix")},
    ),
    Address(
        "explore",
        "text=%C3%9Cberraschend+sch%C3%B6n+%F0%9F%98%80%F0%9F%91%A9%E2%80%8D%F0%9F%91%A7&layer=3&off=3.0-6",
        {
            "text": Control("Text", "Überraschend schön 😀👩\u200d👧"),
            "layer": Said("Over all queries, head 8 of layer 4 "),
            "off": [Told([[3, head] for head in range(7)]), Said("Over all queries, head 8 of layer 4 ")],
        },
    ),
    Address(
        "explore",
        "text=50%25%20of%20a%20film%2C%20a%20%23hash%20%26layer%3D1%3B%20and%20a%2Fb%3F&show=grid",
        {"text": Control("Text", "50% of a film, a #hash &layer=1; and a/b?"), "show": Told("grid")},
    ),
    Address(
        "explore",
        "show=lines&threshold=0.05&top=3&scale=linear&maximum=shared&colours=grey&measure=texts.broad&order=measure",
        {
            "measure": Told("texts.broad"),
            "order": Told("measure"),
            "show": Told("lines"),
            "threshold": Told(0.05),
            "top": Told(3),
            "scale": Told("linear"),
            "maximum": Told("shared"),
            "colours": Told("grey"),
        },
    ),
    Address(
        "explore",
        "text=Unforgettably+overcomplicated+films&layer=3&show=text&special=hidden&words=1&scale=log&maximum=head"
        "&colours=orange",
        {
            "text": Control("Text", "Unforgettably overcomplicated films"),
            "layer": [Told(3), Said("the 8 heads of layer 4 ")],
            "show": Told("text"),
            "special": Told("hidden"),
            "words": [Told(True), Said("word 4–7 · overcomplicated")],
            "scale": Told("log"),
            "maximum": Told("head"),
            "colours": Told("orange"),
        },
    ),
    Address(
        "explore",
        "layer=1&off=0.1_1.2-4_3.7&mute=1",
        {
            "layer": [Told(1), Said("the 5 heads of layer 2 ")],
            "off": Told([[0, 1], [1, 2], [1, 3], [1, 4], [3, 7]]),
            "mute": [Control("Mute the heads that are off", True), Said("Prediction with heads muted")],
        },
    ),
    Address(
        "explore",
        "across=self&up=next&show=table&threshold=0.000125",
        {
            "across": Control("Horizontal axis", "weight on the token itself"),
            "up": Control("Vertical axis and colour", "weight on the next token"),
            "show": Told("table"),
            "threshold": Told(0.000125),
        },
    ),
    Address(
        "explore",
        "text=Two+lines%0Aof+text%2C+%3Cb%3Ebold%3C%2Fb%3E+%2A%2Aand+not%2A%2A&across=distance&up=punctuation",
        {
            "text": Control("Text", "Two lines\nof text, <b>bold</b> **and not**"),
            "across": Control("Horizontal axis", "mean distance (tokens)"),
            "up": Control("Vertical axis and colour", "weight on punctuation"),
        },
    ),
    Address(
        "explore",
        "text=How+long+have+you+been+waiting+here%3F&checkpoint=translate-en-fr&attention=cross&layer=2&off=2.0-6"
        "&query=1&key=3&across=special&up=punctuation&special=renormalised",
        {
            "text": Control("Text", "How long have you been waiting here?"),
            "checkpoint": Control("Checkpoint", "translate-en-fr"),
            "attention": Told("cross"),
            "layer": [Told(2), Said("Over all queries, head 8 of layer 3 ")],
            "off": Told([[2, head] for head in range(7)]),
            "query": Told(1),
            "key": Told(3),
            "across": Control("Horizontal axis", "weight on special tokens"),
            "up": Control("Vertical axis and colour", "weight on punctuation"),
            "special": Told("renormalised"),
        },
    ),
    Address(
        "explore",
        "text=She+gave+her+brother+the+book.&checkpoint=translate-en-fr&attention=decoder&layer=1",
        {
            "text": Control("Text", "She gave her brother the book."),
            "checkpoint": Control("Checkpoint", "translate-en-fr"),
            "attention": Told("decoder"),
            "layer": [Told(1), Said("the 8 heads of layer 2 ")],
        },
    ),
    Address(
        "explore",
        "text=%22Hello%22%2C+said+the+b%C3%A4r+%26+left.&checkpoint=stories&attention=decoder&layer=5&across=first"
        "&up=previous",
        {
            "text": Control("Text", '"Hello", said the bär & left.'),
            "checkpoint": Control("Checkpoint", "stories"),
            "attention": Told("decoder"),
            "layer": [Told(5), Said("the 8 heads of layer 6 ")],
            "across": Control("Horizontal axis", "weight on the first token"),
            "up": Control("Vertical axis and colour", "weight on the previous token"),
        },
    ),
    Address(
        "explore",
        "layer=2&edits=unplace_e~scale_1",
        {
            "layer": [Told(2), Said("the 8 heads of layer 3 ")],
            "edits": Said(
                "Edits kept on the page Break the formula: q·k × 1 in place of the model's scale, no positions."
            ),
        },
    ),
    # Inside a head: every step; the whole head, with which it opens, needs no name
    Address("inside", "step=layers", {"step": Said("Step 14 of 18: later layers")}),
    Address("inside", "step=last-norm", {"step": Said("Step 15 of 18: last norm")}),
    Address("inside", "step=pooling", {"step": Said("Step 16 of 18: pooling")}),
    Address("inside", "step=logits", {"step": Said("Step 17 of 18: logits")}),
    Address("inside", "step=answer", {"step": Said("Step 18 of 18: answer")}),
    Address("inside", "head=5&step=embedding", {"head": Control("Head", "6"), "step": Said("Step 1 of 18: embedding")}),
    Address(
        "inside",
        "text=Nobody+who+saw+it+was+bored.&layer=1&query=2&key=4&head=3&step=softmax&depth=numbers",
        {
            "text": Control("Text", "Nobody who saw it was bored."),
            "layer": Control("Layer", "2"),
            "query": Control("Query", "3 · saw"),
            "key": Control("Key", "5 · was"),
            "head": Control("Head", "4"),
            "step": Said(heading("softmax")),
            "depth": [Control("Depth", "Every number"), Said("Formula and code")],
        },
    ),
    Address("inside", "head=7&step=position", {"head": Control("Head", "8"), "step": Said(heading("position"))}),
    Address("inside", "opening=0", {"opening": [Control("Layer", "1"), Control("Head", "1")]}),
    Address("inside", "layer=3&step=norm", {"layer": Control("Layer", "4"), "step": Said(heading("norm"))}),
    Address(
        "inside",
        "text=1+%2B+1+%3D+2+%26+so+on&query=2&key=0&step=projection",
        {
            "text": Control("Text", "1 + 1 = 2 & so on"),
            "query": Control("Query", "3 · 1"),
            "key": Control("Key", "1 · 1"),
            "step": Said(heading("projection")),
        },
    ),
    Address(
        "inside",
        "step=product&depth=numbers",
        {"step": Said(heading("product")), "depth": Control("Depth", "Every number")},
    ),
    Address(
        "inside",
        "query=0&step=scale&edits=temperature_2.5~uniform_e0.0_e0.1",
        {
            "query": Control("Query", "1 · the"),
            "step": Said(heading("scale")),
            "edits": Said("Edits kept on the page Break the formula: temperature 2.5, uniform attention (heads: 2)."),
        },
    ),
    Address(
        "inside",
        "text=Once+upon+a+time&checkpoint=stories&attention=decoder&layer=4&query=3&key=0&head=2&step=mask",
        {
            "text": Control("Text", "Once upon a time"),
            "checkpoint": Control("Checkpoint", "stories"),
            "attention": [Control("Query", "4 · ␣time"), Said("In head 3 of layer 5, query 4 · ␣time")],
            "layer": Control("Layer", "5"),
            "query": Control("Query", "4 · ␣time"),
            "key": Control("Key", "1 · Once"),
            "head": Control("Head", "3"),
            "step": Said(heading("mask")),
        },
    ),
    Address(
        "inside",
        "text=The+dog+bit+the+man.&checkpoint=translate-en-fr&attention=cross&layer=2&query=3&key=1&head=5&step=value",
        {
            "text": Control("Text", "The dog bit the man."),
            "checkpoint": Control("Checkpoint", "translate-en-fr"),
            "attention": Control("Attention", "cross-attention, decoder to encoder"),
            "layer": Control("Layer", "3"),
            "query": Control("Query", "4 · ␣a"),
            "key": Control("Key", "2 · ␣dog"),
            "head": Control("Head", "6"),
            "step": Said(heading("value")),
        },
    ),
    Address(
        "inside",
        "layer=2&off=2.5&mute=1&head=5&step=output",
        {
            "layer": Control("Layer", "3"),
            "off": Said("The model ran with head 6 of layer 3 muted."),
            "mute": Control("Mute this head", True),
            "head": Control("Head", "6"),
            "step": Said(heading("output")),
        },
    ),
    Address(
        "inside",
        "layer=1&off=0.0_0.3&mute=1&step=heads",
        {
            "layer": Control("Layer", "2"),
            "off": Said("The model ran with head 1 of layer 1 and head 4 of layer 1 muted."),
            "mute": Said("The model ran with head 1 of layer 1 and head 4 of layer 1 muted."),
            "step": Said(heading("heads")),
        },
    ),
    Address("inside", "key=2&step=residual", {"key": Control("Key", "3 · was"), "step": Said(heading("residual"))}),
    Address(
        "inside",
        "head=1&step=feed-forward",
        {"head": Control("Head", "2"), "step": Said(heading("feed-forward"))},
    ),
    # Positions
    Address(
        "positions",
        "causal=1&token=3&length=7&width=9&dimensions=8.0&pair_of=1&position=12&shift=2&compared=5&of_query=3&of_head=2",
        {
            "causal": Control("Hide keys after the query", True),
            "token": Control("Numbers of the token", "4 · the"),
            "length": [Control("Positions", 7), Said("All 9 dimensions of 7 positions, from the formula.")],
            "width": [Control("Dimensions", 9), Said("All 9 dimensions of 7 positions, from the formula.")],
            "dimensions": Control("Dimensions drawn as curves", ["8", "0"]),
            "pair_of": [Control("Pair", 1), Said("Pair 1 holds the sine in dimension 2")],
            "position": [Control("Position", 12), Said("From position 12 to 14 ")],
            "shift": [Control("Shift", 2), Said("From position 12 to 14 ")],
            "compared": Control("Tokens", 5),
            "of_query": Control("Query, 0 to 4", 3),
            "of_head": Control("Head", 3),
        },
    ),
    Address(
        "positions",
        "length=5000&width=1024&dimensions=&pair_of=511&position=1000&shift=1000&compared=128&of_query=127&of_head=7",
        {
            "length": [Control("Positions", 5000), Said("All 1,024 dimensions of 5,000 positions")],
            "width": [Control("Dimensions", 1024), Said("All 1,024 dimensions of 5,000 positions")],
            "dimensions": [Control("Dimensions drawn as curves", []), Said("Choose at least one dimension to draw.")],
            "pair_of": Control("Pair", 511),
            "position": Control("Position", 1000),
            "shift": Control("Shift", 1000),
            "compared": Control("Tokens", 128),
            "of_query": Control("Query, 0 to 127", 127),
            "of_head": Control("Head", 8),
        },
    ),
    Address(
        "positions",
        "text=The+dog+bit+the+man.&checkpoint=translate-en-fr&stack=decoder&table=own&causal=0&token=2",
        {
            "text": Control("Text", "The dog bit the man."),
            "checkpoint": Control("Checkpoint", "translate-en-fr"),
            "stack": Control("Stack", "decoder"),
            "table": [Control("Vectors of", "this checkpoint"), Said("from the checkpoint translate-en-fr.")],
            "causal": Control("Hide keys after the query", False),
            "token": Control("Numbers of the token", "3 · ␣chien"),
        },
    ),
    Address(
        "positions",
        "text=%22Who%3F%22+%26+%22why%3F%22&checkpoint=stories&table=own&causal=0&token=4&length=12&shift=0",
        {
            "text": Control("Text", '"Who?" & "why?"'),
            "checkpoint": Control("Checkpoint", "stories"),
            "table": [Control("Vectors of", "this checkpoint"), Said("from the checkpoint stories.")],
            "causal": Control("Hide keys after the query", False),
            "token": Control("Numbers of the token", "5 · &"),
            "length": [Control("Positions", 12), Said("All 256 dimensions of 12 positions")],
            "shift": [Control("Shift", 0), Said("From position 3 to 3 ")],
        },
    ),
    Address(
        "positions",
        "text=Gr%C3%BC%C3%9Fe+%F0%9F%98%80+aus+K%C3%B6ln&dimensions=127.64.0&edits=shift_e100",
        {
            "text": Control("Text", "Grüße 😀 aus Köln"),
            "dimensions": Control("Dimensions drawn as curves", ["127", "64", "0"]),
            "edits": Said("Edits kept on the page Break the formula: shifted positions."),
        },
    ),
    Address(
        "positions",
        "length=1&width=2&compared=2&of_query=0&position=0",
        {
            "length": [Control("Positions", 1), Said("All 2 dimensions of 1 positions")],
            "width": [Control("Dimensions", 2), Said("All 2 dimensions of 1 positions")],
            "compared": Control("Tokens", 2),
            "of_query": Control("Query, 0 to 1", 0),
            "position": [Control("Position", 0), Said("From position 0 to 5 ")],
        },
    ),
    Address(
        "positions",
        "sections=2.3&position=4",
        {
            "sections": Said("The first pair completes a turn"),
            "position": [Control("Position", 4), Said("From position 4 to 9 ")],
        },
    ),
    # Break the formula: every experiment
    Address(
        "break",
        "text=A+tale+told+twice.&layer=2&off=2.1-7&edits=unplace_e&experiment=scale",
        {
            "text": Control("Text", "A tale told twice."),
            "layer": Control("Layer drawn", "3"),
            "off": [Control("Head drawn", "1"), Said("attention of layer 3, head 1, query by key")],
            "edits": [Said("Kept edits"), Said("no positions")],
            "experiment": Control("Take out, change, or measure", "No scaling of the scores"),
        },
    ),
    Address(
        "break",
        "text=To+be+%26+not+to+be&layer=2&experiment=positions",
        {
            "text": Control("Text", "To be & not to be"),
            "layer": [Control("Layer drawn", "3"), Said("attention of layer 3, ")],
            "experiment": Control("Take out, change, or measure", "No positions"),
        },
    ),
    Address(
        "break",
        "off=0.0-1_2.4&experiment=shuffle&edits=causal_e~scale_0.125",
        {
            "off": Control("Head drawn", "mean of 6 heads"),
            "experiment": Control("Take out, change, or measure", "Shuffled positions"),
            "edits": [Said("q·k × 0.125 in place of the model's scale"), Said("a causal mask")],
        },
    ),
    Address(
        "break",
        "text=The+dog+bit+the+man.&checkpoint=translate-en-fr&attention=decoder&layer=1&off=1.0-1&experiment=unmask",
        {
            "text": Control("Text", "The dog bit the man."),
            "checkpoint": Control("Checkpoint", "translate-en-fr"),
            "attention": Control("Attention", "decoder self-attention"),
            "layer": [Control("Layer drawn", "2"), Said("attention of layer 2, mean of 6 heads")],
            "off": [Control("Head drawn", "mean of 6 heads"), Said("attention of layer 2, mean of 6 heads")],
            "experiment": Control("Take out, change, or measure", "No mask"),
        },
    ),
    Address(
        "break",
        "layer=1&experiment=causal&edits=shuffle_e7~hide_e8~temperature_2.5~weight_e0.1.2.1-0.25n~average_e0.1~mute_e0.3_e1.2"
        "~mutelayer_e1~noresidual_e2.feed-forward~nonorm_e.final",
        {
            "layer": Control("Layer drawn", "2"),
            "experiment": Control("Take out, change, or measure", "Causal mask"),
            "edits": [
                Said("temperature 2.5"),
                Said("shuffled positions"),
                Said("no head may look at token 9 (encoder)"),
                Said("overwritten weights (1)"),
                Said("mean-ablated heads (1)"),
                Said("head 4 muted in layer 1's attention (encoder)"),
                Said("head 3 muted in layer 2's attention (encoder)"),
                Said("all heads muted in layer 2's attention (encoder)"),
                Said("no residual around layer 3's feed-forward layer (encoder)"),
                Said("no norm (norms: 1)"),
            ],
        },
    ),
    Address(
        "break",
        "text=Once+upon+a+time&checkpoint=stories&attention=decoder&layer=4&experiment=residual"
        "&edits=shift_d3~unmask_d~uniform_d0.0_d5.7",
        {
            "text": Control("Text", "Once upon a time"),
            "checkpoint": Control("Checkpoint", "stories"),
            "attention": Said("1 · Once"),
            "layer": [Control("Layer", "5"), Said("No residual around layer 5's attention")],
            "experiment": Control("Take out, change, or measure", "No residual"),
            "edits": [Said("shifted positions"), Said("no mask"), Said("uniform attention (heads: 2)")],
        },
    ),
    Address(
        "break",
        "text=Sch%C3%B6n+%26+gut&experiment=norm",
        {
            "text": Control("Text", "Schön & gut"),
            "experiment": Control("Take out, change, or measure", "No norm"),
        },
    ),
    Address(
        "break",
        "text=The+dog+bit+the+man.&checkpoint=translate-en-fr&attention=cross&layer=2&off=2.0-6&experiment=uniform",
        {
            "text": Control("Text", "The dog bit the man."),
            "checkpoint": Control("Checkpoint", "translate-en-fr"),
            "attention": Control("Attention", "cross-attention, decoder to encoder"),
            "layer": Control("Layer drawn", "3"),
            "off": Control("Head drawn", "8"),
            "experiment": Control("Take out, change, or measure", "Uniform attention: no choice of where to look"),
        },
    ),
    Address(
        "break",
        "layer=2&off=2.0-3_2.5-7&experiment=mute",
        {
            "layer": [Control("Layer", "3"), Said("Mute head 5 of layer 3")],
            "off": [Control("Head to mute", "5"), Said("Mute head 5 of layer 3")],
            "experiment": Control("Take out, change, or measure", "Mute a head"),
        },
    ),
    Address(
        "break",
        "layer=3&experiment=heads&setting=2",
        {
            "layer": [Control("Layer drawn", "4"), Said("attention of layer 4, ")],
            "experiment": Control("Take out, change, or measure", "One head against many"),
            "setting": Control("Heads after", "2"),
        },
    ),
    Address(
        "break",
        "experiment=word&setting=%5B%22They+sat+%26+ate%3B+a+%2B+b+%3D+c%22%2C%22Wir+%5C%22sat%5C%22%2C+sch%C3%B6n"
        "+%F0%9F%98%80%22%2C%22sat%22%5D",
        {
            "experiment": Control("Take out, change, or measure", "One word in two texts"),
            "setting": [
                Control("First text", "They sat & ate; a + b = c"),
                Control("Second text", 'Wir "sat", schön 😀'),
                Control("Word in both", "sat"),
            ],
        },
    ),
    Address(
        "break",
        "checkpoint=stories&attention=decoder&experiment=word&setting=%5B%22The+old+king+saw+the+sea.%22%2C%22An+old+man"
        "+saw+the+king.%22%2C%22king%22%5D",
        {
            "checkpoint": Control("Checkpoint", "stories"),
            "attention": Said("The two vectors of “king”"),
            "experiment": Control("Take out, change, or measure", "One word in two texts"),
            "setting": [
                Control("First text", "The old king saw the sea."),
                Control("Second text", "An old man saw the king."),
                Control("Word in both", "king"),
            ],
        },
    ),
    Address(
        "break",
        "experiment=depth&setting=4",
        {
            "experiment": Control("Take out, change, or measure", "Pre-norm, post-norm, no residuals"),
            "setting": [Control("Layers", "4"), Said("in stacks of 4 layers on this text")],
        },
    ),
    Address(
        "break",
        "layer=2&experiment=spread",
        {
            "layer": [Control("Layer", "3"), Said("In layer 3 of this checkpoint")],
            "experiment": Control("Take out, change, or measure", "The spread of q·k"),
        },
    ),
    Address(
        "break",
        "experiment=bench&setting=%5B%5B%5B%221%22%2C%220%22%5D%2C%5B%220%22%2C%221%22%5D%2C%5B%221%22%2C%221%22%5D%5D"
        "%2C%5B%5B%221%22%2C%220%22%5D%2C%5B%220%22%2C%221%22%5D%2C%5B%222%22%2C%220%22%5D%5D%2C%5B%5B%221%22%2C%220%22"
        "%5D%2C%5B%220%22%2C%221%22%5D%2C%5B%225%22%2C%22-7.5%22%5D%5D%2C%5B%22100%22%2C%22110%22%2C%22001%22%5D%5D",
        {
            "experiment": Control("Take out, change, or measure", "Attention by hand"),
            "setting": [
                Control("Tokens", "3"),
                Said("\n-7.5\n"),
                Said("Query 3 gives its largest weight to key 3: 100 %. Its context is (5, -7.5)."),
            ],
        },
    ),
    Address(
        "break",
        "layer=1&experiment=split&setting=2",
        {
            "layer": Control("Layer", "2"),
            "experiment": Control("Take out, change, or measure", "The width cut into heads"),
            "setting": Control("Token", "3 · was"),
        },
    ),
    Address(
        "break",
        "text=A+good+film&experiment=padding&setting=17",
        {
            "text": Control("Text", "A good film"),
            "experiment": Control("Take out, change, or measure", "Padding with and without its mask"),
            "setting": [Control("Padding tokens", 17), Said("17 padding tokens after 3 ")],
        },
    ),
    # Translate
    Address(
        "translate",
        "text=The+dog+bit+the+man.&checkpoint=translate-en-fr&attention=cross"
        "&translation=method.beam~width.8~choice.1~step.2~reading.1.3~moment.read~opened.1",
        {
            "text": Control("Text", "The dog bit the man."),
            "checkpoint": Control("Checkpoint", "translate-en-fr"),
            "attention": Told("cross"),
            "translation": [
                Control("Decoding method", "Beam search"),
                Control("Beams", 8),
                Control("Translations by score", re.compile("−[0-9.]+ · Le chien .*homme\\.")),
                Control("Produced token", "3 · ␣m"),
                Control("Heads", "layer 2, head 4"),
                Control("Moment", "one step later, while the word is read"),
                Said("One step later, reading 3 · ␣m, the model looked most at"),
                Said("The links are those of layer 2, head 4,"),
            ],
        },
    ),
    Address(
        "translate",
        "text=The+dog+bit+the+man.&checkpoint=translate-en-fr&attention=cross&show=matrix&top=2"
        "&translation=method.beam~width.2~length_penalty.1.25~reading.2~opened.1",
        {
            "text": Control("Text", "The dog bit the man."),
            "checkpoint": Control("Checkpoint", "translate-en-fr"),
            "attention": Told("cross"),
            "show": Told("matrix"),
            "top": Told(2),
            "translation": [
                Control("Decoding method", "Beam search"),
                Control("Beams", 2),
                Control("Length penalty", 1.25),
                Control("Heads", "layer 3, mean of its heads"),
            ],
        },
    ),
    Address(
        "translate",
        "text=How+long%3F&translation=method.beam~length_penalty.0",
        {
            "text": Control("Text", "How long?"),
            "translation": [Control("Decoding method", "Beam search"), Control("Length penalty", 0)],
        },
    ),
    Address(
        "translate",
        "text=The+dog+bit+the+man.&checkpoint=translate-en-fr&attention=cross&layer=2&off=2.1&query=3"
        "&translation=method.sample~temperature.0.7~top_k.5~top_p.0.9~seed.7~step.3~opened.1",
        {
            "text": Control("Text", "The dog bit the man."),
            "checkpoint": Control("Checkpoint", "translate-en-fr"),
            "attention": Told("cross"),
            "layer": Told(2),
            "off": Told([[2, 1]]),
            "query": Told(3),
            "translation": [
                Control("Decoding method", "Sampled"),
                Control("Temperature", 0.7),
                Control("Top-k", 5),
                Control("Top-p", 0.9),
                Control("Seed", 7),
                Control("Produced token", "4 · ␣mor"),
            ],
        },
    ),
    Address(
        "translate",
        "text=The+dog+bit+the+man.&checkpoint=translate-en-fr&layer=1&query=2&translation=opened.1"
        "&target=L%27homme+%26+le+chien+%2B+%22moi%22+%3D+2",
        {
            "text": Control("Text", "The dog bit the man."),
            "checkpoint": Control("Checkpoint", "translate-en-fr"),
            "layer": Told(1),
            "query": Told(2),
            "translation": Said('"attention": "encoder"'),  # else cross-attention would be chosen for the visitor
            "target": [
                Control("Type the translation yourself", 'L\'homme & le chien + "moi" = 2'),
                Said("Typed translation"),
            ],
        },
    ),
    Address(
        "translate",
        "text=It+was+%22too+late%22+%26+cold.&checkpoint=translate-en-fr&attention=decoder&layer=1&query=2&key=1&words=1"
        "&translation=step.4~opened.1&target=C%27%C3%A9tait+d%C3%A9j%C3%A0+%F0%9F%98%80+l%27%C3%A9t%C3%A9.",
        {
            "text": Control("Text", 'It was "too late" & cold.'),
            "checkpoint": Control("Checkpoint", "translate-en-fr"),
            "attention": Told("decoder"),
            "layer": Told(1),
            "query": Told(2),
            "key": Told(1),
            "words": Told(True),
            "translation": Said("To write 5 · "),
            "target": Control("Type the translation yourself", "C'était déjà 😀 l'été."),
        },
    ),
    Address(
        "translate",
        "text=Good+morning.&translation=step.1~reading.0&edits=average_c0.1",
        {
            "text": Control("Text", "Good morning."),
            "translation": [Control("Heads", "layer 1, mean of its heads"), Said("To write 2 · ")],
            "edits": Said("Edits kept on the page Break the formula: mean-ablated heads (1)."),
        },
    ),
    # Write
    Address(
        "write",
        "text=Once+upon+a+time+there&checkpoint=stories&attention=decoder&method=greedy&penalty=1.5&temperature=0.55"
        "&top_k=9&top_p=0.6&seed=3&tokens=6",
        {
            "text": Control("Text", "Once upon a time there"),
            "checkpoint": Control("Checkpoint", "stories"),
            "attention": Told("decoder"),
            "method": Control("Next token", "the likeliest"),
            "penalty": Control("Repetition penalty", 1.5),
            "temperature": Control("Temperature", 0.55),
            "top_k": Control("Top-k", 9),
            "top_p": Control("Top-p", 0.6),
            "seed": Control("Seed", 3),
            "tokens": [Control("Tokens per run", 6), Said("Run 6")],
        },
    ),
    Address(
        "write",
        "penalty=1.05&temperature=2&top_k=0&top_p=1&seed=999999&tokens=200",
        {
            "penalty": Control("Repetition penalty", 1.05),
            "temperature": Control("Temperature", 2),
            "top_k": Control("Top-k", 0),
            "top_p": Control("Top-p", 1),
            "seed": Control("Seed", 999_999),
            "tokens": [Control("Tokens per run", 200), Said("Run 200")],
        },
    ),
    Address(
        "write",
        "text=Once+upon+a+time+there&checkpoint=stories&attention=decoder&written=311.261.444.1493&at=2",
        {
            "text": Control("Text", "Once upon a time there"),
            "checkpoint": Control("Checkpoint", "stories"),
            "attention": Told("decoder"),
            "written": [Said("Token 1, ␣was, "), Said("Token 4, ␣bear, ")],
            "at": [Said("After 7 tokens"), Said("“little” was taken here")],
        },
    ),
    Address(
        "write",
        "text=Once+upon+a+time+there&written=311.261&at=0&temperature=0&top_p=0",
        {
            "text": Control("Text", "Once upon a time there"),
            "written": Said("Token 2, ␣a, "),
            "at": [Said("After 5 tokens"), Said("“was” was taken here")],
            "temperature": Control("Temperature", 0),
            "top_p": Control("Top-p", 0),
        },
    ),
    Address(
        "write",
        "text=Once+upon+a+time+there&checkpoint=stories&attention=decoder&layer=3&off=3.0-5&query=4&key=2&mute=1"
        "&written=311",
        {
            "text": Control("Text", "Once upon a time there"),
            "checkpoint": Control("Checkpoint", "stories"),
            "attention": Told("decoder"),
            "layer": Told(3),
            "off": Told([[3, head] for head in range(6)]),
            "query": Told(4),
            "key": Told(2),
            "mute": Control("Mute the heads that are off", True),
            "written": [Said("Token 1, ␣was, "), Said("After 6 tokens")],
        },
    ),
    Address(
        "write",
        "text=%22We+won%21%22+said+%C3%89mile+%26+Zo%C3%AB+%2B+1&edits=unmask_d&show=text&threshold=0.5&colours=orange",
        {
            "text": Control("Text", '"We won!" said Émile & Zoë + 1'),
            "edits": Said("Edits kept on the page Break the formula: no mask."),
            "show": Told("text"),
            "threshold": Told(0.5),
            "colours": Told("orange"),
        },
    ),
    # How we know
    Address(
        "evidence",
        "text=A+good+film+%26+%22more%22&layer=2&off=1.2_3.0&mute=1&head=5",
        {
            "text": Control("Text", 'A good film & "more"'),
            "layer": Said("encoder, layer 3, head 6"),
            "off": Said("Muted heads: 2, in layer 2 and 4"),
            "mute": Said("Muted heads: 2, in layer 2 and 4"),
            "head": Said("encoder, layer 3, head 6"),
        },
    ),
    Address(
        "evidence",
        "text=The+dog+bit.&checkpoint=translate-en-fr&attention=cross&layer=1&head=6",
        {
            "text": Control("Text", "The dog bit."),
            "checkpoint": Control("Checkpoint", "translate-en-fr"),
            "attention": Said("decoder, layer 2, head 7"),
            "layer": Said("decoder, layer 2, head 7"),
            "head": Said("decoder, layer 2, head 7"),
        },
    ),
    Address(
        "evidence",
        "text=Once+upon+a+time&checkpoint=stories&edits=unmask_d",
        {
            "text": Control("Text", "Once upon a time"),
            "checkpoint": Control("Checkpoint", "stories"),
            "edits": Said("The edits kept on the pages Break the formula and Edit are not part of this pass"),
        },
    ),
]

# Opened on a page that shows nothing of them, and seen on the page that the visitor goes to from there.
KEPT = [
    (
        "explore",
        Address(
            "checkpoints",
            "text=Sch%C3%B6n+%26+gut+%2B+%22neu%22&layer=2&off=2.5&mute=1&across=self&threshold=0.05",
            {
                "text": Control("Text", 'Schön & gut + "neu"'),
                "layer": Said("the 7 heads of layer 3 "),
                "off": Told([[2, 5]]),
                "mute": Control("Mute the heads that are off", True),
                "across": Control("Horizontal axis", "weight on the token itself"),
                "threshold": Told(0.05),
            },
        ),
    ),
    (
        "write",
        Address(
            "checkpoints",
            "text=Once+upon+a+time+there&checkpoint=stories&written=311.261&at=1&method=greedy&seed=7",
            {
                "text": Control("Text", "Once upon a time there"),
                "checkpoint": Control("Checkpoint", "stories"),
                "written": Said("Token 2, ␣a, "),
                "at": Said("“a” was taken here"),
                "method": Control("Next token", "the likeliest"),
                "seed": Control("Seed", 7),
            },
        ),
    ),
    (
        "inside",
        Address(
            "positions",
            "text=A+good+film&layer=1&query=0&key=2&head=3&step=mask&depth=numbers",
            {
                "text": Control("Text", "A good film"),
                "layer": Control("Layer", "2"),
                "query": Control("Query", "1 · a"),
                "key": Control("Key", "3 · film"),
                "head": Control("Head", "4"),
                "step": Said(heading("mask")),
                "depth": Control("Depth", "Every number"),
            },
        ),
    ),
    (
        "break",
        Address(
            "evidence",
            "experiment=padding&setting=5",
            {
                "experiment": Control("Take out, change, or measure", "Padding with and without its mask"),
                "setting": Control("Padding tokens", 5),
            },
        ),
    ),
    (
        "translate",
        Address(
            "evidence",
            "text=Good+morning.&checkpoint=translate-en-fr&translation=method.beam~width.3~moment.read~opened.1"
            "&target=Bonjour+%26+salut.",
            {
                "text": Control("Text", "Good morning."),
                "checkpoint": Control("Checkpoint", "translate-en-fr"),
                "translation": [
                    Control("Decoding method", "Beam search"),
                    Control("Beams", 3),
                    Control("Moment", "one step later, while the word is read"),
                ],
                "target": Control("Type the translation yourself", "Bonjour & salut."),
            },
        ),
    ),
]

# Of a checkpoint that reads two texts; none of the app's own does.
PAIRS = [
    Address(
        "explore",
        "text=the+dog+bit+the+man+.&pair=a+cat+saw+%26+ran&checkpoint=bert&segments=AB",
        {
            "text": Control("Text", "the dog bit the man ."),
            "pair": Control("Second text", "a cat saw & ran"),
            "checkpoint": Control("Checkpoint", "bert"),
            "segments": Told("AB"),
        },
    ),
    Address(
        "inside",
        "text=the+dog&pair=a+cat+saw+%2B+%22ran%22&checkpoint=bert&layer=1&key=4",
        {
            "text": Control("Text", "the dog"),
            "pair": Control("Second text", 'a cat saw + "ran"'),
            "checkpoint": Control("Checkpoint", "bert"),
            "layer": Control("Layer", "2"),
            "key": Control("Key", "5 · saw"),
        },
    ),
]

FIELDS = {
    *("text", "pair", "checkpoint", "mute", "across", "up", "head", "step", "depth", "experiment", "setting", "edits"),
    *("translation", "target", "written", "at", "method", "penalty", "temperature", "top_k", "top_p", "seed", "tokens"),
    *("stack", "table", "causal", "token", "length", "width", "dimensions", "pair_of", "position", "shift", "compared"),
    *("of_query", "of_head", "opening", "sections"),
    *(field.name for field in fields(View)),
}
OPTIONS = {"method", "width", "length_penalty", "temperature", "top_k", "top_p", "seed", "choice", "step", "reading"}
OPTIONS |= {"moment", "opened"}


def named(address: Address) -> dict[str, str]:
    return dict(parse_qsl(address.query, keep_blank_values=True, strict_parsing=True))


def everything_named() -> Iterator[tuple[str, str]]:
    for address in [*ADDRESSES, *PAIRS, *(kept for _, kept in KEPT)]:
        yield from named(address).items()


def identified(addresses: list[Address]) -> list[Any]:
    """Each with its number, page and beginning as the id of its test."""
    return [
        pytest.param(address, id=f"{place}-{address.page}?{address.query[:60]}")
        for place, address in enumerate(addresses, start=1)
    ]


def opened(address: Address) -> AppTest:
    """The app as a browser opens it at this address, whole: Explore's controls come with its second run."""
    app = AppTest.from_file(str(APP), default_timeout=120)
    app.query_params.update(named(address))
    if address.page:
        app.switch_page(f"pages/{address.page}.py")
    return app.run().run() if address.page in ("", "explore") else app.run()


IN_THE_BAR = {"Text": "text", "Second text": "pair", "Checkpoint": "model"}


def control(app: AppTest, label: str) -> Any:
    """What the one control with this label shows."""
    if label in IN_THE_BAR:
        bar_proto: Any = next(e.proto for e in app.get("bidi_component") if e.proto.component_name == "headlight_bar")
        in_the_bar = json.loads(bar_proto.json)[IN_THE_BAR[label]]
        if in_the_bar is not None:
            return in_the_bar
    kinds: list[Any] = [
        app.selectbox,
        app.radio,
        app.multiselect,
        app.number_input,
        app.slider,
        app.toggle,
        app.text_area,
    ]
    (widget,) = [widget for kind in [*kinds, app.text_input] for widget in kind if widget.label == label]
    if widget.type == "multiselect":
        return list(widget.values)
    return plain(widget.options[widget.index]) if widget.type in ("selectbox", "radio") else widget.value


def messages(app: AppTest) -> list[Any]:
    """What the browser components on the page are given as JSON."""
    return [json.loads(element.proto.json) for element in app.get("bidi_component") if element.proto.json]


def told(app: AppTest, name: str) -> Any:
    (view,) = [message["view"] for message in messages(app) if "view" in message]
    return view[name]


def words(app: AppTest) -> str:
    """All words and numbers of the page, in tables and in what browser components are given too."""
    kinds = (app.title, app.caption, app.subheader, app.markdown, app.text, app.info)
    texts = [element.value for kind in kinds for element in kind]
    texts += [f"{metric.label} {metric.value}" for metric in app.metric] + [button.label for button in app.button]
    texts += [str(cell) for table in (*app.table, *app.dataframe) for cell in table.value.to_numpy().ravel()]
    texts += [json.dumps(message, ensure_ascii=False) for message in messages(app)]
    return plain("\n".join(texts))


def plain(text: str) -> str:
    """As it is read: without the marks of Markdown, with plain spaces."""
    return text.replace("\\", "").replace("**", "").replace("\u00a0", " ")


def check(app: AppTest, address: Address) -> None:
    """Nothing is refused or called unusable, and whatever the address names is seen."""
    assert not app.exception
    assert not app.error
    assert "The address gives no usable value" not in words(app)
    assert address.seen.keys() == named(address).keys()
    for name, sights in address.seen.items():
        for sight in sights if isinstance(sights, list) else [sights]:
            match sight:
                case Control(label, re.Pattern() as pattern):
                    assert pattern.fullmatch(control(app, label)), name
                case Control(label, value):
                    assert control(app, label) == value, name
                case Told(value):
                    assert told(app, name) == value, name
                case Said(expected):
                    assert expected in words(app), name


@pytest.mark.parametrize("address", identified(ADDRESSES))
def test_whatever_an_address_names_is_shown_when_it_is_opened(address):
    check(opened(address), address)


@pytest.mark.parametrize(("page", "address"), KEPT, ids=[f"{kept.page}-{page}" for page, kept in KEPT])
def test_what_the_opened_page_has_no_place_for_is_shown_on_the_next(page, address):
    app = opened(address)
    assert not app.exception
    assert "The address gives no usable value" not in words(app)
    # Twice, because AppTest leaves out app.py, where one page's controls are told from another's.
    check(app.switch_page(f"pages/{page}.py").run().run(), address)


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    """A folder with a checkpoint of random weights that reads two texts."""
    root = tmp_path_factory.mktemp("checkpoints")
    reference.make("BertForMaskedLM", root / "bert", **BERT)
    tiny.tokenizer().save(root / "bert" / "tokenizer.json")
    return root


@pytest.mark.parametrize("address", identified(PAIRS))
def test_a_second_text_in_an_address_is_shown_by_a_checkpoint_that_reads_two(address, bert, monkeypatch):
    monkeypatch.setattr("model.checkpoint.CHECKPOINTS", bert)
    check(opened(address), address)


def test_these_addresses_name_every_field_every_option_every_edit_and_every_step():
    pairs = list(everything_named())
    assert {name for name, _ in pairs} == FIELDS
    options = [part for name, value in pairs if name == "translation" for part in value.split("~")]
    assert {option.partition(".")[0] for option in options} == OPTIONS
    edits = [part for name, value in pairs if name == "edits" for part in value.split("~")]
    assert {edit.partition("_")[0] for edit in edits} == set(FORMS)
    assert {value for name, value in pairs if name == "step"} == set(STEPS)
