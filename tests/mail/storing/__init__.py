"""Tests of how mail is stored."""
