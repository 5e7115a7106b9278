"""Transports: how a worker hears of a job. The job's row stays the truth; a message carries its id and nothing else.

Without one, workers claim from the table. With one, `announcing` tells it of jobs that are due, again if need be, and
`transport_intake` takes messages while there are slots, claims the job that each names, and acknowledges a message once
what came of its job is on record. `http_transport`, `nats_transport` and `sqs_transport` carry them; `choose` reads the
settings. What all of them must keep is in `transport`.
"""
