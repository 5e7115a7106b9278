"""Projection: lenses and the state of entities, derived from the log and made anew from it.

Lenses are tables; capabilities declare them and the composition root adds them to the `Projector`. The state of an
entity has no table of its own: it is folded when someone asks. To read in this order:

1. `lens`                  what a projection declares about itself: name, tables, pattern, `apply`, version
2. `inline_projection`     rows in the transaction of the append
3. `partition_projection`  rows soon after, a batch with its cursor in one transaction
4. `lens_tables`           columns, state hash, private copies, the exchange of a tenant's rows
5. `rebuild`               replay into a private copy, then exchange it, or compare it (verify)
6. `lens_states`           version of the rows, progress of a rebuild, what a lens needs no longer
7. `projector`             keeps every tenant's lenses, rebuilds, verifies, forgets
8. `snapshots`             the state of a projection as of a sequence in each partition
9. `state_fold`, `entity_states`, `entity_snapshots`  an entity as of now or any moment, by the rules of event types

What holds:

- A lens is the fold of the log: `apply` depends on events and its own tables, no clock, no chance, no model. Two
  rebuilds give the same state hash.
- Each event counts once: rows and cursor change together, and whoever writes rows holds the lens's lock shared, whoever
  exchanges them holds it alone.
- Rows of another version of the code are made anew; the old ones serve until the exchange.
- Nothing that was read before an erasure is written after it: writers hold the erasure epoch they read in.
- Entities are folded by effective date, then sequence; an event dated before what a snapshot holds makes it stale.
- Payloads go to the archive only once every lens and every entity with a declared state can do without them.
"""
