"""The words of a heading, without the marks that make it one."""

import re

UNDERLINE = re.compile(r"[ \t]*[=\-~_*#^]{3,}[ \t]*")
HASHES = re.compile(r"^#{1,6}(?:\s+|$)|\s+#+$")
MARKUP = re.compile(r"[*_`~]+|\[([^\]]*)\]\([^)]*\)")


LONGEST = 1_000


def heading_title(raw: str) -> str:
    lines = raw[:LONGEST].strip().split("\n")
    if len(lines) > 1 and UNDERLINE.fullmatch(lines[-1]):
        lines.pop()
    plain = " ".join(" ".join(lines).split())
    words = HASHES.sub("", plain)
    return MARKUP.sub(lambda found: found[1] or "", words).strip().rstrip(":") or plain
