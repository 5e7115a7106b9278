"""Text and structure of web pages."""
