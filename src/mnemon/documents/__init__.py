"""Documents: from a file to an immutable text, its chunks, and the runs that a user follows."""
