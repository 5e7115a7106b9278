"""The bus: the log as others outside see it, and what they send back.

`envelope` puts an event of the log into the envelope that is sent; `schemas` says what each looks like, as JSON Schema;
`asyncapi` is the document that describes them all. `publishing` follows the log and hands envelopes to a `carrier`,
which is `rabbitmq` or `nats_carrier`, as `choose` reads from the settings; `receiving` takes envelopes of others into
the log.
"""
