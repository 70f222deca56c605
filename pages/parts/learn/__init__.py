"""The page Learn: its stops, each a question answered on the visitor's own sentence, and the frame of a stop.

No arithmetic.
"""
