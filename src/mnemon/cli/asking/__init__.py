"""Questions on a terminal: the answer, the dialogue, and the source behind a number of the last answer."""
