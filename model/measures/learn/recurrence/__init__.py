"""What an LSTM, or a decoder without its mask, does otherwise than a Transformer.

No checkpoint of the app is one of these.
"""
