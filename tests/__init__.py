"""What the tests share: tiny models, a running app, a hub of our own. Folders mirror the packages."""
