"""Every tool through the largest arguments that it takes, on a real server whose event loop is measured."""
