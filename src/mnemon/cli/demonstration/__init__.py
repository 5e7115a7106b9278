"""`mnemon demo`: what Mnemon does, told step by step on an embedded database that is removed afterwards."""
