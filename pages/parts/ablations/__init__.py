"""What the page Break the formula is built from: experiments, their effects, and what is computed without a text.

No arithmetic lives here: it is in model/measures.
"""
