"""The typed client: one set of calls, on a home of this machine or on a server by its address.

1. `connect`    what `from mnemon import connect` gives: the client for a home or an address
2. `calls`      add, ask, search, remember, recall, events, append, subscribe, each with its types
3. `waiting`    the same calls for programs that do not await
4. `embedded`   calls on this machine: opens the home, reads files itself where no worker does
5. `remote`     calls by address: any declared operation as the request that `addresses.json` says it is
6. `failures`   what a server refused, as the error that it is
7. `servers`    which servers a person has logged in to, and their tokens
8. `reading`    sees that files which were taken in are read
9. `roots`      the last root of a log that was seen, and whether a newer one has grown out of it
10. `named`     operations by their names, and inputs by their fields
"""
