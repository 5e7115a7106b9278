"""Reading: single events, pages of streams, lineage, and following the log live.

To read in this order:

1. `streams`   which events a reader wants: a stream, a filter, and the cursor that says where it stopped
2. `select`    the SQL that walks a stream along its B-tree
3. `reader`    `LogReader`: one event, a page, or a scan of a partition for replay; opens sealed payloads
4. `lineage`   what led to an event, what followed from it, and the whole process it belongs to
5. `query`     streams in the words of a query string or a command
6. `pattern`   which events a follower wants, and the bounded walk that finds the next of them in a partition
7. `arrivals`  tells whoever waits in this process that a partition has grown, here or elsewhere
8. `merged`    a stream over all partitions of a tenant, by recorded time, with a place in each
9. `follower`  the log live, with no position kept; durable followers are in `subscribe`

What holds:

- A stream is read in the order of the sequence within one partition. There is no order across partitions: a merged
  stream is sorted by recorded time, and may tell later what was committed later.
- Reading a page takes as many steps as the page has events, however long the stream is; plan tests watch over that.
- A cursor belongs to its stream: one of another stream is refused rather than misread.
- `find_next` reads up to a head that is known to be committed and says how far it has searched, so that whoever wants
  rare events moves on too, and holds no snapshot of the database for long.
- Who waits listens first, then looks, then waits for a bounded time: nothing that comes in between is missed.
- Payloads come back sealed from SQL; `LogReader.open` gives them as their readers may see them, also from the archive.

`subscribe` and `project` read by patterns, `proof` scans partitions, doors read pages and lineage.
"""
