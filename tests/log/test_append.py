"""Appending: what is recorded, what is refused, and what a retry finds."""

from tests_log import *  # replaced
