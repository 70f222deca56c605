"""What the page Write is built from: settings, and where the text that is written stands.

No decoding, which is model/decoding's.
"""
