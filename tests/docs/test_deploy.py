"""The image and the service are well formed, and what they start serves and stops."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

from tests.patience import PATIENCE, until

DEPLOY = Path(__file__).parents[2] / "deploy"


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions, with lines that go on joined."""
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines)]


def of(name: str) -> list[str]:
    return [rest for found, rest in instructions() if found == name]


def started_by_image() -> list[str]:
    [entry], [command] = of("ENTRYPOINT"), of("CMD")
    return [*json.loads(entry), *json.loads(command)]


def started_by_service() -> list[str]:
    text = (DEPLOY / "mnemon.service").read_text(encoding="utf-8")
    found = re.search(r"^ExecStart=(.+)$", text, re.MULTILINE)
    assert found is not None
    return shlex.split(found[1])


# Debian's package, where it is not called as its program.
PACKAGES = {"tesseract": "tesseract-ocr"}
# Those that belong to PostgreSQL, to the system, or to Mnemon.
NOT_OF_THE_IMAGE = {"useradd", "mnemon"}


def programs_asked_for() -> set[str]:
    """What the code looks for by name on the machine."""
    found: set[str] = set()
    for file in (DEPLOY.parent / "src").rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        for name in re.findall(r"shutil\.which\(([\w\"]+)", text):
            constant = re.search(rf'^{name} = "(\w+)"', text, re.MULTILINE)
            if name.startswith('"') or constant:
                found.add(constant[1] if constant else name.strip('"'))
    return found - NOT_OF_THE_IMAGE


def test_the_image_is_built_in_stages_and_runs_without_rights() -> None:
    known = {
        "ARG", "FROM", "COPY", "RUN", "LABEL", "ENV", "USER", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK",
        "ENTRYPOINT", "CMD",
    }  # fmt: skip
    assert {name for name, _ in instructions()} <= known
    stages = of("FROM")
    assert len(stages) == 2
    assert all(re.fullmatch(r"[a-z0-9./-]+:[\w.-]+(?: AS \w+)?", stage) for stage in stages), "pinned by a tag"
    assert of("USER") == ["10001:10001"]
    assert of("HEALTHCHECK") and "/ready" in of("HEALTHCHECK")[0]
    assert of("STOPSIGNAL") == ["SIGINT"]
    assert not any("ADD " in one for one in of("RUN"))
    assert of("COPY")[0].startswith("dist/*.whl"), "nothing of the repository but the wheels"
    declared = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras, programs = (one.partition("=")[2].strip('"') for one in of("ARG"))
    assert set(extras.split(",")) == set(declared["optional-dependencies"]), "every client"
    installed = [one for one in of("RUN") if "apt-get install" in one]
    assert len(installed) == 1 and "--no-install-recommends $PROGRAMS" in installed[0]
    assert installed[0].endswith("rm -rf /var/lib/apt/lists/*")
    assert {PACKAGES.get(one, one) for one in programs_asked_for()} <= set(programs.split())


def test_the_service_is_well_formed_and_starts_the_same_as_the_image() -> None:
    sections: dict[str, dict[str, str]] = {}
    for line in (DEPLOY / "mnemon.service").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            sections[line.strip("[]")] = {}
        elif line and not line.startswith("#"):
            name, equals, value = line.partition("=")
            assert equals and value, line
            list(sections.values())[-1][name] = value
    assert set(sections) == {"Unit", "Service", "Install"}
    service = sections["Service"]
    assert (service["User"], service["KillSignal"], service["NoNewPrivileges"]) == ("mnemon", "SIGINT", "yes")
    image, own = started_by_image(), started_by_service()
    assert own[0] == "/opt/mnemon/bin/mnemon"
    assert [word for word in own[1:] if word.startswith("-") or word == "serve"] == [
        word for word in image[1:] if word.startswith("-") or word == "serve"
    ]


def test_what_the_image_starts_becomes_healthy_and_stops(served_home: Path) -> None:
    words = [word if word != "8787" else "0" for word in started_by_image()[1:]]
    assert words[0] == "serve"
    environment = os.environ | {"MNEMON_HOME": str(served_home), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "mnemon", *words]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            assert server.stdout is not None
            port = re.search(r"http://\S+:(\d+)", server.stdout.readline())
            assert port is not None
            check = json.loads(of("HEALTHCHECK")[0].partition("CMD ")[2])
            probe = [sys.executable, *(word.replace(":8787/", f":{port[1]}/") for word in check[1:])]
            until(lambda: subprocess.run(probe, stderr=subprocess.DEVNULL).returncode == 0, "the check of health")
            server.send_signal(signal.SIGINT)
            assert server.wait(timeout=PATIENCE) == 0
        finally:
            server.kill()
