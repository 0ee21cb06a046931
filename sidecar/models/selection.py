"""Choose the model of a role: test it first, then write it to the user's configuration."""

import asyncio
from collections.abc import Sequence

from sidecar.config.settings import BASE_URL, ModelSettings
from sidecar.models.access import is_local
from sidecar.models.catalog import ROLES, Catalog
from sidecar.models.errors import BadChoice
from sidecar.models.port import BuiltinModel
from sidecar.models.providers import PROVIDERS
from sidecar.wire.models import ModelTest, UseAnswer, UseRequest

AUTO = "auto"
MAX_MODELS = 8
_DEFAULT_SERVER = "openai"


class Selection:
    def __init__(self, catalog: Catalog, choices: ModelSettings) -> None:
        self._catalog = catalog
        self._choices = choices
        self._writing = asyncio.Lock()

    async def use(self, wanted: UseRequest) -> UseAnswer:
        async with self._writing:
            return await self._use(wanted)

    async def _use(self, wanted: UseRequest) -> UseAnswer:
        names, base_url = _parse_names(wanted, self._catalog.builtin), self._base_url(wanted)
        tests = await asyncio.gather(*(self._catalog.check_model(name, base_url) for name in names))
        roles = [wanted.role] if wanted.role else list(ROLES)
        back = self._restore_commands(roles)
        if names and not wanted.force and not any(test.ok for test in tests):
            problems = " ".join(test.message for test in tests)
            message = f"{problems} Nothing was changed. Use `brain use --force` to save it anyway."
            return self._answer(message, tests)
        values = {f"model_{role}": ",".join(names) for role in roles}
        if base_url is not None:
            values[BASE_URL] = base_url
        file = self._choices.write(values)
        overruled = [variable for name in values if (variable := self._choices.overruled(name))]
        return self._answer(_summary(names, roles, str(file), overruled), tests, back)

    def _base_url(self, wanted: UseRequest) -> str | None:
        """The new base URL of `openai/…`; None keeps the current one."""
        if wanted.model == AUTO and wanted.role is None:
            return ""
        if wanted.base_url and not is_local(wanted.base_url):
            raise BadChoice(
                f"{wanted.base_url[:200]} is not on this machine. For a remote server, set OPENAI_BASE_URL in "
                f"the environment or {BASE_URL} in your config.toml."
            )
        return wanted.base_url

    def _restore_commands(self, roles: Sequence[str]) -> list[str]:
        """The commands that restore the current choice."""
        before = {role: self._choices.model(role) or AUTO for role in roles}
        at = self._choices.openai_base_url
        if len(roles) == len(ROLES) and len(set(before.values())) == 1:
            return [_command(before[roles[0]], None, at)]
        return [_command(model, role, at) for role, model in before.items()]

    def _answer(self, message: str, tests: Sequence[ModelTest], back: Sequence[str] = ()) -> UseAnswer:
        roles = self._catalog.list().roles
        return UseAnswer(changed=bool(back), message=message, tests=list(tests), roles=roles, back=list(back))


def _parse_names(wanted: UseRequest, builtin: BuiltinModel) -> list[str]:
    if wanted.model == AUTO:
        return []
    names = [name.strip() for name in wanted.model.split(",") if name.strip()]
    if not names or len(names) > MAX_MODELS or not all(name.isprintable() for name in names):
        raise BadChoice(f"Use provider/name; separate several (at most {MAX_MODELS}) with commas.")
    resolved = [builtin.full_name if name == builtin.provider else name for name in names]
    providers = (*PROVIDERS, builtin.provider, "scripted")
    for name in resolved:
        provider, _, model = name.partition("/")
        if provider not in providers or not model:
            known = ", ".join(providers)
            raise BadChoice(f"{name[:200]}: use provider/name; the providers are {known}.")
    return resolved


def _summary(names: Sequence[str], roles: Sequence[str], file: str, overruled: Sequence[str]) -> str:
    scope = "all roles" if len(roles) == len(ROLES) else f"the role {roles[0]}"
    models = ", then ".join(names) if names else "the default models of the providers with a key"
    text = f"From the next task on, {scope} use{'' if len(roles) == len(ROLES) else 's'} {models}. Saved in {file}."
    if overruled:
        text += f" But {' and '.join(overruled)} in the sidecar's environment takes precedence."
    return text


def _command(model: str, role: str | None, base_url: str) -> str:
    which = f" --role {role}" if role else ""
    server = f" --at {base_url or _DEFAULT_SERVER}" if "openai/" in model else ""
    return f"brain use{which} {model}{server}"
