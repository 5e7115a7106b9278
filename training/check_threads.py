"""Check the invented mailing-list threads in training/threads and count what they hold."""

import json
import re
import sys
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "threads"
STANCES = ["support", "support_conditional", "object", "withdraw", "neutral", "question", "conclude"]
SPLITS = ["train", "tune", "blind"]
# These were dealt out in turn; what came later is for learning alone.
DEALT_OUT = 272
OUTCOMES = ["agreement", "dissent", "mixed", "none"]
VALUES = ["+1", "+0", "0", "-0", "-1", "+0.5"]


def in_new_text(quote: str, body: str) -> bool:
    """Whether the quote stands somewhere in the body outside lines that begin with '>'."""
    at = body.find(quote)
    while quote.strip() and at >= 0:
        lines = body[body.rfind("\n", 0, at) + 1 : at + len(quote)].split("\n")
        if not any(line.startswith(">") for line in lines):
            return True
        at = body.find(quote, at + 1)
    return False


def faults(number: str, place: int, thread: dict[str, Any]) -> list[str]:
    """What is wrong with one thread, in words."""
    found: list[str] = []
    seen: dict[str, datetime] = {}
    messages = thread["messages"]
    senders = {m["from"].split(" <")[0] for m in messages}
    split = SPLITS[place % 3] if place < DEALT_OUT else "train"
    if thread["split"] != split or thread["outcome"] not in OUTCOMES:
        found.append("split or outcome")
    if thread["language"] not in ("en", "de") or not 3 <= len(messages) <= 14:
        found.append("language or number of messages")
    if not all(thread[key] for key in ("kind", "list", "subject")) or thread["chairs"] != list(
        dict.fromkeys(thread["chairs"])
    ):
        found.append("kind, list, subject or chairs")
    for count, message in enumerate(messages, 1):
        name, body, answered = message["id"], message["body"], message["reply_to"]
        date = datetime.fromisoformat(message["date"])
        if name != f"{number}-m{count}" or date.tzinfo is None:
            found.append(f"{name}: id or date")
        if not re.fullmatch(r"[^<>@]+ <[\w.+-]+@[\w.-]*example\.(org|net|com)>", message["from"]):
            found.append(f"{name}: from {message['from']}")
        if answered is not None and (answered not in seen or seen[answered] > date):
            found.append(f"{name}: reply_to {answered}")
        seen[name] = date
        for label in message["labels"]:
            if label["stance"] not in STANCES or not label["about"]:
                found.append(f"{name}: label {label}")
            if not in_new_text(label["quote"], body):
                found.append(f"{name}: not in the new text: {label['quote']!r}")
        vote = message.get("vote", {"value": "0", "binding": None})
        if vote["value"] not in VALUES or vote["binding"] not in (True, False, None):
            found.append(f"{name}: vote {vote}")
    for objection in thread["objections"]:
        own = [m["body"] for m in messages if m["from"].startswith(objection["by"] + " <")]
        if objection["by"] not in senders or type(objection["resolved"]) is not bool:
            found.append(f"objection by {objection['by']}")
        if not any(in_new_text(objection["quote"], body) for body in own):
            found.append(f"objection not said: {objection['quote']!r}")
    return [f"{number}: {fault}" for fault in found]


def main() -> int:
    """Check every thread, print the counts, answer 1 on any fault."""
    wrong: list[str] = []
    counts: dict[str, Counter[str]] = {k: Counter() for k in ("kind", "language", "outcome", "split", "stance")}
    for place, path in enumerate(sorted(HERE.glob("*.json"))):
        thread = json.loads(path.read_text(encoding="utf-8"))
        if path.stem != f"{place + 1:03d}":
            wrong.append(f"{path.name}: number out of turn")
        wrong += faults(path.stem, place, thread)
        for key in ("kind", "language", "outcome", "split"):
            counts[key][thread[key]] += 1
        counts["stance"].update(x["stance"] for m in thread["messages"] for x in m["labels"])
    for key, counter in counts.items():
        print(f"{key}: " + ", ".join(f"{name} {count}" for name, count in counter.most_common()))
    print("\n".join(wrong) if wrong else "no fault")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
