"""The rules: how events are read from a text with no model."""
