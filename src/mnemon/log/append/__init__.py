"""Appending: from a caller's events to rows at the head of one partition."""
