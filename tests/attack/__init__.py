"""The attack as a suite: generated requests, every route by every role and owner, hostile files, broken ones."""
