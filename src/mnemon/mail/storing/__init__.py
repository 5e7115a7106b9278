"""Storing: an archive's bytes are kept, its messages become documents in batches, an import can be killed anywhere.

`packs` keeps the bytes; `batch` turns messages into documents and events; `recording` writes a batch in one
transaction with how far the import is; `importing` is the job; `passages` makes chunks and vectors of what was stored.
"""
