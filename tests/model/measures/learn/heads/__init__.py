"""What heads do to an answer, and how a width is cut into them."""
