"""What the pages say in words about numbers that were measured. No figure is drawn here."""
