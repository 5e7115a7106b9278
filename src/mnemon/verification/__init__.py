"""Verification: one check of everything that could be changed behind Mnemon's back, by command and by the clock.

1. `findings`   what a check found, and how much it looked at
2. `chains`     every partition of the log, from what was signed
3. `log_rows`   rows beside the log: heads, periods, event types, keys, redactions, erasures, keys of people
4. `derived`    every lens by replay, every snapshot of an entity by folding it anew
5. `people`     tenants, users, tokens, login links and approvals by the events that made them
6. `places`     sources and recipients by the events that added and changed them
7. `content`    every stored file against its name, every text against its hash, every chunk against its text
8. `guards`     triggers, policies, grants and functions against the schema that this program makes; the schedules
9. `events`     the event that records a result
10. `run`       all checks of one tenant, and the record of the result
11. `jobs`      the same by the clock: what is new, and a seventh part of the old each night
12. `operations`  what a user may ask for
"""
