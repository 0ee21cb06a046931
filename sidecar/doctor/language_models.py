"""Which model plays which role and whether it can, which keys there are, and the model servers of this machine."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from sidecar.config.keys import VARIABLES, Keys
from sidecar.config.settings import ModelSettings, SettingsError, load
from sidecar.doctor.report import MISSING, NOTE, OK, CheckResult, DoctorContext, Mend

if TYPE_CHECKING:
    from sidecar.models.local import LocalServer
    from sidecar.wire.system import ModelInfo

#: How many of a server's models are named, and offered.
SHOWN = 5


def models(subject: DoctorContext) -> Iterable[CheckResult]:
    from sidecar.models.catalog import Catalog
    from sidecar.models.local import find
    from sidecar.models.providers import PROVIDERS
    from sidecar.offline.registration import OFFLINE

    try:
        settings = load(subject.environ)
    except SettingsError:
        return
    keys = Keys(subject.environ, subject.data_dir, ModelSettings(settings).served_at)
    listed = Catalog(settings, Path(settings.scripts or subject.data_dir / "scripts"), OFFLINE, keys).list()
    for model in listed.models:
        roles = ", ".join(role.role for role in listed.roles if model.name in role.chain) or "no role"
        found = f"{model.name} for {roles}: {model.why}"
        if model.available:
            yield CheckResult("model", OK, found)
        else:
            fix = f"Choose another one: `brain use PROVIDER/NAME`, or `brain use {OFFLINE.provider}`."
            yield CheckResult("model", MISSING, found, fix, mends=_mends(model, keys, OFFLINE.full_name))
    for provider in VARIABLES:
        origin = keys.origin(provider)
        if origin is not None:
            served = any(model.provider == provider and model.available for model in listed.models)
            fix = "" if served else f"Use one of its models: `brain use {provider}/NAME`."
            yield CheckResult(
                "key", OK if served else NOTE, f"{provider}: {origin.place}", fix, mends=_usual(provider, served)
            )
    unused = all(model.provider not in PROVIDERS for model in listed.models)
    for server in find():
        offered = [Mend("model", f"openai/{model.name}", server.base_url) for model in server.models[:SHOWN]]
        found = f"{server.kind} at {server.base_url}: {_served(server)}"
        if unused and offered:
            yield CheckResult("server", NOTE, found, "Let one of its models do the work: `brain use`.", mends=offered)
        else:
            yield CheckResult("server", OK, found)
    if unused:
        told = "No language model is configured: tasks that need one are declined, with what can be done instead."
        fix = "Put a key away with `brain keys set anthropic`, or name a server: `brain models`."
        yield CheckResult("", NOTE, told, fix, mends=[Mend("key", provider) for provider in VARIABLES])


def _mends(model: "ModelInfo", keys: Keys, builtin: str) -> list[Mend]:
    needs_key = model.provider in VARIABLES and keys.origin(model.provider) is None
    return [*([Mend("key", model.provider)] if needs_key else []), Mend("model", builtin)]


def _usual(provider: str, served: bool) -> list[Mend]:
    from sidecar.models.providers import PROVIDERS

    return [] if served else [Mend("model", f"{provider}/{PROVIDERS[provider].smart}")]


def _served(server: "LocalServer") -> str:
    names = [f"{model.name} ({model.context_tokens or '?'} tokens)" for model in server.models[:SHOWN]]
    return ", ".join(names) or "no models"
