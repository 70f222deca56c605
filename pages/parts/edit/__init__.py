"""The parts of the page Edit."""
