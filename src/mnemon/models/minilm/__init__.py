"""all-MiniLM-L6-v2 on onnxruntime: its words as tokens, its graph and the file of it, and the session that runs it."""
