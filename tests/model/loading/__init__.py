"""Files that are read, and files that are refused in one sentence. Nothing is downloaded."""
