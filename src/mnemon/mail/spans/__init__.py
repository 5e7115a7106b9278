"""Spans: what each part of a message's text is. Nothing is taken out; the labels say what is new.

`label_text(text)` (`labelling`) gives spans that cover the text from end to end, without gaps: new, quote with its
depth, attribution, signature, footer, forwarded, code, ballot. `new_text(text, spans)` (`normalized`) is
`body_normalized`: the new text alone. All patterns take linear time.
"""
