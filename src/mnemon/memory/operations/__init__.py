"""What a user may do with memory, declared once for every door: objects, branches, graph, meaning, upkeep, turns."""
