"""Retrieval in mailing lists: passages with their message and thread, the passages of a thread, proof of a summary.

`passages` reads them with the payload of the specification, `operations` declares the three ways to ask for them.
"""
