"""Subscriptions: who follows the log, how far they came, and what failed on the way.

A subscription has a cursor per partition. Three engines move it, and all of them by the same two modules, `cursors` and
`settling`: `delivery` calls a handler in this process, `pull` serves whoever fetches or claims batches, and
`project.partition_projection` writes lenses. To read in this order:

1. `subscriptions`  declare, list, pause, resume, reset, remove
2. `cursors`        the only writer of cursor rows: advance, put off, take, release, revoke, reset, fence
3. `parking`        events that failed, and those of the same entities that wait behind them
4. `settling`       what the end of an attempt does to cursor, parked events and circuit
5. `failures`       the count of failures, where the circuit breaks, and error texts without names
6. `positions`, `lag`  how far a subscription has come, partition by partition; how far behind all are, for metrics
7. `ready`, `dispatch`  which partitions have something to do, and the loop that works on them
8. `handling`, `delivery`  one event to a handler within its time; one partition in order, under a lease
9. `offers`, `gathering`, `pull`  what a subscriber may be given, one look at all partitions, fetch and settle
10. `dead_letters`  what was given up, until someone replays or discards it
11. `limits`        how much at a time, how often, how long, how many failures

What holds (docs/states.md has the diagrams):

- A cursor moves forward only, for the holder of its newest token only, but for a reset, which makes a new token.
- Cursor, parked events and counts of one attempt change in one transaction: a crash repeats, and skips nothing.
- An event that failed holds up later events of its entities, or its whole partition where the subscription says so;
  others go on. With 1,000 parked the partition waits too.
- The cursor of a lens, `lens:NAME`, is moved by the lens alone.
"""
