"""Suites of the models."""
