"""Choosing who plays a role: the choice is tried first, then written into the person's own configuration."""

import asyncio
from collections.abc import Sequence

from sidecar.config.settings import BASE_URL, ModelSettings
from sidecar.models.access import is_local
from sidecar.models.catalog import OFFLINE, ROLES, Catalog
from sidecar.models.errors import BadChoice
from sidecar.models.providers import PROVIDERS
from sidecar.wire.models import ModelTest, UseAnswer, UseRequest

AUTO = "auto"
MOST = 8
_ORIGIN = "openai"
_PROVIDERS = (*PROVIDERS, "offline", "scripted")


class Selection:
    def __init__(self, catalog: Catalog, choices: ModelSettings) -> None:
        self._catalog = catalog
        self._choices = choices
        self._writing = asyncio.Lock()

    async def use(self, wanted: UseRequest) -> UseAnswer:
        async with self._writing:
            return await self._use(wanted)

    async def _use(self, wanted: UseRequest) -> UseAnswer:
        names, base_url = _named(wanted), self._base_url(wanted)
        tests = await asyncio.gather(*(self._catalog.tried(name, base_url) for name in names))
        roles = [wanted.role] if wanted.role else list(ROLES)
        back = self._back(roles)
        if names and not wanted.force and not any(test.ok for test in tests):
            told = " ".join(test.message for test in tests)
            message = f"{told} Nothing was changed; `brain use --force` writes it down all the same."
            return self._answer(message, tests)
        values = {f"model_{role}": ",".join(names) for role in roles}
        if base_url is not None:
            values[BASE_URL] = base_url
        file = self._choices.write(values)
        overruled = [variable for name in values if (variable := self._choices.overruled(name))]
        return self._answer(_told(names, roles, str(file), overruled), tests, back)

    def _base_url(self, wanted: UseRequest) -> str | None:
        """Where `openai/…` is to be asked from now on; none leaves it as it is."""
        if wanted.model == AUTO and wanted.role is None:
            return ""
        if wanted.base_url and not is_local(wanted.base_url):
            raise BadChoice(
                f"{wanted.base_url[:200]} is not on this machine. A server elsewhere is named by OPENAI_BASE_URL in "
                f"the environment, or by {BASE_URL} in your config.toml."
            )
        return wanted.base_url

    def _back(self, roles: Sequence[str]) -> list[str]:
        """The commands that make it as it was, one if one is enough."""
        before = {role: self._choices.model(role) or AUTO for role in roles}
        at = self._choices.openai_base_url
        if len(roles) == len(ROLES) and len(set(before.values())) == 1:
            return [_command(before[roles[0]], None, at)]
        return [_command(model, role, at) for role, model in before.items()]

    def _answer(self, message: str, tests: Sequence[ModelTest], back: Sequence[str] = ()) -> UseAnswer:
        roles = self._catalog.list().roles
        return UseAnswer(changed=bool(back), message=message, tests=list(tests), roles=roles, back=list(back))


def _named(wanted: UseRequest) -> list[str]:
    if wanted.model == AUTO:
        return []
    names = [name.strip() for name in wanted.model.split(",") if name.strip()]
    if not names or len(names) > MOST or not all(name.isprintable() for name in names):
        raise BadChoice(f"A model is named provider/name; several, at most {MOST}, with commas between them.")
    named = [OFFLINE if name == "offline" else name for name in names]
    for name in named:
        provider, _, model = name.partition("/")
        if provider not in _PROVIDERS or not model:
            known = ", ".join(_PROVIDERS)
            raise BadChoice(f"{name[:200]}: a model is named provider/name, and the providers are {known}.")
    return named


def _told(names: Sequence[str], roles: Sequence[str], file: str, overruled: Sequence[str]) -> str:
    whom = "every role" if len(roles) == len(ROLES) else f"the role {roles[0]}"
    what = f"{', then '.join(names)} plays {whom}" if names else f"Whichever model there is a key for plays {whom}"
    told = f"{what} from the next task on. It stands in {file}."
    if overruled:
        told += f" But {' and '.join(overruled)} in the sidecar's environment wins while it is set."
    return told


def _command(model: str, role: str | None, base_url: str) -> str:
    which = f" --role {role}" if role else ""
    place = f" --at {base_url or _ORIGIN}" if "openai/" in model else ""
    return f"brain use{which} {model}{place}"
