"""The manifests of a fleet call commands, options and addresses that there are."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sidecar.commands.parser import build
from sidecar.commands.table import COMMANDS

PACKAGING = Path(__file__).parents[2] / "packaging"


def containers() -> Iterator[dict[str, Any]]:
    for document in yaml.safe_load_all((PACKAGING / "fleet.yaml").read_text()):
        if document["kind"] in ("Deployment", "StatefulSet"):
            yield from document["spec"]["template"]["spec"]["containers"]


def commands() -> Iterator[list[str]]:
    for container in containers():
        yield [*container["command"], *container.get("args", ())]
    for service in yaml.safe_load((PACKAGING / "compose.yaml").read_text())["services"].values():
        if service.get("image") == "rainy-brain":
            given = service["command"]
            yield shlex.split(given) if isinstance(given, str) else given


@pytest.mark.parametrize("words", list(commands()), ids=" ".join)
def test_each_container_starts_with_a_command_that_there_is(words: list[str]) -> None:
    assert words[0] == "brain"
    args = build(COMMANDS[words[1]]).parse_args(words[2:])
    if words[1] == "worker":
        assert (args.pool, str(args.alive_file)) == ("*", "/tmp/alive")


def test_the_probes_ask_for_health_and_the_file_that_the_worker_touches() -> None:
    for container in containers():
        probes = [container[name] for name in container if name.endswith("Probe")]
        assert len(probes) == 2
        for probe in probes:
            if "httpGet" in probe:
                assert probe["httpGet"]["path"] in ("/health", "/ready")
            else:
                assert "/tmp/alive" in " ".join(probe["exec"]["command"])
