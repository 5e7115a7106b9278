"""Text and structure of mails."""
