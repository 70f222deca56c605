"""Steps, beams, logits processors and the stitched trace, against passes over the whole text."""
