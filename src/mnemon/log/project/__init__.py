"""Projection: lenses kept beside the log, made anew from it, and compared with it."""
