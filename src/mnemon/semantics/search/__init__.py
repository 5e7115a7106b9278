"""Search: semantic events found, listed, compared and handed out."""
