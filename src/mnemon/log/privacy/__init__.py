"""Privacy: personal values under keys, and the ways in which a payload leaves the log: erased, redacted, archived.

The envelope and the chain stay in all three cases; only the payload's row changes. That is why they share a room, and
why one seal brings back what can be brought back. To read in this order:

1. `privacy`            `Privacy`: the sealed log and all of this room in one place; most callers need nothing else
2. `seal`               the step between a validated event and the bytes that are hashed, and its way back
3. `personal`           where personal values are in an event, and whose they are
4. `crypto_seal`, `terms`  the real seal: each value encrypted, bound to its event, field and person, and to a term
5. `subjects`           one data key per person, wrapped in the database, open in a small memory for a short time
6. `wrapping_keys`, `kms`, `rotation`  the keys that wrap those, from the home, the environment or AWS KMS; their change
   `first_keys`, `sharers`  gateways that share a home make its first keys in turn; databases that share one spare keys
7. `affected`           which events hold something about a person
8. `erasure`            one person asks, another approves, the key is destroyed, derived data is made anew
9. `erasure_list`, `erasure_lines`, `repeated_erasures`  who was forgotten, outside the database; done again
                        where that was restored
10. `retention`         what has outlived the term of its event type, forgotten on schedule
11. `epochs`, `invalidation`  what was read before an erasure is not written after it; other processes forget at once
12. `redaction`, `redaction_requests`  values taken out of payloads that were stored in plain text, in two steps
13. `archive`, `archive_objects`, `archive_store`, `bucket_archive`  old payloads to a store and back
14. `scan`              looks for given words everywhere that Mnemon keeps anything
15. `privacy_events`    what the log records about all this: ids and code words, never prose

What holds:

- A personal value is encrypted before anything is written: neither a table nor a write-ahead log ever holds it plain.
- Destroying a key is final. Whoever derived something from the person's values is told and lets go of it.
- Erasure and redaction need two people. Both are events, so the log still verifies and says what happened.
- A payload is archived only when it is proven to be what was recorded, and when nothing derived still needs it.
"""
