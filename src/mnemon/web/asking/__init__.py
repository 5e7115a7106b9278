"""The first page: a question and its answer, a search, and what there is at a glance."""
