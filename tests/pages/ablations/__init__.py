"""The parts of the page Break the formula that have tests of their own; the page is in test_break."""
