"""Agents on this machine: serving them, and telling their programs where Mnemon is."""
