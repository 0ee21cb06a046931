"""An agent that breaks every rule, in the way that its first argument names."""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any


def send(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def ask(number: int, method: str, **params: Any) -> Any:
    send(id=number, method=method, params={"sessionId": "s", **params})
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("id") == number and "method" not in message:
            return message
    return {}


def say(text: str) -> None:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    send(method="session/update", params={"sessionId": "s", "update": update})


def attempt(*place: str) -> str:
    try:
        return Path(*place).read_text()[:200]
    except OSError as error:
        return f"refused ({type(error).__name__})"


def misbehave(mode: str, cwd: str) -> None:
    outside = sys.argv[2]
    if mode == "flood":
        while True:
            say("x" * 1_000)
    if mode == "large":
        sys.stdout.write("x" * (20 * 1024 * 1024) + "\n")
        sys.stdout.flush()
        signal.pause()
    if mode == "die":
        os._exit(3)
    if mode == "children":
        for _ in range(3):
            if os.fork() == 0:
                os.setsid()
                signal.pause()
        os._exit(0)
    if mode == "hang":
        signal.pause()
    if mode == "outside":
        answers = [
            ask(1, "fs/write_text_file", path=f"{cwd}/../escaped.txt", content="x"),
            ask(2, "fs/write_text_file", path=f"{outside}/planted.txt", content="x"),
            ask(3, "fs/read_text_file", path="/etc/passwd"),
            ask(4, "fs/write_text_file", path=f"{cwd}/.git/hooks/pre-commit", content="x"),
        ]
        try:
            Path(outside, "planted.txt").write_text("x")
            say("WROTE")
        except OSError:
            pass
        say(json.dumps(["error" in answer for answer in answers]))
    if mode == "secrets":
        data = sys.argv[3]
        token, environment = attempt(data, "token"), attempt(cwd, ".env")
        asked = ask(5, "fs/read_text_file", path=f"{cwd}/.env")
        say(json.dumps([token, environment, "error" in asked, os.environ.get("CANARY_API_KEY", "none")]))


for line in sys.stdin:
    message = json.loads(line)
    match message.get("method"):
        case "initialize":
            if sys.argv[1] == "mute":
                signal.pause()
            send(id=message["id"], result={"protocolVersion": 1})
        case "session/new":
            cwd = message["params"]["cwd"]
            send(id=message["id"], result={"sessionId": "s"})
        case "session/prompt":
            misbehave(sys.argv[1], cwd)
            send(id=message["id"], result={"stopReason": "end_turn"})
