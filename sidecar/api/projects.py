"""Routes for new projects from templates."""

from pathlib import Path
from typing import TYPE_CHECKING

from starlette.requests import Request

from sidecar.api.identity import within_role
from sidecar.api.route import IDEMPOTENCY, idempotency_key, route
from sidecar.engine.errors import OperationRefused
from sidecar.engine.operations import Execute
from sidecar.journal.port import Journal
from sidecar.offline import OFFLINE
from sidecar.wire.system import ProjectOrder, Template, TemplateList
from sidecar.wire.tasks import Accepted, Context, ExecuteRequest, Models

if TYPE_CHECKING:
    from sidecar.engine.engine import Engine


class ProjectRoutes:
    def __init__(self, engine: "Engine", journal: Journal) -> None:
        self._engine = engine
        self._journal = journal

    @route("GET /api/brain/templates", "templates")
    async def templates(self, request: Request) -> TemplateList:
        """List the templates of new projects. Your own are the folders of `templates/` in the configuration directory;
        their files end in `.template`."""
        from sidecar.offline.scaffold.kinds import load_kinds
        from sidecar.offline.scaffold.project import template_paths

        found = [
            Template(name=kind.said, description=f"A {kind.noun}", files=template_paths(kind), own=kind.own)
            for kind in load_kinds().values()
        ]
        return TemplateList(templates=found)

    @route("POST /api/brain/projects", "create_project", headers=(IDEMPOTENCY,), refusals=(409, 429, 503), status=202)
    async def create(self, request: Request, order: ProjectOrder) -> Accepted:
        """Create a project from a template. A task like any other; the result has `projectPath` and `success`."""
        from sidecar.offline.scaffold.kinds import load_kinds, name_problem, slug

        order = order.model_copy(update={"options": within_role(request.scope["identity"], order.options)})
        kinds = {name: kind for key, kind in load_kinds().items() for name in (kind.said, key, slug(kind.said))}
        kind = kinds.get(order.template)
        if kind is None:
            names = ", ".join(sorted({each.said for each in kinds.values()}))
            raise OperationRefused(422, "unknown_template", f"No template {order.template[:80]!r}. There are: {names}.")
        name = slug(order.name)
        wrong = "a project needs a name with letters" if not name else name_problem(name, kind)
        if wrong is not None:
            raise OperationRefused(422, "invalid_name", f"{wrong[:1].upper()}{wrong[1:]}.")
        key = idempotency_key(request)
        known = None if key is None else await self._journal.find_by_key(key)
        return await self._accepted(known or await self._submit(order, kind.said, name, key))

    async def _submit(self, order: ProjectOrder, said: str, name: str, key: str | None) -> str:
        folder = _new_folder(self._parent(order.path) / name)
        # One line: the sentence must not gain a second meaning.
        purpose = " ".join((order.description or "").split())
        task = f"create a {said} called {name} here{f': {purpose}' if purpose else ''}"
        options = order.options.model_copy(update={"intent": "create_project"})
        if options.models == Models():
            model = f"{OFFLINE.provider}/{OFFLINE.name}"
            options = options.model_copy(update={"models": Models(fast=model, smart=model, instant=model)})
        wanted = ExecuteRequest(task=task, context=Context(workspace=str(folder)), options=options)
        return await self._engine.submit(Execute(wanted, key, creates_project=True))

    def _parent(self, named: str | None) -> Path:
        """Made if only its last part is missing, but never in the root or in what is the sidecar's own."""
        checked = self._engine.admission.checked_workspace
        path = Path(named or "")
        try:
            return Path(checked(named))
        except OperationRefused as refused:
            if refused.code != "workspace_not_found" or not path.parent.name:
                raise
        checked(str(path.parent))
        _make(path)
        return path

    async def _accepted(self, task_id: str) -> Accepted:
        task = await self._journal.task(task_id)
        url = f"/api/brain/tasks/{task.id}/stream"
        return Accepted(task_id=task.id, status=task.status, stream_url=url)


def _new_folder(folder: Path) -> Path:
    """The project's directory: the task's workspace, so that its tests run where they belong."""
    _make(folder)
    try:
        taken = folder.is_symlink() or any(folder.iterdir())
    except OSError as error:
        raise OperationRefused(422, "bad_folder", f"Can't use {folder}: {error.strerror}.") from error
    if taken:
        raise OperationRefused(409, "folder_taken", f"{folder} exists and isn't empty. Choose another name or path.")
    return folder


def _make(folder: Path) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise OperationRefused(422, "bad_folder", f"Can't create {folder}: {error.strerror}.") from error
