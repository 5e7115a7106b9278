"""Hybrid search, answers with citations, refusal."""
