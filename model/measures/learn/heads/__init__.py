"""What the heads of a text do to its answer, and how a width is cut into them. No words, no pictures."""
