"""How declared operations become commands: their options, the names that help shows, and what a refusal says."""
