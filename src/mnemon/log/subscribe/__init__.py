"""Subscriptions: who follows the log, how far they came, and what failed on the way."""
