"""Sizes of tiny models, as the configs of ``transformers`` spell them."""

from typing import Any

GPT2: dict[str, Any] = {"vocab_size": 90, "n_embd": 24, "n_head": 3, "n_layer": 3, "n_positions": 64}
GPT2 |= {"bos_token_id": 1, "eos_token_id": 1}
BERT: dict[str, Any] = {"vocab_size": 90, "hidden_size": 24, "num_attention_heads": 3, "num_hidden_layers": 3}
BERT |= {"intermediate_size": 40, "max_position_embeddings": 64}
DISTILBERT: dict[str, Any] = {"vocab_size": 90, "dim": 24, "n_heads": 3, "n_layers": 3, "hidden_dim": 40}

LLAMA: dict[str, Any] = {"vocab_size": 90, "hidden_size": 24, "num_attention_heads": 6, "num_hidden_layers": 3}
LLAMA |= {"intermediate_size": 40, "max_position_embeddings": 64, "bos_token_id": 1, "eos_token_id": 2}
LLAMA |= {"num_key_value_heads": 3}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
LLAMA3 |= {"original_max_position_embeddings": 32, "rope_theta": 500.0}
GEMMA = LLAMA | {"head_dim": 6, "num_attention_heads": 4, "num_key_value_heads": 2}
GEMMA3_ROPE = {
    "full_attention": {"rope_type": "linear", "factor": 4.0, "rope_theta": 3000.0},
    "sliding_attention": {"rope_type": "default", "rope_theta": 70.0},
}
NEOX: dict[str, Any] = {"vocab_size": 90, "hidden_size": 24, "num_attention_heads": 3, "num_hidden_layers": 3}
NEOX |= {"intermediate_size": 40, "max_position_embeddings": 64, "hidden_dropout": 0.0}
NEO: dict[str, Any] = {"vocab_size": 90, "hidden_size": 24, "num_heads": 3, "num_layers": 3, "window_size": 7}
NEO |= {"attention_types": [[["global", "local", "local"], 1]], "max_position_embeddings": 64}
NEO |= {"bos_token_id": 1, "eos_token_id": 1}
BART: dict[str, Any] = {"vocab_size": 90, "d_model": 24, "encoder_layers": 2, "decoder_layers": 3}
BART |= {"encoder_attention_heads": 3, "decoder_attention_heads": 2, "encoder_ffn_dim": 40, "decoder_ffn_dim": 32}
BART |= {"max_position_embeddings": 64, "decoder_start_token_id": 2}
MARIAN = BART | {"pad_token_id": 89, "decoder_start_token_id": 89, "eos_token_id": 0, "forced_eos_token_id": 0}
T5: dict[str, Any] = {"vocab_size": 90, "d_model": 24, "d_kv": 6, "d_ff": 40, "num_layers": 2, "num_heads": 3}
T5 |= {"decoder_start_token_id": 0, "num_decoder_layers": 3}
