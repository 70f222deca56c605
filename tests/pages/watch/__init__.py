"""The page Watch it learn, without a browser."""
