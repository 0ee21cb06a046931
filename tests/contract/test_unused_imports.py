"""What is off costs nothing: its libraries aren't even imported."""

import subprocess
import sys

CODE = """
import sidecar.app.parts, sidecar.app.sidecar, sidecar.doors.process, sys
heavy = (
    "aiohttp", "slack_sdk", "telegram", "httpx", "smtplib", "prometheus_client", "opentelemetry",
    "sidecar.telemetry.tally", "sidecar.telemetry.traces", "sidecar.telemetry.traces",
)
print([name for name in heavy if name in sys.modules])
"""


def test_a_start_loads_nothing_of_chats_mail_metrics_and_traces() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"
