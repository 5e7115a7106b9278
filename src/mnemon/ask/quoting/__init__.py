"""Answers in the sources' own words: what a question needs, which statements give it, and whether that is enough."""
