"""The event store: every fact enters here, in order, and proves itself later."""
