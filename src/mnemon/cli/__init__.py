"""The `mnemon` command."""
