"""One running server, and all that ships used against it: from another folder, by another user of the machine."""

import json
import os
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
from tests.cli.conftest import mnemon_process
from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]
NOBODY = 65534
MINUTES = "# Minutes of the board\n\nThe board approved the budget of 40,000 euros on 3 May 2026.\n"
QUESTION = "When did the board approve the budget?"
CLIENT = f"""
import os, sys, mnemon
with mnemon.connect(os.environ["MNEMON_SERVER"], token=sys.argv[1]) as memory:
    memory.add("minutes.md")
    print(mnemon.__file__)
    print(memory.ask({QUESTION!r}).text)
    memory.remember("Refunds need Ada.")
"""
AGENT = f"""
import asyncio, os, sys
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
async def main():
    command = StdioServerParameters(command=sys.executable, args=["-m", "mnemon", "mcp"], env=dict(os.environ))
    async with Client(stdio_client(command)) as client:
        print((await client.call_tool("ask", {{"question": {QUESTION!r}}})).content[0].text)
        print((await client.call_tool("recall", {{"query": "refunds"}})).content[0].text)
asyncio.run(main())
"""


@dataclass
class Teammate:
    """Another user with a folder and a home of their own, who knows the server's address and has a token."""

    folder: Path
    environment: dict[str, str]
    python: str = sys.executable

    def run(self, *words: str, text: str = "") -> str:
        done = subprocess.run(
            [self.python, *words], cwd=self.folder, env=self.environment, input=text, capture_output=True, text=True,
            timeout=PATIENCE, user=NOBODY, group=NOBODY, extra_groups=[],
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def mnemon(self, *words: str, text: str = "") -> str:
        return self.run("-m", "mnemon", *words, text=text)


@pytest.fixture
def server(served_home: Path) -> Iterator[tuple[str, str]]:
    """The address of a server on this user's home, and a token of somebody whom its operator let in."""
    own = {**os.environ, "MNEMON_HOME": str(served_home), "MNEMON_EMBEDDER": "none", "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [sys.executable, "-m", "mnemon", "serve", "--port", "0"], env=own, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
    ) as serving:  # fmt: skip
        try:
            assert serving.stdout is not None
            found = re.search(r"http://\S+:\d+", serving.stdout.readline())
            assert found is not None
            mnemon_process(own, "user", "add", "bo@example.org")
            made = mnemon_process(own, "token", "add", "bo's", "--user", "bo@example.org", "--scope", "write", "--json")
            yield found[0], json.loads(made.stdout)["secret"]
            serving.send_signal(signal.SIGINT)
            serving.wait(timeout=PATIENCE)
        finally:
            serving.kill()


@pytest.fixture
def teammate(server: tuple[str, str], tmp_path: Path) -> Iterator[Teammate]:
    if os.geteuid() != 0:
        pytest.skip("only root may start programs as another user")
    folder = Path(tempfile.mkdtemp(prefix="mnemon-teammate-"))
    os.chown(folder, NOBODY, NOBODY)
    (folder / "minutes.md").write_text(MINUTES)
    wheel = folder / "wheel"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", tmp_path, ROOT], check=True)
    [built] = tmp_path.glob("mnemon-*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--no-index", "--target", wheel, built], check=True)
    environment = {
        "PATH": os.environ["PATH"], "PYTHONPATH": f"{wheel}:{sysconfig.get_path('purelib')}", "HOME": str(folder),
        "MNEMON_SERVER": server[0], "COLUMNS": "200", "LANG": "C.UTF-8",
    }  # fmt: skip
    mate = Teammate(folder, environment)
    try:
        mate.python = _python_for_all(mate)
        yield mate
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _python_for_all(mate: Teammate) -> str:
    """This one, or the machine's own of the same version where this one is in somebody's home."""
    why = ""
    for python in (sys.executable, f"/usr/bin/python3.{sys.version_info.minor}"):
        mate.python = python
        try:
            mate.run("-c", "import mnemon.client.connect")
            return python
        except (AssertionError, OSError) as failure:
            why = str(failure)[-200:]
    pytest.skip(f"another user can start no Python with what Mnemon needs: {why}")


@pytest.mark.slow
def test_wheel_client_command_and_agent_agree_at_one_server(teammate: Teammate, server: tuple[str, str]) -> None:
    url, token = server
    refused = subprocess.run(
        [teammate.python, "-m", "mnemon", "search", "budget"], cwd=teammate.folder, env=teammate.environment,
        capture_output=True, text=True, user=NOBODY, group=NOBODY, extra_groups=[], timeout=PATIENCE,
    )  # fmt: skip
    assert (refused.returncode, f"`mnemon login {url}`" in refused.stderr) == (1, True), refused.stderr
    assert f"Logged in to {url} as bo" in teammate.mnemon("login", url, text=f"{token}\n")
    where, *answer = teammate.run("-c", CLIENT, token).splitlines()
    assert where.startswith(str(teammate.folder / "wheel")), "the wheel, and not the repository"
    assert "approved the budget of 40,000 euros on 3 May 2026" in " ".join(answer)
    asked = teammate.mnemon("ask", QUESTION)
    assert "40,000 euros on 3 May 2026. [1]" in asked and "Minutes of the board" in asked
    assert "Minutes of the board" in teammate.mnemon("documents", "list")
    assert "Refunds need Ada." in teammate.mnemon("recall", "refunds")
    assert "40,000 euros on 3 May 2026" in teammate.mnemon("open", "1")
    by_agent = teammate.run("-c", AGENT)
    assert "40,000 euros on 3 May 2026" in by_agent and "Refunds need Ada." in by_agent
    assert not (teammate.folder / ".local" / "share" / "mnemon" / "postgres").exists(), "no database of their own"
