"""Text and structure of PDF files."""
