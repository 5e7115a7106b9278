"""What may be shown of a server's address and of its words: no key, no password."""

import re

LOGIN = re.compile(r"://[^/@\s]*@")
LONGEST_REASON = 300


def without_login(address: str) -> str:
    """Some proxies take a user and a password in the address."""
    return LOGIN.sub("://", address)


def shown_reason(text: str, secret: str | None) -> str:
    """What a server said, cut short, without our key, should it repeat it."""
    return without_login(text.replace(secret, "***") if secret else text)[:LONGEST_REASON]
