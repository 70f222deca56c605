"""The measures of the page Learn, each against a second computation."""
