"""Durable jobs: kinds declared in code, a queue in the database, workers, and schedules."""
