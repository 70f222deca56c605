"""What is said of causes: the numbers in the sentences."""
