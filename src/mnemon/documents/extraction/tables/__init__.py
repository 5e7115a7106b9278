"""Tables in plain text: CSV, TSV and JSON that is a list of records."""
