"""The measures of two passes side by side, each against loops written out."""
