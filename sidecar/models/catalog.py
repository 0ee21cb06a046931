"""The configured models, and the chain of models for each role."""

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from sidecar.config.keys import Keys
from sidecar.config.settings import ModelSettings, Settings
from sidecar.models import scripted
from sidecar.models.chain import Breaker, Chain, Link
from sidecar.models.errors import Failure, NoSuchModel
from sidecar.models.limits import Limits
from sidecar.models.port import BuiltinModel, Model, Reply, Request, Stop, Switch, UserTurn
from sidecar.models.providers import PROVIDERS, Providers
from sidecar.wire.models import ModelTest
from sidecar.wire.system import ModelInfo, ModelList, RoleInfo
from sidecar.wire.tasks import Models
from sidecar.wire.tools import ToolInfo

ROLES = ("fast", "smart", "instant")
UNPRICED = (
    "The price of this model is unknown, so a cost limit can't be enforced. Add its price to prices.toml beside your "
    "config.toml, or limit tokens (maxTokens) instead."
)


class Catalog:
    def __init__(
        self,
        settings: Settings,
        scripts: Path,
        builtin: BuiltinModel,
        keys: Keys | None = None,
        choices: ModelSettings | None = None,
    ) -> None:
        self._choices = choices or ModelSettings(settings)
        self._scripts = scripts
        self.builtin = builtin
        limits = Limits(
            idle_seconds=settings.model_idle_seconds,
            first_seconds=settings.model_idle_seconds,
            reply_seconds=settings.model_reply_seconds,
            reply_tokens=settings.model_reply_tokens,
            effort=settings.model_effort,
        )
        self._providers = Providers(keys or Keys({}, scripts), limits)
        self._breakers: dict[str, Breaker] = {}
        #: Whether the builtin model is loaded.
        self._prepared = False

    def model_for(
        self, role: str, wanted: Models, tell: Callable[[Switch], None] = lambda switch: None, effort: str = ""
    ) -> Model:
        """The usable models of the role's chain as one model; the task's own choices win over the settings."""
        refusals: list[str] = []
        links: list[Link] = []
        names = self.chain(role, wanted)
        for name in names:
            try:
                model = self._resolve(name, effort=effort)
            except NoSuchModel as refusal:
                refusals.append(str(refusal))
                continue
            if refusals and not links:
                tell(Switch(model.provider, model.name, " ".join(refusals), names[0]))
            links.append(Link(model, self._breakers.setdefault(name, Breaker())))
        if not links:
            raise NoSuchModel(" ".join(refusals))
        # An in-process model never fails by overload and has no fallback.
        alone = len(links) == 1 and links[0].model.capabilities.in_process
        return links[0].model if alone else Chain(links, tell)

    def chain(self, role: str, wanted: Models) -> list[str]:
        chosen = {"fast": wanted.fast, "smart": wanted.smart, "instant": wanted.instant}[role]
        given = chosen or self._choices.model(role)
        named = [*dict.fromkeys(name.strip() for name in given.split(",") if name.strip())]
        return named or self._providers.defaults(role) or [self.builtin.full_name]

    def list(self) -> ModelList:
        names = [*dict.fromkeys(name for role in ROLES for name in self.chain(role, Models()))]
        if self.builtin.full_name not in names:
            names.append(self.builtin.full_name)
        return ModelList(
            models=[self._info(name) for name in names],
            roles=[RoleInfo(role=role, chain=self.chain(role, Models())) for role in ROLES],
        )

    def priced(self, role: str, wanted: Models) -> bool:
        """Whether the price of every model in the chain is known, so a cost limit can be enforced."""
        return all(self._providers.priced(name) for name in self.chain(role, wanted))

    def has_price(self, name: str) -> bool:
        """Whether the cost of this model is known; one on your machine costs nothing."""
        return self._providers.priced(name)

    async def check_model(self, name: str, base_url: str | None = None, key: str | None = None) -> ModelTest:
        """Send one small request to the model, at `base_url` and with `key` if given; a provider's name is enough."""
        provider, _, model_name = name.partition("/")
        try:
            if provider in PROVIDERS and (key is not None or not model_name):
                model: Model = self._providers.model(
                    provider, model_name or self._in_use_of(provider), base_url, key=key
                )
            else:
                model = self._resolve(name, base_url)
        except NoSuchModel as refusal:
            return ModelTest(model=name, ok=False, message=str(refusal))
        if model.provider == self.builtin.provider:
            return ModelTest(model=name, ok=True, message=f"{name} is always available and needs no key.", tools=True)

        return await check_model(model)

    async def prepare(self, wanted: Models) -> None:
        """Load the builtin model in a thread, if a role may use it: it takes longer than the loop may block."""
        names = (self.builtin.provider, self.builtin.full_name)
        if not self._prepared and any(name in names for role in ROLES for name in self.chain(role, wanted)):
            await asyncio.to_thread(self.builtin.load)
            self._prepared = True

    async def warm(self) -> None:
        """Load SDKs and clients in a daemon thread: neither the first task nor a shutdown waits for it."""
        loop, done = asyncio.get_running_loop(), asyncio.Event()

        def load() -> None:
            self._providers.warm(self._in_use)
            with suppress(RuntimeError):
                # The loop may be closed by now.
                loop.call_soon_threadsafe(done.set)

        threading.Thread(target=load, name="warming", daemon=True).start()
        await done.wait()

    async def close(self) -> None:
        await self._providers.close()

    def _in_use(self) -> set[str]:
        return {name for role in ROLES for name in self.chain(role, Models())}

    def _in_use_of(self, provider: str) -> str:
        """A model of the provider: the first that a role uses, else its default."""
        named = (name.partition("/") for role in ROLES for name in self.chain(role, Models()))
        return next((model for owner, _, model in named if owner == provider), PROVIDERS[provider].fast)

    def _info(self, name: str) -> ModelInfo:
        provider = name.partition("/")[0]
        try:
            self._resolve(name)
        except NoSuchModel as refusal:
            return ModelInfo(name=name, provider=provider, available=False, why=str(refusal))
        why = self._providers.about(provider) if provider in PROVIDERS else "Ready."
        if provider == self.builtin.provider:
            why = "Always available; needs no key."
        return ModelInfo(name=name, provider=provider, available=True, why=why)

    def _resolve(self, name: str, base_url: str | None = None, effort: str = "") -> Model:
        provider, _, model = name.partition("/")
        if name in (self.builtin.provider, self.builtin.full_name):
            return self.builtin.load()
        if provider == "scripted":
            try:
                return scripted.load(model, self._scripts)
            except scripted.BadScript as error:
                raise NoSuchModel(str(error)) from error
        if provider in PROVIDERS and model:
            return self._providers.model(provider, model, base_url, effort)
        known = ", ".join([*PROVIDERS, self.builtin.provider])
        raise NoSuchModel(
            f"{name}: use provider/name; the providers are {known}. {self.builtin.full_name} needs no key."
        )


#: A local server may have to load the model first.
SECONDS = 60.0
_TOOL = ToolInfo(
    name="ready",
    description="Say that you are ready.",
    parameters={"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
    executor="local",
    timeout=1,
    retryable=False,
    parallel=True,
    effects="none",
)
_SYSTEM = "This is a test of the connection. Call the tool `ready` with the word `yes`. Say nothing else."


async def check_model(model: Model, seconds: float = SECONDS) -> ModelTest:
    """One small request: does the model answer, does it call a tool, how long does it take?"""
    name, started = f"{model.provider}/{model.name}", time.monotonic()
    reply = await _send(model, seconds)
    took = time.monotonic() - started
    window = model.capabilities.context_tokens
    if reply.failure is not None and not (reply.stop is Stop.LENGTH and reply.text.strip()):
        return ModelTest(model=name, ok=False, message=f"{name}: {reply.failure.message}", context_window=window)
    calls = any(call.tool == _TOOL.name and call.problem is None for call in reply.calls)
    if not calls and not reply.text.strip():
        return ModelTest(model=name, ok=False, message=f"{name} gave an empty answer.", context_window=window)
    able = "calls tools." if calls else "did not call the requested tool; agents may not work well with it."
    message = f"{name} answered in {took:.1f} s and {able}"
    milliseconds = round(took * 1000, 1)
    return ModelTest(model=name, ok=True, message=message, latency_ms=milliseconds, tools=calls, context_window=window)


async def _send(model: Model, seconds: float) -> Reply:
    request = Request("trial", _SYSTEM, [UserTurn(text="Are you ready?")], [_TOOL])
    failure = Failure(code="stream_cut", message="The model's reply ended early.")
    text = ""
    try:
        async with asyncio.timeout(seconds):
            async for part in model.stream(request):
                if isinstance(part, Reply):
                    return part
                text += part.text
    except TimeoutError:
        if text.strip():
            # A slow small model that does not stop by itself still answers.
            return Reply(stop=Stop.END, text=text)
        message = f"The model did not answer within {seconds:g} seconds."
        failure = Failure(code="model_too_slow", message=message)
    return Reply(stop=Stop.FAILED, failure=failure)
