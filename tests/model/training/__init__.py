"""The training commands on tiny data. What they reached stands on the cards, not here."""
