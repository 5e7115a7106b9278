"""OpenDocument: texts, presentations and sheets of LibreOffice and its kin."""
