"""What a model's work costs here and in a bare loop: requests and bytes, and whether the verdict is right.

The model is played by policies that act only on what a request shows: they look for what they haven't seen, edit what
they have seen, and approve a diff that is in front of them.
"""

# ruff: noqa: E501 - the kinds are a table

import asyncio
import json
import re
import shutil
import sys
import tempfile
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click
import httpx
import requests
import starlette
import werkzeug

from sidecar.config.settings import Settings
from sidecar.engine.engine import Engine
from sidecar.engine.operations import Execute, SendMessage
from sidecar.models.catalog import Catalog
from sidecar.models.port import Capabilities, Delta, ModelTurn, Reply, Request, Stop, ToolTurn, ToolUse, Turn, UserTurn
from sidecar.offline import OFFLINE
from sidecar.wire.base import JsonObject
from sidecar.wire.tasks import ExecuteRequest, Task
from sidecar.work.customizations import Customizations
from sidecar.work.workflow import Workflow
from tests.benchmarks.bare_loop import BareLoop, request_size
from tests.benchmarks.result import Result
from tests.support.scratch_journal import ScratchJournal
from tools.executor.executor import Executor
from tools.executor.registry import default_registry
from tools.local.backend import LocalBackend
from tools.policy.policy import Policy

PYTHON = ".venv/bin/python"


@dataclass(frozen=True)
class Kind:
    """A kind of task. `old` becomes `new` in `path`; `query` finds it; `test` proves it."""

    name: str
    package: Path
    asks: tuple[str, ...]
    path: str = ""
    query: str = ""
    #: The package's own text, and what is planted in its place before the task begins.
    right: str = ""
    planted: str = ""
    new: str = ""
    test: str = ""
    answer: str = "Done."
    #: What `verified` must be in the end.
    verified: tuple[bool | None, ...] = (True,)
    #: Claims to be done without having changed anything, or changes the wrong thing first.
    lies: bool = False
    errs: str = ""
    edits: bool = True
    files: dict[str, str] = field(default_factory=dict)

    @property
    def sent_back(self) -> int:
        """How often a person has to say that the tests fail: until it is right, or as often as we try."""
        return 2 if self.lies else 1 if self.errs else 0

    @property
    def old(self) -> str:
        return self.planted or self.right


def _folder(module: object) -> Path:
    return Path(str(module.__file__)).parent  # type: ignore[attr-defined]


CLAMP = "from click.types import IntRange\n\n\ndef test_clamp():\n    assert IntRange(0, 9, min_open=True, clamp=True).convert(0, None, None) == 1\n"
JOIN = "from werkzeug.security import safe_join\n\n\ndef test_join():\n    assert safe_join('/a', 'b') == '/a/b'\n    assert safe_join('/a', '../b') is None\n"
LIST = "from starlette.datastructures import Headers\n\n\ndef test_getlist():\n    assert Headers(raw=[(b'a', b'1')]).getlist('a') == ['1']\n"
IPV4 = "from requests.utils import is_ipv4_address\n\n\ndef test_ipv4():\n    assert is_ipv4_address('1.2.3.4')\n    assert not is_ipv4_address('x')\n"
TRACE = (
    "What is going on, and can it be fixed?\n\nTraceback (most recent call last):\n"
    "  File \"tests/test_it.py\", line 5, in test_join\n    assert safe_join('/a', 'b') == '/a/b'\n"
    '  File "werkzeug/security.py", line 181, in safe_join\n    parts = [directroy]\n'
    "NameError: name 'directroy' is not defined"
)
KINDS = (
    Kind("fix a bug", _folder(click), ("IntRange(0, 9, min_open=True, clamp=True) gives -1 for 0 instead of 1. Fix it.",),
         query="_clamp", path="click/types.py", right="return bound + dir", planted="return bound - dir",
         new="return bound + dir", test=CLAMP, answer="Fixed IntRange._clamp in click/types.py; the test passes."),
    Kind("a traceback", _folder(werkzeug), (TRACE,), path="werkzeug/security.py", query="directroy",
         right="parts = [directory]", planted="parts = [directroy]", new="parts = [directory]", test=JOIN,
         answer="Fixed the name in werkzeug/security.py; the test passes."),
    Kind("a small feature", _folder(starlette), ("Let Headers.getlist in starlette ignore surrounding spaces of the key.",),
         path="starlette/datastructures.py", query="def getlist(self, key: str)",
         right='def getlist(self, key: str) -> list[str]:\n        get_header_key = key.lower().encode("latin-1")', new='def getlist(self, key: str) -> list[str]:\n        get_header_key = key.strip().lower().encode("latin-1")',
         test=LIST, answer="Headers.getlist strips its key now."),
    Kind("a question", _folder(httpx), ("Where does httpx set its default timeout, and what is it?",), path="httpx/_config.py",
         query="DEFAULT_TIMEOUT_CONFIG =", right="DEFAULT_TIMEOUT_CONFIG = Timeout(timeout=5.0)", edits=False,
         answer="In httpx/_config.py: DEFAULT_TIMEOUT_CONFIG = Timeout(timeout=5.0), so 5 seconds.", verified=(None,)),
    Kind("run the tests", _folder(requests), ("Run the tests and tell me what fails.",), test=IPV4, edits=False,
         answer="Everything passes."),
    Kind("write documentation", _folder(requests), ("Say in the docstring of is_ipv4_address what it checks.",),
         path="requests/utils.py", query="def is_ipv4_address", right='    """\n    :rtype: bool\n    """\n    try:\n        socket.inet_aton(string_ip)',
         new='    """Whether the text is an IPv4 address.\n\n    :rtype: bool\n    """\n    try:\n        socket.inet_aton(string_ip)',
         test=IPV4, answer="The docstring says what it checks.", verified=(True, None)),
    Kind("question, then “yes, do it”", _folder(click),
         ("Why does IntRange clamp to -1 with min_open? Don't change anything yet.", "yes, do it"),
         query="_clamp", path="click/types.py", right="return bound + dir", planted="return bound - dir",
         new="return bound + dir", test=CLAMP, answer="Fixed IntRange._clamp; the test passes."),
    Kind("a false “done”", _folder(click), ("IntRange(0, 9, min_open=True, clamp=True) gives -1 for 0 instead of 1. Fix it.",),
         query="_clamp", path="click/types.py", right="return bound + dir", planted="return bound - dir", test=CLAMP,
         answer="I fixed click/types.py and all tests pass.", lies=True, verified=(False, None)),
    Kind("a false “done” that names no file", _folder(click), ("IntRange(0, 9, min_open=True, clamp=True) gives -1 for 0 instead of 1. Fix it.",),
         query="_clamp", path="click/types.py", right="return bound + dir", planted="return bound - dir", test=CLAMP,
         answer="Done: the range clamps to the right side now.", lies=True, verified=(False, None)),
    Kind("a wrong edit, noticed by the checks", _folder(click),
         ("IntRange(0, 9, min_open=True, clamp=True) gives -1 for 0 instead of 1. Fix it.",),
         query="_clamp", path="click/types.py", right="return bound + dir", planted="return bound - dir",
         new="return bound + dir", errs="return bound - dir - 1", test=CLAMP, answer="Fixed IntRange._clamp.",),
)  # fmt: skip


class Player:
    """Plays a model for one kind of task, with the tools of whoever asks."""

    def __init__(self, kind: Kind, *, bare: bool) -> None:
        self._kind = kind
        self._bare = bare
        self._calls = 0

    def decide(self, history: Sequence[Turn]) -> Reply:
        kind = self._kind
        asked = [turn.text for turn in history if isinstance(turn, UserTurn)]
        shown = [back.content for turn in history if isinstance(turn, ToolTurn) for back in turn.returns]
        done = [call for turn in history if isinstance(turn, ModelTurn) for call in turn.calls]
        if "The change:" in asked[-1]:
            return self._review(asked[-1])
        if kind.name == "run the tests":
            return self._say(kind.answer) if shown else self._use(self._tests())
        seen = any(kind.old.strip().splitlines()[-1].strip() in text for text in shown)
        if not seen:
            return self._use(self._look())
        only_asked = len(kind.asks) > 1 and kind.asks[-1] not in asked
        if not kind.edits or kind.lies or only_asked:
            return self._say(kind.answer if not only_asked else f"`{kind.old}` goes the wrong way. Shall I fix it?")
        edited = [call for call in done if call.tool in ("edit", "edit_file")]
        if kind.errs and not edited:
            return self._use(self._edit(kind.old, kind.errs))
        failed = [text for text in asked if "doesn't pass" in text]
        if kind.errs and len(edited) == 1:
            if not failed:
                return self._say(kind.answer)
            return self._use(self._edit(kind.errs, kind.new), self._tests())
        if not edited:
            return self._use(self._edit(kind.old, kind.new), self._tests())
        return self._say(kind.answer)

    def _review(self, text: str) -> Reply:
        """Approves exactly what it can see to be right."""
        visible = all(
            f"+{line}" in re.sub(r"^\+\s*", "+", text, flags=re.MULTILINE) or not line for line in self._added()
        )
        issues = [] if visible else [{"file": self._kind.path, "severity": "error", "message": "the change is missing"}]
        return self._say(json.dumps({"passed": visible, "issues": issues}))

    def _added(self) -> list[str]:
        before = {line.strip() for line in self._kind.old.splitlines()}
        return [line.strip() for line in self._kind.new.splitlines() if line.strip() not in before]

    def _look(self) -> ToolUse:
        kind = self._kind
        if self._bare:
            return self._call("bash", command=f"grep -rn -A22 -B4 -F {json.dumps(kind.query)} {kind.path}")
        return self._call("search_code", query=kind.query, context=13, path=kind.path)

    def _edit(self, old: str, new: str) -> ToolUse:
        return self._call("edit" if self._bare else "edit_file", path=self._kind.path, oldText=old, newText=new)

    def _tests(self) -> ToolUse:
        if self._bare:
            return self._call("bash", command=f"{PYTHON} -m pytest tests/test_it.py")
        return self._call("run_tests", target="tests/test_it.py")

    def _call(self, tool: str, **args: object) -> ToolUse:
        self._calls += 1
        given: JsonObject = json.loads(json.dumps(args))
        return ToolUse(id=f"call_{self._calls}", tool=tool, args=given)

    def _use(self, *calls: ToolUse) -> Reply:
        return Reply(calls=list(calls), stop=Stop.TOOL_USE)

    def _say(self, text: str) -> Reply:
        return Reply(text=text, stop=Stop.END)


class Played:
    provider, name, capabilities = "played", "policy", Capabilities()

    def __init__(self, player: Player) -> None:
        self._player = player
        self.sizes: list[int] = []

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        tools: list[JsonObject] = [
            {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.parameters}}
            for t in request.tools
        ]
        self.sizes.append(request_size(request.system, tools, request.history))
        yield self._player.decide(request.history)


class OneModel(Catalog):
    def __init__(self, model: Played) -> None:
        super().__init__(Settings(), Path(), OFFLINE)
        self._model = model

    def model_for(self, *_: object) -> Played:  # type: ignore[override]
        return self._model


async def run() -> list[Result]:
    results: list[Result] = []
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as directory:
            ours, task = await _ours(kind, Path(directory) / "ours")
            bare = await _bare(kind, Path(directory) / "bare")
        assert task.verified in kind.verified, f"{kind.name}: verified is {task.verified}, {task.status}, {task.error}"
        more, ratio = len(ours) - len(bare), sum(ours) / sum(bare)
        results.append(Result(f"{kind.name}: requests beyond a bare loop's {len(bare)}", float(more), "", most=2))
        baseline = "a bare loop, sent back by a person" if kind.sent_back else "a bare loop"
        results.append(
            Result(f"{kind.name}: bytes", sum(ours) / 1000, "kB", ratio=ratio, baseline=baseline, most_ratio=1.5)
        )
    return results


def _prepare(kind: Kind, place: Path) -> Path:
    """The package as it is installed, with a test, an environment and what is planted."""
    workspace = place / "workspace"
    shutil.copytree(kind.package, workspace / kind.package.name, ignore=shutil.ignore_patterns("__pycache__"))
    (workspace / "tests").mkdir()
    (workspace / "tests" / "test_it.py").write_text(kind.test or "def test_nothing():\n    pass\n")
    (workspace / "conftest.py").write_text("")
    if kind.planted:
        path = workspace / kind.path
        text = path.read_text()
        assert text.count(kind.right) == 1, kind.name
        path.write_text(text.replace(kind.right, kind.planted))
    binaries = workspace / ".venv" / "bin"
    binaries.mkdir(parents=True)
    (binaries / "python").symlink_to(sys.executable)
    shutil.copy(Path(sys.prefix) / "pyvenv.cfg", workspace / ".venv" / "pyvenv.cfg")
    (workspace / ".venv" / "lib").symlink_to(Path(sys.prefix) / "lib")
    return workspace


async def _bare(kind: Kind, place: Path) -> list[int]:
    loop = BareLoop(_prepare(kind, place), Player(kind, bare=True).decide)
    for text in kind.asks:
        await loop.ask(text)
    for _ in range(kind.sent_back):
        # A bare loop that stops at a wrong answer is cheap, but no measure: its person runs the tests and says so.
        argv = (PYTHON, "-m", "pytest", "-q", "tests/test_it.py")
        tests = await asyncio.create_subprocess_exec(*argv, cwd=loop.workspace, stdout=PIPE, stderr=STDOUT)
        said, _ = await tests.communicate()
        assert tests.returncode, kind.name
        await loop.ask(f"This doesn't pass:\n{said.decode()}")
    return loop.sizes


async def _ours(kind: Kind, place: Path) -> tuple[list[int], Task]:
    workspace, data_dir = _prepare(kind, place), place / "data"
    data_dir.mkdir()
    journal, registry = ScratchJournal(), default_registry()
    backend = LocalBackend(registry, data_dir)
    executor = Executor(registry, [backend], Policy(lambda workspace: True))
    model = Played(Player(kind, bare=False))
    customizations = Customizations(None, lambda workspace: True)
    workflow = Workflow(journal, OneModel(model), registry, executor, customizations)
    engine = Engine(journal, workflow, backend.host, workspace, slots=1, max_queued=10)
    await engine.start()
    try:
        request = ExecuteRequest.model_validate({"task": kind.asks[0], "options": {"approvals": "auto"}})
        task_id = await engine.submit(Execute(request))
        for following in (*kind.asks[1:], None):
            async with asyncio.timeout(300):
                async for _ in engine.events(task_id):
                    pass
            if following is not None:
                await engine.submit(SendMessage(task_id, following))
        return model.sizes, await journal.task(task_id)
    finally:
        await engine.stop()
        await executor.close()
        await journal.close()
