"""What positions do: each scheme in numbers, and texts read in another order. No trained checkpoint is needed here."""
