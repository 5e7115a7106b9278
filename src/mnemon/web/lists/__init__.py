"""The pages of mailing lists: threads and what they came to, messages, sources and archives, reports."""
