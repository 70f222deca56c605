"""Texts to learn from: read, written for this project, turned into ids, dealt out in batches. No model lives here."""
