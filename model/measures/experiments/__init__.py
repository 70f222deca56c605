"""Small computations beside a pass, which the experiments of a page show: typed matrices, untrained stacks, padding.

Measures of a finished trace live in model/measures itself.
"""
