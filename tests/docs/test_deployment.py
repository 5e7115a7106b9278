"""Deployment files say what the program understands, as far as a machine without a container engine can tell."""

import re
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from mnemon.cli.catalogue import CATALOGUE
from mnemon.settings import described_settings

DEPLOY = Path(__file__).parents[2] / "deploy"
SETTINGS = {name for one in described_settings() for name in one.names}
MANIFESTS = [
    (file.name, one)
    for file in sorted((DEPLOY / "kubernetes").glob("*.yaml"))
    for one in yaml.safe_load_all(file.read_text(encoding="utf-8"))
]


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("file", "manifest"), MANIFESTS, ids=lambda one: one if isinstance(one, str) else one["kind"])
def test_a_manifest_has_the_form_that_kubernetes_wants(file: str, manifest: dict[str, Any]) -> None:
    kubernetes_validate.validate(manifest, "1.33", strict=True)


def test_manifests_name_settings_and_commands_that_there_are() -> None:
    [told] = [one["data"] for _, one in MANIFESTS if one["kind"] == "ConfigMap"]
    assert told.keys() <= SETTINGS
    pods = [one["spec"]["template"]["spec"] for _, one in MANIFESTS if one["kind"] == "Deployment"]
    assert {pod["containers"][0]["args"][0] for pod in pods} == {"serve", "work"} <= CATALOGUE.keys()
    assert all(pod["volumes"] == [{"name": "home", "emptyDir": {}}] for pod in pods), "no pod owns a disk"


def test_the_stack_of_compose_holds_together(compose: dict[str, Any]) -> None:
    services = compose["services"]
    for name, service in services.items():
        assert "image" in service, name
        assert set(service.get("depends_on", ())) <= services.keys(), name
        for needed, how in dict(service["depends_on"]).items() if isinstance(service.get("depends_on"), dict) else ():
            assert how["condition"] != "service_healthy" or "healthcheck" in services[needed], (name, needed)
        for volume in service.get("volumes", ()):
            assert volume.split(":")[0] in compose["volumes"], (name, volume)
    ours = {name: one for name, one in services.items() if one["image"] == "mnemon:latest"}
    assert {one["command"][0] for one in ours.values()} <= CATALOGUE.keys()
    for one in ours.values():
        assert (DEPLOY / one["build"]["context"] / one["build"]["dockerfile"]).is_file()
        assert {name for name in one["environment"] if not name.startswith("AWS_")} <= SETTINGS
        assert {f"MNEMON_{what}_STORE" for what in ("BLOB", "ARCHIVE", "HOME")} <= one["environment"].keys()
        assert "volumes" not in one, "no container of ours owns a disk"
        # The image's own check asks a server: a worker would be called unhealthy for ever.
        assert one.get("healthcheck", {}).get("disable", False) == (one["command"][0] != "serve")


def test_every_secret_of_compose_must_be_given(compose: dict[str, Any]) -> None:
    text = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    assert not re.findall(r"\$\{\w+\}|\$\{\w+:-", text), "no default for a secret"


def test_metrics_of_workers_can_be_read(compose: dict[str, Any]) -> None:
    """A gateway knows nothing of the attempts, the waits and the envelopes of other processes."""
    [told] = [one["data"] for _, one in MANIFESTS if one["kind"] == "ConfigMap"]
    [pod] = [one for _, one in MANIFESTS if one["metadata"]["name"] == "mnemon-worker" and one["kind"] == "Deployment"]
    [port] = pod["spec"]["template"]["spec"]["containers"][0]["ports"]
    [policy] = [one for _, one in MANIFESTS if one["kind"] == "NetworkPolicy"]
    assert policy["spec"]["ingress"] == [{"ports": [{"port": port["name"]}]}]
    for environment, wanted in ((told, port["containerPort"]), (compose["services"]["worker"]["environment"], 9464)):
        assert environment["MNEMON_INTERNAL_HOST"] == "0.0.0.0"
        assert int(environment["MNEMON_WORKER_METRICS_PORT"]) == wanted


def test_a_container_that_is_made_anew_finds_its_data(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert services["rabbitmq"]["hostname"], "RabbitMQ keeps its queues in a folder of its machine's name"
    assert "127.0.0.1" in services["postgres"]["healthcheck"]["test"], (
        "the server that makes the database has no address"
    )
