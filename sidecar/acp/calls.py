"""A tool event as ACP shows it: title, kind, locations, and content with diffs."""

import posixpath
import shlex
from collections.abc import Callable, Sequence
from typing import Any

from tools.errors import ToolError
from tools.patch import parse_patch

Json = dict[str, Any]
#: A unified diff as content of a call, with paths of this workspace.
Diffs = Callable[[str, str], list[Json]]

TITLE_LIMIT = 200
OUTPUT_LIMIT = 16_384
MAX_LOCATIONS = 50

_KINDS = {
    "read": ("read_file", "read_files", "list_dir", "read_directory_tree", "get_workspace_info", "command_output"),
    "search": (
        "find_files",
        "search_code",
        "find_symbols",
        "find_code",
        "impact",
        "similar",
        "tests_of",
        "recall",
        "git_log",
        "git_blame",
    ),
    "edit": (
        "write_file",
        "create_file",
        "edit_file",
        "multi_edit",
        "apply_patch",
        "rename_symbol",
        "organize_imports",
    ),
    "delete": ("delete_file",),
    "move": ("move_file", "move_symbol"),
    "execute": ("run_command", "run_tests", "stop_command", "git_add", "git_commit"),
    "think": ("todo",),
    "fetch": ("fetch_url",),
    "switch_mode": ("set_mode",),
}
KIND_OF = {tool: kind for kind, tools in _KINDS.items() for tool in tools}
#: Arguments that say what a call is about, the most telling first.
_SUBJECTS = ("path", "from", "symbol", "query", "pattern", "url")
_STATUS = {"pending": "pending", "running": "in_progress", "success": "completed"}


def started(event: Json, workspace: str) -> Json:
    """The `tool_call` that introduces a call."""
    return {
        "toolCallId": event["callId"],
        "title": title(event),
        "name": event["tool"],
        "kind": KIND_OF.get(event["tool"], "other"),
        "status": _STATUS.get(event["status"], "failed"),
        "locations": _locations(event, workspace),
        "rawInput": event["args"],
    }


def ended(event: Json, workspace: str, diffs: Diffs) -> Json:
    """The fields of a `tool_call_update` that a finished call adds."""
    details = event.get("details") or {}
    return {
        "toolCallId": event["callId"],
        "status": _STATUS.get(event["status"], "failed"),
        "content": [*_diffs(details, workspace, diffs), *_text(event, details)],
        "locations": _locations(event, workspace),
        "rawOutput": {
            "summary": event.get("summary", ""),
            **({"error": error} if (error := event.get("error")) else {}),
        },
    }


def output(call_id: str, text: str) -> Json:
    """What a running command has printed so far."""
    return {"toolCallId": call_id, "status": "in_progress", "content": [_block(text)]}


def title(event: Json) -> str:
    args, tool = event["args"], event["tool"]
    command = args.get("command")
    if command:
        text = command if isinstance(command, str) else shlex.join(str(word) for word in command)
    else:
        about = next((args[name] for name in _SUBJECTS if args.get(name)), "")
        text = f"{tool.replace('_', ' ')} {about}".strip()
    return text if len(text) <= TITLE_LIMIT else f"{text[: TITLE_LIMIT - 1]}…"


def diff_blocks(text: str, workspace: str) -> list[Json]:
    """A unified diff as ACP diffs, one per hunk; nothing if it can't be read."""
    try:
        files = parse_patch(text)
    except ToolError:
        return []
    return [
        {
            "type": "diff",
            "path": posixpath.join(workspace, file.path),
            "oldText": None if file.source is None else "\n".join(hunk.old) + ("" if hunk.old_open else "\n"),
            "newText": "\n".join(hunk.new) + ("" if hunk.new_open or not hunk.new else "\n"),
        }
        for file in files
        for hunk in file.hunks
    ]


def command_line(argv: Sequence[object]) -> str:
    return shlex.join(str(word) for word in argv)


def text_block(text: str) -> Json:
    return {"type": "text", "text": text}


def _block(text: str) -> Json:
    return {"type": "content", "content": text_block(text)}


def _diffs(details: Any, workspace: str, diffs: Diffs) -> list[Json]:
    files = details.get("files") if isinstance(details, dict) else None
    if not isinstance(files, list):
        return []
    texts = [file["diff"] for file in files if isinstance(file, dict) and isinstance(file.get("diff"), str)]
    return [block for text in texts for block in diffs(text, workspace)]


def _text(event: Json, details: Any) -> list[Json]:
    if event["status"] == "unknown":
        return [_block("The sidecar stopped during this call: it may have taken effect and was not repeated.")]
    if error := event.get("error"):
        return [_block(str(error.get("message", "")))]
    printed = details.get("output") if isinstance(details, dict) else None
    if isinstance(printed, str) and printed.strip():
        return [_block(f"```\n{printed[-OUTPUT_LIMIT:].rstrip()}\n```")]
    return [_block(event["summary"])] if event.get("summary") else []


def _locations(event: Json, workspace: str) -> list[Json]:
    args, details = event["args"], event.get("details")
    named: dict[str, int | None] = {}
    for name in ("path", "from", "to"):
        if isinstance(path := args.get(name), str):
            line = args.get("startLine")
            named.setdefault(path, line if isinstance(line, int) else None)
    files = details.get("files") if isinstance(details, dict) else None
    for file in files if isinstance(files, list) else []:
        if isinstance(file, dict) and isinstance(file.get("path"), str):
            named.setdefault(file["path"], None)
    return [
        {"path": posixpath.join(workspace, path), **({"line": line} if line else {})}
        for path, line in list(named.items())[:MAX_LOCATIONS]
    ]
