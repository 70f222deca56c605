"""The parts of the page Heads that matter."""
