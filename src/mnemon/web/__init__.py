"""The web page door."""
