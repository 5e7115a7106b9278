"""Archives: which bytes of a file or folder are messages, and which are none.

`mbox` parts a stream, `folders` a Maildir or a folder of single mails, `opening` opens what is compressed.
Every byte is within one `ArchivedMessage` or one `ArchiveDefect`; memory does not grow with the archive.
"""
