"""Text in pictures: recognised by Tesseract, where it is installed and allowed."""
