"""Listing and choosing models loads no SDK."""

import subprocess
import sys


def test_no_sdk_is_loaded_to_list_or_to_choose() -> None:
    code = """
import sys
from pathlib import Path
from sidecar.config.keys import Keys
from sidecar.config.settings import Settings
from sidecar.models.catalog import Catalog
from sidecar.offline import OFFLINE
from sidecar.wire.tasks import Models
keys = {"ANTHROPIC_API_KEY": "k", "GEMINI_API_KEY": "k", "GROQ_API_KEY": "k", "OPENAI_API_KEY": "k"}
catalog = Catalog(Settings(), Path("/nowhere"), OFFLINE, Keys(keys, Path("/nowhere")))
catalog.list()
catalog.model_for("smart", Models())
heavy = ("anthropic", "google.genai", "groq", "openai", "httpx", "httpx2", "keyring")
print([name for name in heavy if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"
