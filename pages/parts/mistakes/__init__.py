"""What the page Mistakes alone has: which mistake is chosen, what it does to the text, and its picture.

The wrong lines are in model/measures/learn/mistakes.
"""
