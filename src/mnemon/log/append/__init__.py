"""Appending: from a caller's events to rows at the head of one partition.

Callers use `EventLog.append`, or `EventLog.transaction` to append beside other writes. Both walk the same way:

1. `incoming`     the JSON that clients send, and its way to `NewEvent`
2. `requests`     the events of one caller: checked, sealed and prepared before anything is locked, or refused
3. `prepare`      one event: does it fit its type; then its bytes are fixed and hashed
4. `envelope`     the attested fields of an event
5. `keys`         idempotency and business keys: what makes an append a repetition
6. `group`        concurrent requests to one partition share a transaction; each gets its own result
7. `writer`       calls `append_events` in a transaction, with inline lenses in it and the wake-up after it
8. `rows`, `arrays`  the columns that the function takes, as bytes that PostgreSQL reads at once
9. `refusals`     what the database refuses, told to each request that it concerns
10. `transaction` an append in a wider transaction, and the retry after a conflict
11. `wake`        one notification after the commit: a partition has grown

`elsewhere` asks what other partitions of the tenant hold already: an id that a caller chose, an idempotency key.
`periods` stands here because an append asks it: which effective dates are open, need an approver, or are closed.

What holds:

- A request is recorded whole or not at all, and a refusal of one caller fails no other in its group.
- What is hashed is what is stored: `prepare` makes the bytes once, and nobody encodes them again.
- Same key and same content give the first result again; same key and other content are a conflict.
- In a wider transaction the append comes as late as it can: the partition is locked from there to the commit.
- A lost wake-up costs readers their poll interval and nothing else, so its failures are not the writer's.
"""
