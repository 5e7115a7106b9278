"""Branches of memory: begun, compared and merged."""
