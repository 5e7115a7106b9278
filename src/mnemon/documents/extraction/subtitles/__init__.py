"""Subtitles and transcripts of recordings."""
