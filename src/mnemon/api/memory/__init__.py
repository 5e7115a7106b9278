"""Memory over REST."""
