"""Linear as `emulate` has it, behind a translation: its agent mutations have older shapes than Linear's schema.

What `emulate` lacks (attachments, ids given by the client) is kept here. Everything else reaches it unchanged.
"""

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.support.emulate import emulated

LINEAR_TOKEN = "lin_test_agent"
_STATES = (
    ("Todo", "unstarted"),
    ("In Progress", "started"),
    ("In Review", "started"),
    ("Done", "completed"),
)


class EmulatedLinear:
    def __init__(self, emulate: str) -> None:
        self._emulate = emulate
        self.url = ""
        #: Content of each activity by its id, in order.
        self.activities: dict[str, Any] = {}
        self.attachments: list[str] = []
        self.plans: list[Any] = []
        #: Called with each document and its variables before it is carried out, and after that.
        self.before: Callable[[str, Any], object] = lambda query, variables: None
        self.after: Callable[[str, Any], object] = lambda query, variables: None
        self.lock = threading.Lock()

    def ask(self, query: str, **variables: object) -> Any:
        """Of `emulate` itself, in its own words."""
        body = json.dumps({"query": query, "variables": variables}).encode()
        headers = {"Authorization": LINEAR_TOKEN, "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self._emulate}/graphql", body, headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                answer = json.loads(response.read())
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read()) from error
        return answer["data"]

    def answer(self, query: str, variables: Any) -> Any:
        given = variables.get("input")
        with self.lock:
            if "agentActivityCreate" in query:
                return self._create(query, given)
            if "attachmentCreate" in query:
                self.attachments += [given["url"]] if given["url"] not in self.attachments else []
                return {"attachmentCreate": {"success": True}}
        if "activities(" in query:
            return {"agentSession": {"activities": {"nodes": [{"id": each} for each in self.activities]}}}
        if "agentSessionUpdate" in query:
            self.plans += [given["plan"]] if "plan" in given else []
            variables = {**variables, "input": {"plan": json.dumps(given.get("plan"))}}
        query = query.replace("appUser {", "appUser: agentUser {")
        if "issues(" in query:
            variables = {"filter": {"team": {"eq": variables["filter"]["team"]["key"]["eq"]}}}
        return self.ask(query, **variables)

    def _create(self, query: str, given: Any) -> Any:
        assert given["id"] not in self.activities, "the same activity was created twice"
        content = given["content"]
        text = content.get("body") or content["action"]
        sent = {"sessionId": given["agentSessionId"], "type": content["type"], "body": text}
        made = self.ask(query, input=sent)
        self.activities[given["id"]] = content
        made["agentActivityCreate"]["agentActivity"]["id"] = given["id"]
        return made

    def issue(self, title: str, **more: object) -> Any:
        [team] = self.ask("{ teams { nodes { id } } }")["teams"]["nodes"]
        query = "mutation($input: IssueCreateInput!) { issueCreate(input: $input) { issue { id identifier title } } }"
        return self.ask(query, input={"teamId": team["id"], "title": title, **more})["issueCreate"]["issue"]

    def session(self, issue: Any) -> str:
        query = "mutation($input: AgentSessionCreateOnIssue!) { agentSessionCreateOnIssue(input: $input) "
        made = self.ask(query + "{ agentSession { id } } }", input={"issueId": issue["id"]})
        session: str = made["agentSessionCreateOnIssue"]["agentSession"]["id"]
        return session

    def state(self, issue: Any) -> str:
        found: str = self.ask("query($id: String!) { issue(id: $id) { state { name } } }", id=issue["id"])["issue"][
            "state"
        ]["name"]
        return found


@contextmanager
def emulated_linear(place: Path) -> Iterator[EmulatedLinear]:
    users = [{"email": "alice@example.com", "name": "Alice", "admin": True}]
    team = {"key": "ENG", "name": "Engineering", "states": [{"name": name, "type": kind} for name, kind in _STATES]}
    scopes = ["read", "write", "issues:create", "admin"]
    token = {"token": LINEAR_TOKEN, "user": "alice@example.com", "scopes": scopes}
    config = {"linear": {"users": users, "teams": [team], "tokens": [token]}}
    place.mkdir(exist_ok=True)
    with emulated(place, "linear", json.dumps(config)) as [url]:
        linear = EmulatedLinear(url)

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                assert self.headers["Authorization"] == f"Bearer {LINEAR_TOKEN}"
                with suppress(ConnectionError):  # the client may be gone
                    linear.before(asked["query"], asked["variables"])
                    body = json.dumps({"data": linear.answer(asked["query"], asked["variables"])}).encode()
                    linear.after(asked["query"], asked["variables"])
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        linear.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield linear
        finally:
            server.shutdown()
            thread.join()
            server.server_close()
