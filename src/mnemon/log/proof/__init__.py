"""Proof: the chain, signed checkpoints, receipts, and the checks of all of them."""
