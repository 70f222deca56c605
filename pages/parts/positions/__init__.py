"""What the page Positions is built from."""
