"""Whatever a client makes of the OpenAPI document, the sidecar answers with sense, and never with a 500."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.support import RunningSidecar
from tests.faults.scale import scaled

EXAMPLES = scaled(5, 200)
#: The second phase tries every boundary of every field, which takes most of the time.
PHASES = scaled("examples,fuzzing", "examples,coverage,fuzzing")


@pytest.mark.timeout(1_800)
def test_schemathesis_finds_no_server_error(sidecar: RunningSidecar, tmp_path: Path) -> None:
    # Its own name for "no 500"; with it: what is answered is what the document says would be.
    checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
    command = [
        str(Path(sys.executable).parent / "schemathesis"),
        "run",
        f"{sidecar.url}/openapi.json",
        "--header",
        f"Authorization: Bearer {sidecar.token}",
        "--exclude-path",
        "/api/brain/events",  # a stream that never ends
        "--checks",
        checks,
        "--max-examples",
        str(EXAMPLES),
        "--phases",
        PHASES,
        "--seed",
        "7",
        "--suppress-health-check",
        "all",  # a busy machine makes examples slowly
        "--no-color",
    ]
    environ = {**os.environ, "HYPOTHESIS_STORAGE_DIRECTORY": str(tmp_path / "hypothesis")}
    result = subprocess.run(command, capture_output=True, text=True, timeout=1_700, cwd=tmp_path, env=environ)
    assert result.returncode == 0, result.stdout[-8_000:]
    assert sidecar.get("/health").status == 200
    assert "Traceback" not in sidecar.log_file.read_text()
