"""Whose memory objects are, and who may read and change them."""
