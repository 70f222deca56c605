"""One tiny checkpoint of random weights of every kind: of our own, and of every family as ``transformers`` saves it."""

from pathlib import Path
from typing import Any

from model.loading import checkpoint_files
from tests import reference, tiny
from tests.kinds import BART, BERT, DISTILBERT, GEMMA, GPT2, LLAMA, MARIAN, NEO, NEOX, T5

KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "gpt2": ("GPT2LMHeadModel", GPT2),
    "gpt2-by-layer": ("GPT2LMHeadModel", GPT2 | {"scale_attn_by_inverse_layer_idx": True}),
    "bert": ("BertForMaskedLM", BERT),
    "bert-classifier": ("BertForSequenceClassification", BERT | {"id2label": {0: "<b>bad</b>", 1: "good"}}),
    "bert-bare": ("BertModel", BERT),
    "roberta": ("RobertaForMaskedLM", BERT | {"type_vocab_size": 1}),
    "distilbert": ("DistilBertForMaskedLM", DISTILBERT),
    "llama": ("LlamaForCausalLM", LLAMA),
    "mistral": ("MistralForCausalLM", LLAMA | {"sliding_window": 9}),
    "qwen2": ("Qwen2ForCausalLM", LLAMA),
    "qwen3": ("Qwen3ForCausalLM", LLAMA | {"head_dim": 8}),
    "gemma": ("GemmaForCausalLM", GEMMA),
    "gemma2": ("Gemma2ForCausalLM", GEMMA),
    "gemma3": ("Gemma3ForCausalLM", GEMMA),
    "gpt-neox": ("GPTNeoXForCausalLM", NEOX),
    "gpt-neo": ("GPTNeoForCausalLM", NEO),
    "bart": ("BartForConditionalGeneration", BART),
    "marian": ("MarianMTModel", MARIAN),
    "t5": ("T5ForConditionalGeneration", T5),
}


def make_folders(root: Path) -> list[Path]:
    """All of them, each with the tiny tokenizer, in folders of ``root``."""
    for name, (kind, fields) in KINDS.items():
        reference.make(kind, root / name, **fields)
        tiny.tokenizer().save(root / name / checkpoint_files.TOKENIZER)
    checkpoint_files.save_checkpoint(root / "own", tiny.transformer(labels=("no", "yes")), tiny.tokenizer(), {})
    return [root / name for name in [*KINDS, "own"]]
