"""Archives of files that are read by themselves."""
