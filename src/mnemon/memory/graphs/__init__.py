"""The graph of memory objects: read, checked and exported."""
