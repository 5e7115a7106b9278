"""Tests of what is read without a database."""
