"""Memory on the command line: objects, branches, and how they look."""
