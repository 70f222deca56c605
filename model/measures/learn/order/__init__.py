"""What the order of words does, and how a translation is written word by word. No words, no pictures."""
