"""How large a model is, and what it costs in operations, memory and time. Recorded figures live in records/."""
