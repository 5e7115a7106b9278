"""People behind addresses: one person has several addresses, and one address several spellings.

Merged only where there is little doubt: by an address, or by a full name that is written the same but for case,
accents, order and quotes. A single word, a role ("The IESG") or a robot's name ties nothing together.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import pairwise

from mnemon.mail.message.message import MailAddress

ROLE = re.compile(
    r"\b(?:iesg|iana|iab|ietf|chairs?|secretar\w*|editor|admin\w*|team|list|bot|jenkins|jira|github|gitbox|buildbot|"
    r"no-?reply|daemon|system|service|notification\w*|commits?|datatracker|via|root|postmaster|webmaster|support|info)\b",
    re.IGNORECASE,
)
VIA = re.compile(r"\s+(?:via|\(via) .*\Z", re.IGNORECASE)
ASIDE = re.compile(r"\s*[(\[][^()\[\]]{0,80}[)\]]\s*")
# Written by a list in the sender's place: "anna=40example.org@dmarc.ietf.org".
REWRITTEN = re.compile(r"([^@=]{1,100})=40([^@=]{1,200})@dmarc\.[a-z.]{2,40}\Z")


def own_address(address: str) -> str:
    """The address behind one that a list rewrote."""
    found = REWRITTEN.match(address)
    return f"{found[1]}@{found[2]}" if found else address


@lru_cache(maxsize=4_000)
def name_key(name: str) -> str | None:
    """What two spellings of one full name share; None where a name tells no person."""
    plain = ASIDE.sub(" ", VIA.sub("", name)).strip(" \"'")
    if "," in plain:
        last, _, first = plain.partition(",")
        plain = f"{first} {last}"
    folded = unicodedata.normalize("NFKD", plain.casefold())
    words = re.findall(r"[^\W\d_]{2,}", "".join(letter for letter in folded if not unicodedata.combining(letter)))
    if not 2 <= len(words) <= 5 or ROLE.search(plain):
        return None
    return " ".join(words)


def merge_people(seen: Iterable[MailAddress]) -> dict[MailAddress, str]:
    """Each name and address as seen, and the address that stands for its person: the first of theirs by letters."""
    everyone = list(dict.fromkeys(seen))
    above: dict[str, str] = {}

    def top(one: str) -> str:
        while above.setdefault(one, one) != one:
            one = above[one]
        return one

    for person in everyone:
        nodes = [f"address:{own_address(person.email)}"] if person.email else []
        nodes += [f"name:{key}"] if (key := name_key(person.name)) else []
        for first, second in pairwise(nodes):
            kept, gone = sorted((top(first), top(second)))
            above[gone] = kept
    return {person: _standing_for(person, top) for person in everyone}


def _standing_for(person: MailAddress, top: Callable[[str], str]) -> str:
    if person.email:
        return top(f"address:{own_address(person.email)}").partition(":")[2]
    key = name_key(person.name)
    return top(f"name:{key}").partition(":")[2] if key else person.name
