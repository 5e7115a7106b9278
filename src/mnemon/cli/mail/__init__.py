"""`mnemon mail …`: archives of mailing lists, their threads, passages and consensus."""
