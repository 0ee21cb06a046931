"""Where things are on this machine. Light to import: the commands ask here before they know whether they need more."""

from collections.abc import Mapping
from pathlib import Path

APP = "rainy-brain"
READY_FILE = "sidecar.json"
TOKEN_FILE = "token"  # noqa: S105 - the name of the file


def config_file() -> Path:
    import platformdirs

    return Path(platformdirs.user_config_dir(APP, appauthor=False)) / "config.toml"


def policy_file() -> Path:
    """The person's own table of programs."""
    return config_file().with_name("policy.toml")


def default_data_dir(environ: Mapping[str, str]) -> Path:
    named = environ.get("BRAIN_DATA_DIR")
    if named:
        return Path(named).absolute()
    import platformdirs

    return Path(platformdirs.user_data_dir(APP, appauthor=False))
