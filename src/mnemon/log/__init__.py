"""The event store: every fact enters here, in order, and proves itself later.

Seven rooms stand on a few shared modules. An event walks through them from the top down: its type is known, it is
appended, read, followed, projected; a person in it may be forgotten, and all of it can be proven.

- `types`      what each kind of event must look like, how old data becomes new, what it does to entities
- `append`     from a caller's events to rows at the head of one partition, in one transaction
- `read`       single events, pages of streams, lineage, and following the log live
- `subscribe`  who follows the log, how far they came, and what failed on the way
- `project`    lenses and the state of entities: what is derived from the log and made anew from it
- `privacy`    personal values under keys, and the ways in which a payload leaves: erased, redacted, archived
- `proof`      the hash chain, signed checkpoints, receipts, and the checks of all of them

Shared by the rooms:

- `store`       `EventLog`, the public face: most callers need nothing else
- `events`      events as callers hand them in and get them back
- `partitions`  the number and the head of each (tenant, legal entity)
- `moments`     points in time, as JSON and as microseconds
- `errors`      what the log refuses, and why
- `home_sharing`  brings the keys and checkpoints of a home to the bucket that gateways share

What holds everywhere:

- One row per partition holds its head; an append locks it. So sequences have no gaps and follow the commits, and who
  has read up to a sequence has missed nothing before it.
- Nothing that was recorded changes. The application's role reads tables and calls `append_events`; triggers refuse the
  rest to everyone.
- The tenant comes from the transaction, never from an event; row-level security holds besides.
- Everything that can be done before the head is locked is done before: validation, encryption, encoding, hashing.
- A function that ends in `_in` works in the transaction of the connection that it is given.

The current text of each SQL function stands in `functions/` of the room that calls it, under its name:
`append/functions/append_events.sql` is the append.
"""
