"""Producing text: steps, beams, logits processors, the trace of what was produced. No trained part lives here."""
