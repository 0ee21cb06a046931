"""The reviewer's verdict: whether it approves the change, and the issues it found."""

import re
from typing import Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, field_validator

from sidecar.wire.events import VerdictEvent, VerdictIssue
from sidecar.work.replies import find_objects, text_before_json

_SEVERITIES = {
    "critical": "error",
    "high": "error",
    "major": "error",
    "medium": "warning",
    "minor": "hint",
    "low": "hint",
}
_NAMES = ("message", "text", "problem", "issue", "description", "title")
_NUMBER = re.compile(r"\s*[Ll]?\s*(\d{1,9})(?!\d)")
_VERDICT_KEY = re.compile(r"\"(passed|approved|issues)\"\s*:", re.IGNORECASE)


class Issue(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    message: str = Field(validation_alias=AliasChoices(*_NAMES))
    file: str = Field("", validation_alias=AliasChoices("file", "path"))
    line: int | None = None
    severity: Literal["error", "warning", "hint"] = "warning"
    fix: str = Field("", validation_alias=AliasChoices("fix", "suggestion"))

    @field_validator("severity", mode="before")
    @classmethod
    def _severity(cls, value: Any) -> Any:
        text = str(value).lower()
        return _SEVERITIES.get(text, text if text in ("error", "warning", "hint") else "warning")

    @field_validator("line", mode="before")
    @classmethod
    def _line(cls, value: Any) -> Any:
        """12, "12", "L12", "12-14", 12.0."""
        number = _NUMBER.match(str(value))
        return int(number[1]) if number else None

    @field_validator("message", "file", "fix", mode="before")
    @classmethod
    def _text(cls, value: Any) -> Any:
        return "" if value is None else str(value)

    @property
    def text(self) -> str:
        return f"{self.message} Fix: {self.fix}" if self.fix else self.message

    def render(self) -> str:
        where = f"{self.file}:{self.line}" if self.file and self.line else self.file
        return f"{self.severity}: {f'{where}: ' if where else ''}{self.text}"


class Verdict(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    passed: bool
    issues: list[Issue] = []
    summary: str = ""

    @field_validator("summary", mode="before")
    @classmethod
    def _summary(cls, value: Any) -> Any:
        return "" if value is None else str(value)

    @field_validator("issues", mode="before")
    @classmethod
    def _issues(cls, value: Any) -> Any:
        """Keeps every issue, whatever its form."""
        given = value if isinstance(value, list) else [value] if value else []
        return [each if isinstance(each, dict) and any(map(each.get, _NAMES)) else _as_message(each) for each in given]

    def render(self) -> str:
        found = "problems" if not self.passed else "nothing that must be fixed" if self.issues else "no problems"
        head = self.summary or f"The review found {found}."
        return "\n".join([head, *(f"- {issue.render()}" for issue in self.issues)])

    def event(self) -> VerdictEvent:
        issues = [
            VerdictIssue(path=issue.file or None, line=issue.line, severity=issue.severity, text=issue.text)
            for issue in self.issues
        ]
        return VerdictEvent(approved=self.passed, issues=issues)


def parse_verdict(text: str) -> Verdict | None:
    """`None` if the reviewer answered in prose, which sends no work back."""
    for found in find_objects(text):
        for given in (found, *(value for value in found.values() if isinstance(value, dict))):
            verdict = _validate(given)
            if verdict is not None:
                return verdict if verdict.summary else verdict.model_copy(update={"summary": text_before_json(text)})
    return None


def looks_like_verdict(text: str) -> bool:
    """Whether the text was meant as a verdict, though it can't be parsed."""
    return _VERDICT_KEY.search(text) is not None


def _validate(given: dict[str, Any]) -> Verdict | None:
    named = {name.lower(): value for name, value in given.items()}
    if "approved" in named:
        named.setdefault("passed", named["approved"])
    if "passed" not in named and isinstance(named.get("issues"), list):
        named["passed"] = not any(issue.severity == "error" for issue in _issues_of(named["issues"]))
    try:
        return Verdict.model_validate(named)
    except ValidationError:
        return None


def _issues_of(given: list[Any]) -> list[Issue]:
    try:
        return Verdict(passed=False, issues=given).issues
    except ValidationError:
        return []


def _as_message(each: Any) -> dict[str, Any]:
    if not isinstance(each, dict):
        return {"message": str(each)}
    return {**each, "message": str(each.get("fix") or "unspecified problem")}
