"""The tenant that is there from the first start, and meant where none is named."""

DEFAULT_SLUG = "main"
