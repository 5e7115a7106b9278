"""Ingestion: from a stored file to text, structure, chunks and vectors."""
