"""What the explorer is sent, draws and saves, with the numbers read back."""
