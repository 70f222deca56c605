"""What the page Positions is built from; its tables and sentences are in model/measures and viz."""
