"""Which models a visitor can choose, and how another one comes here; nothing that draws a page around them."""
