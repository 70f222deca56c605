"""The app in a real browser, by folders: what AppTest can see is tested in tests/pages."""
