"""Files of what is on the screen: arrays, tables, pictures to share, Python that makes it again.

No number is computed anew.
"""
