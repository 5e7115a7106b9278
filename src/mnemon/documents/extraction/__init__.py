"""Extraction: from a foreign file to one canonical text with its structure. Pure functions, no database."""
