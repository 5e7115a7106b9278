"""One suite that every transport passes."""
