"""Workbooks: sheets whose rows are told with their headings."""
