"""How long a small file waits to be found while another tenant's largest files are read and embedded."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
from upload_bench import Serving, serving

# The most passages that a file may make, in as few bytes as that takes.
LARGEST = "".join(f"# Heading {number}\n\nLine {number} of the largest file.\n\n" for number in range(10_000)).encode()
PATIENCE = 900


async def measure_neighbour(quick: bool) -> dict[str, float]:
    """The longest of several waits, each from the upload of a note until a search by its tenant finds it."""
    heavy, notes = (2, 3) if quick else (4, 8)
    with tempfile.TemporaryDirectory(prefix="mnemon-bench-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        async with serving(Path(folder)) as server:
            neighbour = await _neighbour(server, Path(folder))
            for number in range(heavy):
                content = LARGEST + f"File {number}.\n".encode()
                answer = await server.client.post("/v1/ingest", files={"file": (f"large-{number}.md", content)})
                answer.raise_for_status()
            await _embedding(server)
            waits = [await _wait(neighbour, number) for number in range(notes)]
            await neighbour.aclose()
    print(f"A note of another tenant beside {heavy} of the largest files is found after {max(waits):.1f} s at most")
    return {"small_file_wait_s": max(waits)}


async def _neighbour(server: Serving, folder: Path) -> httpx.AsyncClient:
    """Somebody of another tenant, logged in."""
    person = ("neighbour@example.org", "--tenant", "neighbour")
    _mnemon(folder, "tenant", "add", "neighbour")
    _mnemon(folder, "user", "add", *person)
    link = json.loads(_mnemon(folder, "user", "link", *person, "--json"))["url"].partition("#")[2]
    client = httpx.AsyncClient(base_url=server.client.base_url, timeout=60)
    session = (await client.post("/v1/auth/link", json={"link": link})).json()
    client.headers["Authorization"] = f"Bearer {session['access_token']}"
    return client


def _mnemon(folder: Path, *words: str) -> bytes:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MNEMON_")}
    environment |= {"MNEMON_HOME": str(folder / "home"), "MNEMON_LOG_LEVEL": "WARNING"}
    command = [sys.executable, "-m", "mnemon", *words]
    return subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, timeout=300).stdout


async def _embedding(server: Serving) -> None:
    """Until a large file is being embedded: before that, its reading is the load."""
    deadline = time.perf_counter() + PATIENCE
    while time.perf_counter() < deadline:
        runs = (await server.client.get("/v1/ingestion-runs", params={"limit": 20})).json()["items"]
        if any(run["stage"] == "embed" for run in runs):
            return
        await asyncio.sleep(0.2)
    raise SystemExit("No large file came to be embedded.")


async def _wait(client: httpx.AsyncClient, number: int) -> float:
    word = f"zebra{number}crossing"
    began = time.perf_counter()
    note = f"The committee agreed on {word} for the north gate.".encode()
    (await client.post("/v1/ingest", files={"file": (f"note-{number}.txt", note)})).raise_for_status()
    while time.perf_counter() - began < PATIENCE:
        found = (await client.get("/v1/search", params={"query": word})).json()
        if any(word in str(one) for one in found["items"]):
            return time.perf_counter() - began
        await asyncio.sleep(0.1)
    raise SystemExit(f"The note {number} was not found within {PATIENCE} s.")
