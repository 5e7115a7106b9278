"""Many small files through `mnemon add`: how long it takes without embedding, and how much of that is their reading."""

import os
import subprocess
import sys
import time
from pathlib import Path

from mnemon.documents.ingest.reader import read_isolated
from mnemon.settings import Settings

FILES = 300
NOTE = """# Note {number}

The board of office {number} met on {day} March 2026 and decided to move the archive to building {number}.

{person} will send the plan for room {number} by {day} April 2026.
"""
PEOPLE = ("Ada Byron", "Ben Okri", "Cleo Marsh", "Dora Lind", "Emil Hart", "Fay Osei", "Gus Pohl")


async def measure_small_files(folder: Path) -> dict[str, float]:
    notes = _write(folder / "notes")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MNEMON_")}
    environment |= {"MNEMON_HOME": str(folder / "home"), "MNEMON_EMBEDDER": "none"}
    _mnemon(environment, "db", "migrate")
    began = time.perf_counter()
    _mnemon(environment, "add", str(folder / "notes"), "--json")
    added = time.perf_counter() - began
    read = await _read_alone(notes)
    print(f"\n{FILES} small files, no embedding: {added:.1f} s, of which reading them alone takes {read:.1f} s")
    return {"small_files_300_s": added, "small_files_parse_share": read / added}


def _write(folder: Path) -> list[Path]:
    folder.mkdir()
    paths = [folder / f"note-{number}.md" for number in range(FILES)]
    for number, path in enumerate(paths):
        path.write_text(NOTE.format(number=number, day=number % 28 + 1, person=PEOPLE[number % len(PEOPLE)]))
    return paths


def _mnemon(environment: dict[str, str], *words: str) -> None:
    command = [sys.executable, "-m", "mnemon", *words]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, timeout=900)


async def _read_alone(paths: list[Path]) -> float:
    """One after the other, in processes as the worker uses them; their start counts too."""
    settings = Settings(embedder="none")
    began = time.perf_counter()
    for path in paths:
        await read_isolated(path, "md", settings)
    return time.perf_counter() - began
