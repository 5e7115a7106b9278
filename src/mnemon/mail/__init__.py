"""Mailing lists: from an archive to its messages, what is new in each, and the threads that they make.

A mail is a document. Its revision is the decoded text of its body, its structure the labelled spans of that text.
`archives` parts files and folders into byte ranges; `message` reads one range, whatever its state; `spans` labels its
text; `threads` ties messages together. None of the four needs a database. `storing` puts what they give into the log
in batches, `lens` keeps `mail_messages` and `mail_threads`, `sources` fetches archives, `operations` is what a user may
do.
"""
