"""What may be done with users and their access tokens, declared once for every door."""
