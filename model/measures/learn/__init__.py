"""What the page Learn asks that no other page does: one measure of a trace or a model each.

What another page uses as well lives in model/measures.
"""
