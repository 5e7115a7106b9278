"""Embedders, language models and token counting."""
