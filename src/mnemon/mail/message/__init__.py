"""One message: its headers, its text, what is attached and what it speaks of, whatever state its bytes are in.

Use `read_message(content, …)` of `reading`: it never raises, and says in `defects` what it had to put up with.
`MailMessage` (`message`) is what everything else is built on; `text` is the revision's text, and `spans` labels it
(`mnemon.mail.spans`). `ids` gives the deterministic names of the specification.
"""
