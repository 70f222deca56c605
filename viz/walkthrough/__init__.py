"""The steps to one attention weight: their names and sentences, their charts, the lines of code that computed them.

No step is computed here.
"""
