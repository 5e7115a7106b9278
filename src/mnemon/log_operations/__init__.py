"""What a user may do with the log, declared once: above the rooms that know whose words an event holds."""
