"""Consensus: what a discussion agreed or disputed, by whom, in whose words.

`judge_discussion(discussion, reader)` (`judging`) is a pure function. `votes` reads votes, `formulas` stances in fixed
words, `reader` all others by a small adapter of the embedder; `conclusions` reads what a chair concluded, which stands
above all that; `objections` follows each objection until it is met or withdrawn. Quotations, ballot templates and
signatures are never read.
"""
