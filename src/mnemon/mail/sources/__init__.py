"""Sources: where archives come from. Each is looked at when asked, or again and again, and goes on where it ended.

`kinds` tells a place's kind; `files` and `remote` bring what is new there, as far as `reach` lets them; `looking` is
the job that keeps it and begins its import, with the cursor of the source in the same transaction.
"""
