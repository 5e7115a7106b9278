"""`mnemon add`: files and folders of this machine, taken in here or sent to a server, once or as they change."""
