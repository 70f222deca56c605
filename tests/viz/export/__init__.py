"""Files read back as what was on the screen, and scripts make it again."""
