"""Conversations: what was asked before, and what a follow-up means after it."""
