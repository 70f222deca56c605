"""What an LSTM, or a decoder without its mask, does otherwise than a Transformer."""
