"""Ways from page to page and back, those that people take and random ones."""
