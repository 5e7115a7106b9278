"""Who is asking: tenants, users, sessions, access tokens, roles."""
