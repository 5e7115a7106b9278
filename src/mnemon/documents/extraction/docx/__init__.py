"""Text and structure of Word files."""
