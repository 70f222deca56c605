"""The pages of the menu's first group: Learn, Mistakes, What it costs and its map."""
