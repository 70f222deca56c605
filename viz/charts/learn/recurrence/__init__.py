"""Two kinds of models beside each other: losses, gradients, times, sizes. Nothing is measured here."""
