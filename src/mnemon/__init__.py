"""Mnemon: evidence-first memory for teams and their AI agents."""

__version__ = "0.1.0"
