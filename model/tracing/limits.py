"""How long a trace may be, by the model's own limit and by the memory that it takes."""

from model.config import Config

MOST_TOKENS = 512
TRACE_BYTES = 1 << 30


def longest_trace(config: Config) -> int:
    """How many tokens a trace may have: the model's own limit, 512, or what fits ``TRACE_BYTES``."""
    longest = min(config.max_length, MOST_TOKENS)
    while trace_bytes(config, longest) > TRACE_BYTES:
        longest //= 2
    return max(1, longest)


def trace_bytes(config: Config, length: int) -> int:
    """About how much memory a trace of so many tokens takes, in bytes of float32."""
    both = config.is_encoder_decoder
    sizes = [config, config.of_decoder(), config.of_decoder()] if both else [config]  # the third: cross-attention
    squares = sum(one.layers * one.heads for one in sizes) * length**2  # weights
    joined = config.heads * config.head_width
    rows = sum(one.layers * (4 * config.width + 4 * joined + one.hidden) for one in sizes) * length
    return 4 * (squares + rows + config.vocabulary * length)
