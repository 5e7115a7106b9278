"""How texts of every kind are found: words and their counts, vectors, one ranking, one refusal of nonsense."""
