"""Extraction: from a stored revision to semantic events, whichever engine reads it."""
