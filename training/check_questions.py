"""Check the questions under training/questions against the documents they ask about."""

import json
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
PLACES = ("corpus", "library", "conversations")
KINDS = ["who", "when", "where", "how_many", "how_much", "why", "yes_no", "list", "definition", "what", "how"]
REASONS = ["wrong_person", "wrong_time", "wrong_version", "not_said", "false_premise", "other_thing"]
FIELDS = {"id", "question", "kind", "answer", "quotes"}
EXTRA = {"alternatives", "standing", "replaced", "unanswerable"}


def document(stem: str) -> Path | None:
    """The text that a file of questions belongs to."""
    paths = [HERE / place / f"{stem}.txt" for place in PLACES]
    return next((path for path in paths if path.exists()), None)


def faults(item: dict[str, object], text: str) -> list[str]:
    """Everything that is wrong with one question."""
    found = [f"no {field}" for field in sorted(FIELDS - set(item))]
    found += [f"unknown field {field}" for field in sorted(set(item) - FIELDS - EXTRA)]
    if found:
        return found
    if item["kind"] not in KINDS:
        found.append(f"unknown kind {item['kind']}")
    lists = {name: item.get(name, []) for name in ("quotes", "alternatives")}
    lists["replaced"] = [item["replaced"]] if "replaced" in item else []
    for name, quotes in lists.items():
        if not isinstance(quotes, list):
            found.append(f"{name} is no list")
            continue
        found += [f"{name} not in the text: {q!r}" for q in quotes if not q or q not in text]
    reason = item.get("unanswerable")
    if (item["answer"] is None) != (reason is not None):
        found.append("answer must be null exactly when unanswerable")
    if reason is not None and reason not in REASONS:
        found.append(f"unknown reason {reason}")
    if (reason is None) != bool(item["quotes"]):
        found.append("quotes must stand exactly when answerable")
    if item.get("standing", True) is not True or ("standing" in item) != ("replaced" in item):
        found.append("standing must be true and come with replaced")
    if not str(item["question"]).strip() or item["answer"] == "":
        found.append("empty question or answer")
    return found


def main() -> int:
    """Check every file and print the counts."""
    bad, seen, counts = 0, set[str](), Counter[str]()
    for path in sorted((HERE / "questions").glob("*.jsonl")):
        source = document(path.stem)
        if source is None:
            print(f"{path.name}: no such document")
            bad += 1
            continue
        text = source.read_bytes().decode()
        about = json.loads(source.with_suffix(".json").read_text(encoding="utf-8"))
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            if not line.strip():
                continue
            try:
                item = json.loads(line)
                problems = faults(item, text)
            except ValueError as error:
                item, problems = {}, [str(error)]
            name = str(item.get("id", ""))
            if name in seen or not name.startswith(path.stem.split("_")[0] + "-q"):
                problems.append(f"id {name!r} is doubled or of another document")
            seen.add(name)
            for problem in problems:
                print(f"{path.name}:{number}: {problem}")
            bad += len(problems)
            counts.update([f"language {about['language']}", f"kind {item.get('kind')}"])
            counts.update([f"split {about['split']}", "all"])
            counts.update(key for key in ("unanswerable", "standing") if key in item)
        counts["documents"] += 1
    for name, number in sorted(counts.items()):
        print(f"{number:6} {name}")
    print(f"{bad} faults")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
