"""What the page Learn asks that no other page does: one measure of a trace or a model each."""
