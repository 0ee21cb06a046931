"""Checks of the chosen models, the keys, and the model servers on this machine."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sidecar.config.keys import VARIABLES, Keys
from sidecar.config.settings import ModelSettings, Settings
from sidecar.doctor.report import DoctorContext, missing, note, ok
from sidecar.wire.system import FindingInfo, Remedy

if TYPE_CHECKING:
    from sidecar.models.local import LocalServer
    from sidecar.wire.system import ModelInfo

#: Models of a server to name and to offer.
_SHOWN = 5


def check_models(context: DoctorContext, settings: Settings) -> Iterator[FindingInfo]:
    from sidecar.models.catalog import Catalog
    from sidecar.models.local import find
    from sidecar.models.providers import PROVIDERS
    from sidecar.offline import OFFLINE

    keys = Keys(context.environ, context.data_dir, ModelSettings(settings).served_at)
    listed = Catalog(settings, Path(settings.scripts or context.data_dir / "scripts"), OFFLINE, keys).list()
    for model in listed.models:
        roles = ", ".join(role.role for role in listed.roles if model.name in role.chain) or "no role"
        found = f"{model.name} for {roles}: {model.why}"
        if model.available:
            yield ok("model", found)
        else:
            fix = f"Choose another model: `brain use PROVIDER/NAME`, or `brain use {OFFLINE.provider}`."
            yield missing("model", found, fix, _remedies(model, keys, OFFLINE.full_name))
    for provider in VARIABLES:
        origin = keys.origin(provider)
        if origin is None:
            continue
        found = f"{provider}: {origin.place}"
        if any(model.provider == provider and model.available for model in listed.models):
            yield ok("key", found)
        else:
            usual = Remedy(kind="model", value=f"{provider}/{PROVIDERS[provider].smart}")
            yield note("key", found, f"Use one of its models: `brain use {provider}/NAME`.", [usual])
    unused = all(model.provider not in PROVIDERS for model in listed.models)
    for server in find():
        offered = [
            Remedy(kind="model", value=f"openai/{model.name}", base_url=server.base_url)
            for model in server.models[:_SHOWN]
        ]
        found = f"{server.kind} at {server.base_url}: {_models_of(server)}"
        if unused and offered:
            yield note("server", found, "Use one of its models: `brain use`.", offered)
        else:
            yield ok("server", found)
    if unused:
        found = "No language model is configured: tasks that need one are declined with a suggestion."
        fix = "Store a key with `brain keys set anthropic`, or use a local server: `brain models`."
        yield note("", found, fix, [Remedy(kind="key", value=provider) for provider in VARIABLES])


def _remedies(model: "ModelInfo", keys: Keys, builtin: str) -> list[Remedy]:
    needs_key = model.provider in VARIABLES and keys.origin(model.provider) is None
    add_key = [Remedy(kind="key", value=model.provider)] if needs_key else []
    return [*add_key, Remedy(kind="model", value=builtin)]


def _models_of(server: "LocalServer") -> str:
    names = [
        f"{model.name} ({model.context_tokens} tokens)" if model.context_tokens else model.name
        for model in server.models[:_SHOWN]
    ]
    return ", ".join(names) or "no models"
