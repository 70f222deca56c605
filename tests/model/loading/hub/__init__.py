"""Listings, downloads and their cache, against a hub of our own on this machine."""
