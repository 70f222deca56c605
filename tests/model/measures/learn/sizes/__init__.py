"""Parameters, operations and memory, against models that are built."""
