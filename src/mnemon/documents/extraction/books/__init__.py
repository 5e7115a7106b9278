"""Electronic books."""
