"""Reading: single events, streams, lineage, and following the log live."""
