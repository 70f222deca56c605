"""What every head does over a set of texts and on gold data: each score beside its null, kept as a small file."""
