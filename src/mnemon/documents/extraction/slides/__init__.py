"""Presentations: slides with their notes."""
