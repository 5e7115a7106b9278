"""Semantic events: decisions, commitments, risks and more, each with the exact words that prove it."""
