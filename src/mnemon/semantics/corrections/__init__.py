"""What people say about semantic events: it is recorded, stands above what was read, and can be taken back."""
