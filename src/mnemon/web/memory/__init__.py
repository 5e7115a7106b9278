"""The pages of memory: objects and their history, the picture of their links, branches."""
