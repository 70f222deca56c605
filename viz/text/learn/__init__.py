"""The sentences of the page Learn: what was measured, as question, options and answer. No arithmetic."""
