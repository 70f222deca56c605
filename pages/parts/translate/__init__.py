"""What the page Translate is built from: settings, translations, pictures and controls.

No decoding, which is model/decoding's.
"""
