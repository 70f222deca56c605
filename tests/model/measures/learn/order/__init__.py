"""What the order of words does, and a translation step by step."""
