"""Every number of every family against ``transformers``, with tiny random weights."""
