"""Proof: the chain, signed checkpoints, receipts, and the checks of all of them.

`Integrity` has all of it in one place for doors and jobs. To read in this order:

1. `chain`             what is hashed, in which order; which digests redactions attest in place of the recorded ones
2. `merkle`            the tree over a partition's hashes: one root for all events, a short path for each
3. `signing`           the key that signs checkpoints: in the home folder, readable by its owner only
   `signing_keys`      the same of any home: its folder, or numbered and encrypted in the bucket of a shared one
4. `handover`          each signing key names the next one
5. `pinned_keys`       which keys may sign a tenant's checkpoints, by the log and by the database
6. `checkpoint`        signed statements of how far a partition had come
7. `checkpoint_store`  where they are kept, outside the database: `checkpoint_files`, or `bucket_checkpoints` that
                       several machines write and that are read together as `checkpoint_packs`
8. `signer`            signs checkpoints, which are kept for good, and seals, each in place of the one before
9. `recorded`          what the database says was signed, compared with the files
   `adopted_restore`   a log that was brought back on purpose: what was signed of the lost part is set aside
10. `sealing`          signs the newest events every few seconds of activity
11. `tree_nodes`       roots over ranges of events, kept or computed
12. `consistency`      proof that a log which had one root grew into one with another
    `witness_places`   places outside that keep the newest checkpoint: folder, bucket, address, another Mnemon
    `s3_requests`      requests to a bucket, signed
    `witnesses`        sends what is newly signed, and compares with what was seen
    `witnessing`       the other side: keep the roots of another Mnemon's log
13. `receipt`          proof that one event stands in the log that a checkpoint attests, without the rest of the log
14. `side_tables`      what the tables beside the events should say, going by the envelopes
15. `walk`             along a chain: each hash is made anew from what is stored, and each copy compared
16. `verify`           one partition, every place where it does not hold
17. `export`           a partition as lines that anyone can check without Mnemon
18. `integrity`        sign, prove, export and verify a tenant's partitions
19. `restored`         after a restore: the backup's checkpoints where the home has none, and what was signed beyond it

What holds:

- `hash = H(domain, previous, sequence, recorded time, H(envelope), H(payload))` over the stored bytes. The database
  computes the same in `append_events`; `verify/` in this repository does so once more and shares no code with it.
- The genesis hash names tenant and legal entity: a chain cannot be passed off as another partition's.
- The payload counts by its digest alone, so erasing, redacting and archiving leave the chain as it is.
- Signers of one partition take turns by a lock in the database, whatever machine they are on.
- A checkpoint that contradicts an earlier one is never signed, nor one with a key that no pinned key leads to.
- A verification starts from what was signed: files, record in the database and log must agree on what there is.
- A verification names every place that is wrong, goes on after it, and can go on later from where it stopped.
"""
