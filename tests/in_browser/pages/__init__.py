"""One page each, of those on which a visitor looks at a model."""
