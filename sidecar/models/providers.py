"""The providers: package, default models per role, and one client each."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from sidecar.config.keys import BASE_URLS, VARIABLES, Keys, looks_like_key
from sidecar.models.access import Access, is_address, is_local, root
from sidecar.models.errors import NoSuchModel
from sidecar.models.limits import Limits
from sidecar.models.prices import Prices
from sidecar.models.remote import Dialect, Remote
from sidecar.models.sanitize import KeyRedactor

if TYPE_CHECKING:
    from sidecar.models.local import LocalModel

#: A local server reads the prompt itself, so its first token takes longer.
LOCAL_TIMEOUT_FACTOR = 5.0

#: Which provider a role uses if several have a key: speed for `instant`, price for `fast`, quality for `smart`.
_PREFERRED = {
    "instant": ("groq", "gemini", "anthropic", "openai"),
    "fast": ("gemini", "anthropic", "openai", "groq"),
    "smart": ("anthropic", "openai", "gemini", "groq"),
}


class Provider(NamedTuple):
    package: str
    #: Default model per role when a key is there.
    fast: str
    smart: str
    instant: str
    #: Follows `smart` in its chain, for a key whose plan doesn't include that.
    spare: str = ""


#: The default model of each role: fast, smart, instant.
PROVIDERS = {
    "anthropic": Provider("anthropic", "claude-haiku-5-5", "claude-sonnet-5-5", "claude-haiku-5-5"),
    "openai": Provider("openai", "gpt-6-luna", "gpt-6-sol", "gpt-6-luna"),
    "gemini": Provider(
        "google.genai", "gemini-3.8-flash", "gemini-pro-latest", "gemini-3.8-flash", spare="gemini-3.8-flash"
    ),
    "groq": Provider("groq", "openai/gpt-oss-20b", "openai/gpt-oss-120b", "openai/gpt-oss-20b"),
}


class Providers:
    def __init__(self, keys: Keys, limits: Limits, prices: Prices | None = None) -> None:
        self._keys = keys
        self._limits = limits
        self._prices = prices or Prices()
        #: One client per provider and key.
        self._clients: dict[Access, Any] = {}
        self._making = threading.Lock()
        self._closed = False
        #: What local servers report about their models.
        self._served: dict[tuple[str, str], LocalModel] = {}
        self._served_loaded: set[tuple[str, str]] = set()

    def defaults(self, role: str) -> list[str]:
        """The default models of all providers that have a key, the best for the role first."""
        chosen = []
        for name in _PREFERRED[role]:
            if self._keys.find(name) is not None:
                provider = PROVIDERS[name]
                spare = (provider.spare,) if role == "smart" and provider.spare else ()
                chosen += [f"{name}/{model}" for model in (getattr(provider, role), *spare)]
        return chosen

    def model(
        self, provider: str, name: str, base_url: str | None = None, effort: str = "", key: str | None = None
    ) -> Remote:
        """`key` replaces the provider's own, to test it."""
        access = self._access(provider, name, base_url, key)
        limits = replace(self._limits, effort=effort or self._limits.effort)
        local = access.base_url is not None and is_local(access.base_url)
        if local:
            limits = replace(limits, first_seconds=limits.first_seconds * LOCAL_TIMEOUT_FACTOR)
        own_server = access.base_url if local and provider == "openai" else None
        price = None if own_server else self._prices.of(f"{provider}/{name}")

        def dialect() -> Dialect:
            client = self._client(access)
            match provider:
                case "anthropic":
                    from sidecar.models.anthropic import Messages

                    return Messages(name, client, price, limits.reply_tokens, limits.effort)
                case "gemini":
                    from sidecar.models.gemini import Contents

                    return Contents(name, client, price, limits.reply_tokens, limits.effort)
                case _:
                    from sidecar.models import openai

                    probe = partial(self._known_or_asked, own_server, name) if own_server else None
                    return openai.dialect(name, client, price, limits.reply_tokens, access, probe, limits.effort)

        def context_size() -> int | None:
            if own_server is not None:
                # Known after warm-up or first use.
                known = self._served.get((own_server, name))
                return known.context_tokens if known else None
            return price.context if price else None

        key_redactor = KeyRedactor(provider, access.key)
        return Remote(provider, name, dialect, limits, lambda: access in self._clients, context_size, key_redactor)

    def about(self, provider: str) -> str:
        """Where the key comes from, for display."""
        origin = self._keys.origin(provider)
        base_url = self._keys.base_url(provider)
        key = f"Key from {origin.place}." if origin else "No key."
        return f"{key} Served at {base_url}." if base_url else key

    def priced(self, name: str) -> bool:
        provider = name.partition("/")[0]
        if provider not in PROVIDERS:
            return True
        base_url = self._keys.base_url("openai") if provider == "openai" else None
        return (base_url is not None and is_local(base_url)) or self._prices.of(name) is not None

    def warm(self, wanted: Callable[[], set[str]]) -> None:
        """Load the SDKs of these models and create their clients. Slow: call it in a thread."""
        for model_name in wanted():
            provider, _, name = model_name.partition("/")
            if provider not in PROVIDERS or self._closed:
                continue
            try:
                access = self._access(provider, name)
                self._client(access)
            except (NoSuchModel, ImportError):
                continue
            if provider == "openai" and access.base_url and is_local(access.base_url):
                self._ask_server(access.base_url, name)

    async def _known_or_asked(self, base_url: str, name: str, loaded: bool) -> "LocalModel":
        """Probe the server once before it loads the model, and once after."""
        known = self._served.get((base_url, name))
        if known is not None and (not loaded or (base_url, name) in self._served_loaded):
            return known
        if loaded:
            self._served_loaded.add((base_url, name))
        return await asyncio.to_thread(self._ask_server, base_url, name)

    def _ask_server(self, base_url: str, name: str) -> "LocalModel":
        from sidecar.models.local import probe

        found = self._served[base_url, name] = probe(base_url, name)
        return found

    async def close(self) -> None:
        self._closed = True
        clients, self._clients = self._clients, {}
        for access, client in clients.items():
            if access.provider == "gemini":
                from sidecar.models.gemini import close

                await close(client)
            else:
                await client.close()

    def _access(self, provider: str, name: str, elsewhere: str | None = None, other_key: str | None = None) -> Access:
        """`elsewhere` overrides the configured base URL; empty means the provider's own."""
        known = PROVIDERS[provider]
        key, base_url = other_key or self._keys.find(provider), self._keys.base_url(provider)
        if elsewhere is not None and provider == "openai":
            base_url = elsewhere or None
        if key is None and not (provider == "openai" and base_url):
            server = (
                " A local server needs none: `brain models` finds it, or set OPENAI_BASE_URL."
                if provider == "openai"
                else ""
            )
            raise NoSuchModel(
                f"{provider}/{name}: no key. Run `brain keys set {provider}`, or set "
                f"{' or '.join(VARIABLES[provider])}.{server}"
            )
        if key is not None and not looks_like_key(key):
            raise NoSuchModel(
                f"{provider}/{name}: the key contains invalid characters, such as a space or a line break. Run "
                f"`brain keys set {provider}`, or fix {' or '.join(VARIABLES[provider])}."
            )
        if base_url is not None and not is_address(base_url):
            raise NoSuchModel(
                f"{provider}/{name}: its base URL, {base_url[:200]!r} is not a URL. It must start with "
                f"http:// or https://; fix {BASE_URLS[provider]}."
            )
        if not _installed(known.package):
            extra = f"rainy-brain[{provider}]"
            raise NoSuchModel(
                f"{provider}/{name}: its package is not installed. `make setup` or `pip install '{extra}'`."
            )
        return Access(provider, key, base_url and root(provider, base_url))

    def _client(self, access: Access) -> Any:
        with self._making:
            if access not in self._clients:
                module = "openai" if access.provider == "groq" else access.provider
                self._clients[access] = import_module(f"sidecar.models.{module}").client(access)
            return self._clients[access]


def _installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False
