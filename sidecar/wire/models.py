"""Trying a model, finding the servers on this machine, and choosing who plays a role."""

from typing import Annotated, Literal

from pydantic import Field

from sidecar.wire.base import Wire, optional
from sidecar.wire.system import RoleInfo
from sidecar.wire.tasks import ShortText

Role = Literal["fast", "smart", "instant"]
BaseUrl = Annotated[ShortText, Field(description="A server on this machine, such as `http://127.0.0.1:11434/v1`.")]


class ModelTestRequest(Wire):
    model: Annotated[ShortText, Field(min_length=1, description="`provider/name`.")]
    base_url: BaseUrl | None = optional()


class ModelTest(Wire):
    """What came of one small request to a model."""

    model: str
    ok: Annotated[bool, Field(description="Whether it answered.")]
    message: Annotated[str, Field(description="In words; if it did not answer, what to do.")]
    latency_ms: Annotated[float | None, Field(description="From the request to the end of the answer.")] = optional()
    tools: Annotated[bool | None, Field(description="Whether it called the tool that it was told to call.")] = (
        optional()
    )
    context_window: Annotated[int | None, Field(description="In tokens, if anybody knows.")] = optional()


class LocalModelInfo(Wire):
    name: Annotated[str, Field(description="`openai/name`, as it is used.")]
    context_window: Annotated[int | None, Field(description="What the server really holds, in tokens.")] = optional()
    tools: Annotated[bool | None, Field(description="Left out if the server does not say.")] = optional()


class LocalServerInfo(Wire):
    kind: Annotated[str, Field(description="By its port: Ollama, LM Studio, llama.cpp or vLLM.")]
    base_url: str
    models: list[LocalModelInfo]


class LocalServerList(Wire):
    servers: list[LocalServerInfo]


class UseRequest(Wire):
    model: Annotated[
        ShortText,
        Field(
            min_length=1,
            description="`provider/name`, or several with commas; `offline`; `auto`: whatever there are keys for.",
        ),
    ]
    role: Annotated[Role | None, Field(description="Every role, if left out.")] = optional()
    base_url: Annotated[
        ShortText | None,
        Field(description="Where `openai/…` is served: a server on this machine, or empty for OpenAI itself."),
    ] = None
    force: Annotated[bool, Field(description="Also if the model does not answer now.")] = False


class UseAnswer(Wire):
    changed: Annotated[bool, Field(description="Whether it was written down; the next task then uses it.")]
    message: str
    tests: list[ModelTest]
    roles: Annotated[list[RoleInfo], Field(description="Who plays which role now.")]
    back: Annotated[list[str], Field(description="The commands that make it as it was.")]
