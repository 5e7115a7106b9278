"""Tenants, users and tokens on the command line."""
