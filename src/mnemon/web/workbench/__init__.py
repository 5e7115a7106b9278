"""The workbench: a form and an answer for every operation that has no page of its own."""
