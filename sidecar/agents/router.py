"""From a sentence to an intent and its pipeline, by rules, in microseconds, with the reason in words."""

import re
from typing import get_args

from sidecar.wire.tasks import Intent, Options, RouteAnswer

PIPELINES: dict[Intent, tuple[str, ...]] = {
    "create_project": ("planner", "coder", "terminal", "reviewer", "docs"),
    "edit_code": ("coder", "reviewer"),
    "refactor_code": ("planner", "coder", "reviewer"),
    "run_command": ("terminal",),
    "explain_code": ("coder",),
    "review_code": ("reviewer",),
    "write_docs": ("docs", "reviewer"),
    "chat": ("coder",),
}

#: Intents whose agents get no tool that changes anything.
READ_ONLY: frozenset[Intent] = frozenset({"chat", "explain_code", "review_code"})

_CODE = r"(function|method|class|test|file|module|endpoint|route|field|parameter|argument|flag|option|bug|error|import)"
_RULES: tuple[tuple[Intent, float, str, str], ...] = (
    (
        "explain_code",
        0.95,
        "it asks for no change",
        r"\b(do not|don'?t|without)\s+(change|changing|edit|editing|modify|modifying|touch|touching)\b",
    ),
    (
        "run_command",
        0.95,
        "it asks to run something",
        r"^(please\s+|can you\s+)*(run|execute|start|launch|build|install|deploy|compile|lint|benchmark)\b"
        r"(?!.*\bscript that\b)"
        r"|^(pytest|npm|make|cargo|go|git|docker|pip|yarn|pnpm)\s+\w+"
        r"|^(tests?|build|lint)[.!]?$",
    ),
    (
        "create_project",
        0.9,
        "it asks for a new project",
        r"\b(create|scaffold|generate|bootstrap|set up|start|make|build|new)\b.*"
        r"\b(project|app|application|package|library|website|site|service|cli|api|repo(sitory)?)\b(?!\s*(function|method|class|file))"
        r"(?!.*\bin\s+\S+\.\w+)",
    ),
    (
        "refactor_code",
        0.9,
        "it asks to restructure",
        r"\b(refactor|restructure|reorgani[sz]e|clean up|simplify|deduplicate|split|extract|inline|modulari[sz]e|"
        r"migrate|modernize)\b",
    ),
    (
        "write_docs",
        0.9,
        "it asks for documentation",
        r"\b(document|docs?|docstrings?|readme|changelog|documentation|tutorial)\b(?=.*|$)(?<!explain the docs)",
    ),
    (
        "review_code",
        0.9,
        "it asks for a review",
        r"\b(review|audit|critique|code smells?|security issues?|vulnerabilit)\b"
        r"|^(check|inspect)\b.*\b(diff|change|pr|code)\b",
    ),
    (
        "explain_code",
        0.85,
        "it asks a question about the code",
        r"^(please\s+|can you\s+|could you\s+)*"
        r"(explain|describe|summari[sz]e|show|list|search|find|grep|look|tell me|walk me|"
        r"ls\b|where|who|what|why|how|which|when|does|is|are)\b",
    ),
    (
        "edit_code",
        0.85,
        "it asks for a change",
        r"\b(add|fix|change|update|implement|write|create|remove|delete|rename|replace|move|edit|modify|convert|insert|"
        rf"make|support|handle|use|format|sort)\b|\b{_CODE}\b",
    ),
)
_COMPILED = tuple(
    (intent, confidence, why, re.compile(rule, re.IGNORECASE)) for intent, confidence, why, rule in _RULES
)


def route(task: str, options: Options | None = None) -> RouteAnswer:
    options = options or Options()
    if options.intent is not None:
        return _answer(options.intent, 1.0, "you chose this intent", options)
    text = task.strip()
    command = re.match(r"/(\w+)\b", text)
    if command and command[1] in get_args(Intent):
        return _answer(command[1], 1.0, f"you wrote /{command[1]}", options)  # type: ignore[arg-type]
    for intent, confidence, why, rule in _COMPILED:
        if rule.search(text):
            return _answer(intent, confidence, why, options)
    return _answer("chat", 0.5, "no rule recognised it as work on code", options)


def _answer(intent: Intent, confidence: float, why: str, options: Options) -> RouteAnswer:
    if options.agent_type is not None:
        return RouteAnswer(
            intent=intent, confidence=confidence, pipeline=[options.agent_type], why=f"{why}; you chose the agent"
        )
    return RouteAnswer(intent=intent, confidence=confidence, pipeline=list(PIPELINES[intent]), why=why)
