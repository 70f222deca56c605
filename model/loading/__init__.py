"""Reading checkpoints from disk: bounded files, headers, weights, their cache. Nothing here runs code from a file."""
