"""The log over REST."""
