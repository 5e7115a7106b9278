"""Reports: what lists discussed, as a page that a chair would sign. Made of others' words alone; no model is asked.

`drafting.draft_report(kind, threads)` puts findings into lines, each with the places that prove it; `checking` reads
those places again and drops a line whose words do not stand there; `writing` gives Markdown, HTML or HTML for print.
"""
