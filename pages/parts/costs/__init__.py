"""The page What it costs: which model it counts, and the measurement that a visitor starts.

The formulas are in model/measures.
"""
