"""What the answer of a pass depends on: passes in which a part of it is another, and by how much the answer changes."""
