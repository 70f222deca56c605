"""What the page Words is built from: the term that its address names. The terms are in viz/text/glossary.py."""
