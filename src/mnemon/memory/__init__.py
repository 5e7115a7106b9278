"""Memory objects: versioned, branched and replayable; lenses over the log in tables, graphs and vectors."""
