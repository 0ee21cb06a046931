"""Which models there are, and which one plays a role."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from sidecar.config.keys import Keys
from sidecar.config.settings import ModelSettings, Settings
from sidecar.models import scripted
from sidecar.models.breaker import Breaker
from sidecar.models.chain import Chain, Link
from sidecar.models.errors import NoSuchModel
from sidecar.models.limits import Limits
from sidecar.models.port import Model, Switch
from sidecar.models.prices import Prices
from sidecar.models.providers import PROVIDERS, Providers
from sidecar.wire.models import ModelTest
from sidecar.wire.system import ModelInfo, ModelList, RoleInfo
from sidecar.wire.tasks import Models

ROLES = ("fast", "smart", "instant")
OFFLINE = "offline/basic"
UNPRICED = (
    "What this model costs is not known, so a limit of cost cannot be kept. Put its price into prices.toml beside your "
    "config.toml, or limit the tokens (maxTokens) instead."
)


class Catalog:
    def __init__(
        self,
        settings: Settings,
        scripts: Path,
        keys: Keys | None = None,
        prices: Prices | None = None,
        choices: ModelSettings | None = None,
    ) -> None:
        self._choices = choices or ModelSettings(settings)
        self._scripts = scripts
        limits = Limits(
            idle_seconds=settings.model_idle_seconds,
            first_seconds=settings.model_idle_seconds,
            reply_seconds=settings.model_reply_seconds,
            reply_tokens=settings.model_reply_tokens,
        )
        self._providers = Providers(keys or Keys({}, scripts), limits, prices)
        self._breakers: dict[str, Breaker] = {}

    def model_for(self, role: str, wanted: Models, tell: Callable[[Switch], None] = lambda switch: None) -> Model:
        """The usable models of the role's chain as one: the task's own wish, else the person's settings."""
        refusals: list[str] = []
        links: list[Link] = []
        names = self.chain(role, wanted)
        for name in names:
            try:
                model = self._resolve(name)
            except NoSuchModel as refusal:
                refusals.append(str(refusal))
                continue
            if refusals and not links:
                tell(Switch(model.provider, model.name, " ".join(refusals), names[0]))
            links.append(Link(model, self._breakers.setdefault(name, Breaker())))
        if not links:
            raise NoSuchModel(" ".join(refusals))
        # What is in the process neither fails by overload nor has a next one: it needs no chain around it.
        alone = len(links) == 1 and links[0].model.provider in ("offline", "scripted")
        return links[0].model if alone else Chain(links, tell)

    def chain(self, role: str, wanted: Models) -> list[str]:
        wish = {"fast": wanted.fast, "smart": wanted.smart, "instant": wanted.instant}[role]
        given = wish or self._choices.model(role)
        named = [*dict.fromkeys(name.strip() for name in given.split(",") if name.strip())]
        return named or self._providers.defaults(role) or [OFFLINE]

    def list(self) -> ModelList:
        names = [*dict.fromkeys(name for role in ROLES for name in self.chain(role, Models()))]
        if OFFLINE not in names:
            names.append(OFFLINE)
        return ModelList(
            models=[self._info(name) for name in names],
            roles=[RoleInfo(role=role, chain=self.chain(role, Models())) for role in ROLES],
        )

    def priced(self, role: str, wanted: Models) -> bool:
        """Whether what the role's models cost is known, so that a limit of cost can be kept."""
        return all(self._providers.priced(name) for name in self.chain(role, wanted))

    async def tried(self, name: str, base_url: str | None = None) -> ModelTest:
        """Whether it can be used, found out by using it; at `base_url`, if that is given."""
        try:
            model = self._resolve(name, base_url)
        except NoSuchModel as refusal:
            return ModelTest(model=name, ok=False, message=str(refusal))
        if model.provider == "offline":
            return ModelTest(model=name, ok=True, message=f"{name} is always there; it needs no key.", tools=True)
        from sidecar.models.trial import tried

        return await tried(model)

    async def warm(self) -> None:
        """Loads in the background what the first task would else wait for. Nobody who wants to end waits for it."""
        loop, done = asyncio.get_running_loop(), asyncio.Event()

        def load() -> None:
            self._providers.warm(self._in_use)
            with suppress(RuntimeError):
                # The loop may have ended meanwhile.
                loop.call_soon_threadsafe(done.set)

        threading.Thread(target=load, name="warming", daemon=True).start()
        await done.wait()

    async def close(self) -> None:
        await self._providers.close()

    def _in_use(self) -> set[str]:
        return {name for role in ROLES for name in self.chain(role, Models())}

    def _info(self, name: str) -> ModelInfo:
        provider = name.partition("/")[0]
        try:
            self._resolve(name)
        except NoSuchModel as refusal:
            return ModelInfo(name=name, provider=provider, available=False, why=str(refusal))
        why = self._providers.about(provider) if provider in PROVIDERS else "Ready."
        if provider == "offline":
            why = "Always there; needs no key."
        return ModelInfo(name=name, provider=provider, available=True, why=why)

    def _resolve(self, name: str, base_url: str | None = None) -> Model:
        provider, _, model = name.partition("/")
        if name in ("offline", OFFLINE):
            from sidecar.offline.model import Offline

            return Offline()
        if provider == "scripted":
            try:
                return scripted.load(model, self._scripts)
            except scripted.BadScript as error:
                raise NoSuchModel(str(error)) from error
        if provider in PROVIDERS and model:
            return self._providers.model(provider, model, base_url)
        known = ", ".join([*PROVIDERS, "offline"])
        raise NoSuchModel(
            f"{name}: a model is named provider/name, and the providers are {known}. {OFFLINE} needs no key."
        )
