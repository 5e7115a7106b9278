-- Batches that a subscriber claimed for itself: the lease ends with the acknowledgement of the last event in it.
-- NULL if it is not known which that is; then the lease runs out, or its holder claims again.

ALTER TABLE mnemon.subscription_cursors ADD COLUMN claimed_to bigint;
