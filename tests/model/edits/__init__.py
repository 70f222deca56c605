"""What each edit changes in a pass, and that nothing else changes."""
