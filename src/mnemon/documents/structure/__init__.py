"""The one reading of a text's structure: lines, headings, turns, tables, sentences and dates."""
