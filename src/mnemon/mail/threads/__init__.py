"""Threads: which messages belong together, who answers whom, and which vote a result is of.

`threads_of(members)` (`linking`) is a pure function of a set of messages: in whatever order they came, the same set
gives the same threads. `subjects` says when two subjects are one; `results` ties "[RESULT]" to its vote.
"""
