"""`sandbox.toml` of the configuration directory, and the sandboxes that the setting `sandbox` names."""

import tomllib
from collections.abc import Callable
from pathlib import Path

from pydantic import ValidationError

from tools.sandboxes.port import Sandbox, SandboxError, SandboxSpec

FILE = "sandbox.toml"


def load_spec(directory: Path) -> SandboxSpec:
    file = directory / FILE
    try:
        return SandboxSpec.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return SandboxSpec()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise SandboxError(f"{file}: `{where}`: {first['msg']}.") from error
    except (OSError, ValueError) as error:
        raise SandboxError(f"{file} can't be read: {error}") from error


def open_remote(kind: str, mark: str, secret: Callable[[str], str | None]) -> Sandbox:
    """`secret` finds a value by the name of its environment variable."""
    if kind == "e2b":
        from tools.sandboxes.e2b import E2bMachines

        return E2bMachines(mark, secret)
    from tools.sandboxes.container import Containers

    return Containers(mark, secret)
