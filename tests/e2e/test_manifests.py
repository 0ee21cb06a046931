"""The commands, probes and environment of the compose file and of the Kubernetes manifests, run as processes here."""

import json
import os
import re
import shlex
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from http.client import HTTPSConnection
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from sidecar.client.sidecars import PROGRAM
from tests.e2e.support import PROJECT, clean_environ
from tests.support.servers import Postgres, Redis
from tests.waiting import SECONDS, wait_until

PACKAGING = PROJECT / "packaging"
NAME = "brain.example"
SCHEDULE = "---\nevery: 4w\nworkspace: {}\napprovals: readonly\n---\nlist the files\n"


class Container(NamedTuple):
    command: list[str]
    environ: dict[str, str]
    #: Shell commands, or addresses.
    probes: list[Any]
    grace: float


def composed() -> dict[str, Container]:
    found = {}
    for name, service in yaml.safe_load((PACKAGING / "compose.yaml").read_text())["services"].items():
        if service["image"] == "rainy-brain":
            given = service["command"]
            command = shlex.split(given) if isinstance(given, str) else given
            probe = service["healthcheck"]["test"].replace("$$", "$")
            grace = float(service.get("stop_grace_period", "10s").rstrip("s"))
            found[name] = Container(command, service["environment"], [["sh", "-c", probe]], grace)
    return found


def deployed() -> dict[str, Container]:
    found = {}
    for document in yaml.safe_load_all((PACKAGING / "fleet.yaml").read_text()):
        if document["kind"] in ("StatefulSet", "Deployment"):
            pod = document["spec"]["template"]["spec"]
            (each,) = pod["containers"]
            probes = [each[key] for key in each if key.endswith("Probe")]
            found[each["name"]] = Container(
                [*each["command"], *each.get("args", ())],
                {entry["name"]: entry.get("value", "") for entry in each["env"]},
                [probe["exec"]["command"] if "exec" in probe else probe["httpGet"] for probe in probes],
                pod.get("terminationGracePeriodSeconds", 30),
            )
    return found


class Machine:
    """Paths of the containers lie in a folder here, and only loopback is used."""

    def __init__(self, folder: Path, database: str, redis: str) -> None:
        self._folder, self._servers = folder, {"BRAIN_DATABASE_URL": database, "BRAIN_REDIS_URL": redis}
        self._stack = ExitStack()
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self.data, self.workspace, tls = folder / "data", folder / "workspace", folder / "tls"
        for place in (self.data, self.workspace, tls):
            place.mkdir()
        self.certificate = tls / "tls.crt"
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        command += [
            "-keyout",
            str(tls / "tls.key"),
            "-out",
            str(self.certificate),
            "-days",
            "2",
            "-subj",
            f"/CN={NAME}",
        ]
        subprocess.run([*command, "-addext", f"subjectAltName=DNS:{NAME}"], check=True, capture_output=True)

    def here(self, text: str) -> str:
        places = {"/tmp/alive": "alive", "/data": "data", "/tls": "tls"}
        known = {there: str(self._folder / here) for there, here in places.items()}
        known |= {"0.0.0.0": "127.0.0.1", "${BRAIN_NAME:?}": NAME, "3847": str(self._port)}
        return re.sub(
            r"/tmp/alive|(?<!\w)/(?:data|tls)(?![\w.])|0\.0\.0\.0|\$\{BRAIN_NAME:\?\}|3847",
            lambda at: known[at[0]],
            text,
        )

    def environ(self, given: Mapping[str, str]) -> dict[str, str]:
        """With what the image sets."""
        named = {name: self.here(value) for name, value in given.items()} | self._servers
        return clean_environ(self._folder, BRAIN_DATA_DIR=str(self.data), PYTHONPATH=str(PROJECT)) | named

    def start(self, container: Container) -> "subprocess.Popen[str]":
        words = [self.here(word) for word in container.command[1:]]
        port = ["--port", str(self._port)] if words[0] == "serve" else []
        command = [*PROGRAM, *words, *port]
        # As in the image, without the files of the one who builds it.
        process = subprocess.Popen(
            command, cwd=self.workspace, env=self.environ(container.environ), stdout=subprocess.PIPE, text=True
        )
        self._stack.callback(self._end, process)
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["event"] == "ready"
        return process

    def _end(self, process: "subprocess.Popen[str]") -> None:
        process.kill()
        process.communicate()

    def brain(self, container: Container, *words: str) -> str:
        ended = subprocess.run(
            [*PROGRAM, *words],
            env=self.environ(container.environ),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert ended.returncode == 0, ended
        return ended.stdout

    def holds(self, probe: Any) -> bool:
        if isinstance(probe, Sequence):
            words = [self.here(word) for word in probe]
            path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
            ended = subprocess.run(words, env={"PATH": path}, capture_output=True, timeout=SECONDS, check=False)
            return ended.returncode == 0
        assert (probe["scheme"], int(self.here(str(probe["port"])))) == ("HTTPS", self._port)
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # the kubelet doesn't check
        connection = HTTPSConnection("127.0.0.1", self._port, timeout=SECONDS, context=context)
        headers = {each["name"]: each["value"] for each in probe["httpHeaders"]}
        try:
            connection.request("GET", probe["path"], headers=headers)
            return connection.getresponse().status < 400
        finally:
            connection.close()

    def close(self) -> None:
        self._stack.close()


@pytest.fixture
def machine(tmp_path: Path, postgres: Postgres, redis_server: Redis) -> Iterator[Machine]:
    made = Machine(tmp_path, postgres.new_database(), redis_server.url)
    yield made
    made.close()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("containers", [composed(), deployed()], ids=["compose", "kubernetes"])
def test_a_fleet_of_the_manifests_comes_up_is_healthy_runs_schedules_and_stops(
    machine: Machine, containers: dict[str, Container]
) -> None:
    node, worker = containers["node"], containers["worker"]
    schedule = machine.data / "config/rainy-brain/schedules/look.md"
    schedule.parent.mkdir(parents=True)
    schedule.write_text(SCHEDULE.format(machine.workspace))
    os.utime(schedule, (0, 0))
    assert not any(machine.holds(probe) for probe in worker.probes)
    machine.start(node)
    running = machine.start(worker)
    for container in (node, worker):
        for probe in container.probes:
            wait_until(lambda probe=probe: machine.holds(probe), what=str(probe))  # type: ignore[misc]
    assert "work" in machine.brain(node, "tokens", "add", "ann", "--role", "work")
    wait_until(lambda: "serving" in (said := machine.brain(node, "fleet")) and "running" in said, what="both processes")
    wait_until(lambda: ", completed" in machine.brain(node, "schedules"), what="the scheduled task")
    running.send_signal(signal.SIGTERM)
    assert running.wait(worker.grace) == 0
