"""Pages as AppTest runs them, without a browser; what needs one is in tests/in_browser."""
