"""The log on the command line."""
