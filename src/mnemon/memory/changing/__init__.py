"""Changing memory: what a new object begins with, what speaks against a change, and the change itself."""
