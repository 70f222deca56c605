"""From ids to a trace on the CPU, and what is known of the text that the ids came from.

Nothing is measured or drawn here.
"""
