"""A teammate at one running server: the wheel, the command, the client and MCP, as another Unix user elsewhere.

The teammate has no right to anything of the server's owner: not the repository's interpreter, not the home folder.
"""

import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.patience import PATIENCE

TEAMMATE = "nobody"
NOTE = "# Minutes\n\nThe board approved the budget of 40,000 euros on 3 May 2026.\n"
QUESTION = "When was the budget approved?"

CLIENT = """
import os, mnemon
with mnemon.connect() as memory:
    memory.add("second.md")
    answer = memory.ask("Who waters the plants?")
    memory.remember("The gate code is kept by Ines.")
    print(mnemon.__file__, os.getuid(), answer.text, answer.citations[0].title, memory.recall("gate code")[0].content)
"""

AGENT = """
import anyio, os, sys
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

async def main():
    command = StdioServerParameters(command=sys.executable, args=["-m", "mnemon", "mcp"], env=dict(os.environ))
    async with Client(stdio_client(command)) as agent:
        for tool, given in [("ask", {"question": "When was the budget approved?"}), ("recall", {"query": "gate code"})]:
            answer = await agent.call_tool(tool, given)
            print(answer.is_error, *(part.text for part in answer.content))

anyio.run(main)
"""


@dataclass(frozen=True)
class Place:
    """Where somebody works: an interpreter that they may run, the installed wheel, their folder and their user."""

    python: str
    installed: Path
    folder: Path
    user: str | None

    def run(self, *words: str, given: str = "", code: int = 0, **beside: str) -> str:
        done = subprocess.run(
            [self.python, *words], env=self.environment(**beside), cwd=self.folder, user=self.user,
            extra_groups=[] if self.user else None, group=pwd.getpwnam(self.user).pw_gid if self.user else None,
            input=given, capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        return done.stderr if code else done.stdout

    def environment(self, **beside: str) -> dict[str, str]:
        packages = f"{self.installed}:{sysconfig.get_path('purelib')}"
        own = {"HOME": str(self.folder), "PYTHONPATH": packages, "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        return own | {"PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"} | beside


def python_of(user: str, packages: str) -> str | None:
    """An interpreter of this version that the user may start, with the installed packages."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for candidate in (sys.executable, f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        words = [candidate, "-c", "import psycopg, pydantic_core, numpy"]
        try:
            told = subprocess.run(words, user=user, extra_groups=[], cwd="/", env={"PYTHONPATH": packages})
        except OSError:
            continue
        if told.returncode == 0:
            return candidate
    return None


@pytest.fixture(scope="module")
def owner(installed: Path, open_folder: Path) -> Place:
    return Place(sys.executable, installed, Path(tempfile.mkdtemp(dir=open_folder)), None)


@pytest.fixture(scope="module")
def teammate(installed: Path, open_folder: Path) -> Iterator[Place]:
    python = python_of(TEAMMATE, sysconfig.get_path("purelib"))
    if python is None:
        pytest.skip(f"no interpreter of this version with its packages that the user {TEAMMATE} may start")
    folder = Path(tempfile.mkdtemp(prefix="mnemon-teammate-"))
    shutil.chown(folder, TEAMMATE)
    yield Place(python, installed, folder, TEAMMATE)
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def url(owner: Place) -> Iterator[str]:
    """The address of a running server; it listens before it is ready, and requests wait."""
    server = subprocess.Popen(
        [owner.python, "-m", "mnemon", "serve", "--port", "0"], cwd=owner.folder, stdout=subprocess.PIPE,
        env=owner.environment(MNEMON_HOME=str(owner.folder / "home"), MNEMON_DATABASE_LINGER_SECONDS="0"), text=True,
    )  # fmt: skip
    try:
        assert server.stdout
        told = re.search(r"http://\S+:\d+", server.stdout.readline())
        assert told is not None
        yield told[0]
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=PATIENCE)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another Unix user")
def test_a_teammate_works_at_a_running_server_as_another_user(owner: Place, teammate: Place, url: str) -> None:
    at_home = {"MNEMON_HOME": str(owner.folder / "home")}
    owner.run("-m", "mnemon", "user", "add", "ana@example.org", "--role", "user", **at_home)
    told = owner.run("-m", "mnemon", "user", "link", "ana@example.org", **at_home)
    link = re.search(r"http://\S+/login#\S+", told)
    assert link is not None and link[0].startswith(url), told

    for name, text in (
        ("minutes.md", NOTE),
        ("second.md", "# Plants of the office\n\nIbrahim waters the plants every Friday.\n"),
    ):
        (teammate.folder / name).write_text(text)
    said = teammate.run("-m", "mnemon", "login", link[0])
    assert "ana" in said and url in said
    there = {"MNEMON_SERVER": url}
    teammate.run("-m", "mnemon", "add", "minutes.md", **there)
    assert "3 May 2026" in teammate.run("-m", "mnemon", "ask", QUESTION, **there)
    shown = teammate.run("-m", "mnemon", "open", "1", **there)
    assert "approved the budget of 40,000 euros" in shown

    by_client = teammate.run("-c", CLIENT, **there)
    assert str(teammate.installed) in by_client
    assert f" {pwd.getpwnam(TEAMMATE).pw_uid} Ibrahim waters the plants" in by_client
    assert "Plants of the office The gate code is kept by Ines." in by_client

    by_agent = teammate.run("-c", AGENT, **there).splitlines()
    assert all(not line.startswith("True") for line in by_agent), by_agent
    assert any("3 May 2026" in line for line in by_agent) and any("kept by Ines" in line for line in by_agent)

    # A token makes no other; the command says so, and nothing of an administrator that the home would have meant.
    refused = teammate.run("-m", "mnemon", "token", "add", "mine", code=1, **there)
    assert "log in on the page" in refused, refused

    # What the teammate did is the teammate's, and nothing of a home of their own was made beside the token.
    assert "3 May 2026" in owner.run("-m", "mnemon", "ask", QUESTION, **at_home)
    left = {file.name for file in (teammate.folder / ".local/share/mnemon").iterdir()}
    assert "servers.json" in left and "postgres" not in left, left
