"""Which models there are, and which one plays a role."""

from collections.abc import Callable
from pathlib import Path

from sidecar.config.settings import Settings
from sidecar.models import scripted
from sidecar.models.errors import NoSuchModel
from sidecar.models.port import Model, Switch
from sidecar.wire.system import ModelInfo, ModelList, RoleInfo
from sidecar.wire.tasks import Models

ROLES = ("fast", "smart", "instant")


class Catalog:
    def __init__(self, settings: Settings, scripts: Path) -> None:
        self._settings = settings
        self._scripts = scripts

    def model_for(self, role: str, wanted: Models, tell: Callable[[Switch], None] = lambda switch: None) -> Model:
        """The first usable model of the role's chain: the task's own wish, else the person's settings."""
        refusals = []
        for name in self.chain(role, wanted):
            try:
                return self._resolve(name)
            except NoSuchModel as refusal:
                refusals.append(str(refusal))
        raise NoSuchModel(" ".join(refusals))

    def chain(self, role: str, wanted: Models) -> list[str]:
        configured = {
            "fast": wanted.fast or self._settings.model_fast,
            "smart": wanted.smart or self._settings.model_smart,
            "instant": wanted.instant or self._settings.model_instant,
        }[role]
        return [name.strip() for name in configured.split(",") if name.strip()]

    def list(self) -> ModelList:
        names = [*dict.fromkeys(name for role in ROLES for name in self.chain(role, Models()))]
        if "offline/basic" not in names:
            names.append("offline/basic")
        return ModelList(
            models=[self._info(name) for name in names],
            roles=[RoleInfo(role=role, chain=self.chain(role, Models())) for role in ROLES],
        )

    def _info(self, name: str) -> ModelInfo:
        provider = name.partition("/")[0]
        try:
            self._resolve(name)
        except NoSuchModel as refusal:
            return ModelInfo(name=name, provider=provider, available=False, why=str(refusal))
        why = "Always there; needs no key." if provider == "offline" else "Ready."
        return ModelInfo(name=name, provider=provider, available=True, why=why)

    def _resolve(self, name: str) -> Model:
        provider, _, model = name.partition("/")
        if provider == "offline":
            from sidecar.models.offline.model import Offline

            return Offline()
        if provider == "scripted":
            try:
                return scripted.load(model, self._scripts)
            except scripted.BadScript as error:
                raise NoSuchModel(str(error)) from error
        raise NoSuchModel(f"{name}: there is no provider {provider!r} here. Use offline/basic, which needs no key.")
