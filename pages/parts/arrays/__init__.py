"""What the page Your arrays is built from: the file of a visitor, and what is said of its heads.

Heads are measured in model/measures.
"""
