"""The reviewer's verdict: whether the change passes, and what is wrong with it."""

from typing import Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, field_validator

from sidecar.agents.extraction import objects, words_around

_SEVERITIES = {
    "critical": "error",
    "high": "error",
    "major": "error",
    "medium": "warning",
    "minor": "hint",
    "low": "hint",
}


class Issue(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    message: str = Field(validation_alias=AliasChoices("message", "problem", "issue", "description", "title"))
    file: str = Field("", validation_alias=AliasChoices("file", "path"))
    line: int | None = None
    severity: Literal["error", "warning", "hint"] = "warning"
    fix: str = Field("", validation_alias=AliasChoices("fix", "suggestion"))

    @field_validator("severity", mode="before")
    @classmethod
    def _severity(cls, value: Any) -> Any:
        said = str(value).lower()
        return _SEVERITIES.get(said, said if said in ("error", "warning", "hint") else "warning")

    @field_validator("line", mode="before")
    @classmethod
    def _line(cls, value: Any) -> Any:
        digits = str(value).partition("-")[0].strip()
        return int(digits) if digits.isdigit() else None

    def told(self) -> str:
        where = f"{self.file}:{self.line}" if self.file and self.line else self.file
        return (
            f"{self.severity}: {f'{where}: ' if where else ''}{self.message}{f' Fix: {self.fix}' if self.fix else ''}"
        )


class Verdict(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    passed: bool
    issues: list[Issue] = []
    summary: str = ""

    def told(self) -> str:
        head = self.summary or ("The review found nothing wrong." if self.passed else "The review found problems.")
        return "\n".join([head, *(f"- {issue.told()}" for issue in self.issues)])


def read_verdict(text: str) -> Verdict | None:
    """What the reviewer decided; nothing if it answered in prose, which stands for itself and sends nobody back."""
    for found in objects(text):
        if "passed" not in found:
            continue
        try:
            verdict = Verdict.model_validate(found)
        except ValidationError:
            continue
        return verdict if verdict.summary else verdict.model_copy(update={"summary": words_around(text)})
    return None
