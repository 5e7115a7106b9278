"""Privacy: personal values under keys, and all the ways to forget and to put away."""
