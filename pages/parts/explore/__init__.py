"""What the page Explore is built from; the explorer itself, which other pages show too, is here.

Heads are measured in model/measures.
"""
