"""Charts, tables and pictures hold the numbers that they are given."""
