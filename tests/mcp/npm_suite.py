"""Programs from npm that test MCP servers, installed once under `.make/`, and the Node that they need."""

import asyncio
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".make" / "mcp-suite"
CONFORMANCE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
# Pinned: npm would choose an older one to suit the Node that runs npm itself.
INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}
LONGEST = 600


def node_package() -> str:
    """Node itself as npm has it; the package `node` would need an install script, which npm may refuse to run."""
    machine = MACHINES.get(platform.machine().lower(), platform.machine())
    return f"node-{'darwin' if sys.platform == 'darwin' else 'linux'}-{machine}"


def install() -> None:
    """Skip, with the reason, where there is no npm or no registry."""
    if (FOLDER / "done").exists():
        return
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed: the MCP suites come from there")
    FOLDER.mkdir(parents=True, exist_ok=True)
    packages = [CONFORMANCE, INSPECTOR, f"{node_package()}@22"]
    command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(FOLDER), *packages]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=False)
    if done.returncode:
        pytest.skip(f"npm could not install the MCP suites: {done.stderr.strip()[-300:]}")
    (FOLDER / "done").touch()


async def run(program: str, *arguments: str) -> tuple[int, str]:
    """Run one of the installed programs; its exit code and all it printed."""
    modules = FOLDER / "node_modules"
    node = modules / node_package() / "bin" / "node"
    process = await asyncio.create_subprocess_exec(
        str(node), str(modules / ".bin" / program), *arguments,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        env={"PATH": f"{node.parent}:/usr/bin:/bin", "HOME": str(FOLDER)},
    )  # fmt: skip
    try:
        output, _ = await asyncio.wait_for(process.communicate(), LONGEST)
    except TimeoutError:
        process.kill()
        raise
    assert process.returncode is not None
    return process.returncode, output.decode()
