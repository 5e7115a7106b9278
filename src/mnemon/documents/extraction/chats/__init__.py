"""What chat programs export: who wrote what, and when."""
