"""Two passes against each other: of two texts, of two models, or of one model unchanged and edited."""
