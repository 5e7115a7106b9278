"""The learned ranking: reads question and passage together, by a small adapter of the installed embedder."""
