"""The bus: the log as others outside see it.

`envelope` puts an event of the log into the envelope that is sent; `schemas` says what each looks like, as JSON Schema;
`asyncapi` is the document that describes them all. How envelopes leave is the business of whoever sends them.
"""
