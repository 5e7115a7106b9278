"""Intake: from received bytes to a run that a worker will do."""
