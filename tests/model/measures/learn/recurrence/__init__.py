"""An LSTM and a decoder without its mask, against PyTorch's layers and loops."""
