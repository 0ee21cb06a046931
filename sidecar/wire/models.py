"""Testing models, finding local servers, and choosing a role's model."""

from typing import Annotated, Literal

from pydantic import Field

from sidecar.wire.base import Wire, optional
from sidecar.wire.system import RoleInfo
from sidecar.wire.tasks import ShortText

Role = Literal["fast", "smart", "instant"]
BaseUrl = Annotated[ShortText, Field(description="A server on this machine, such as `http://127.0.0.1:11434/v1`.")]


class ModelTestRequest(Wire):
    model: Annotated[
        ShortText, Field(min_length=1, description="`provider/name`, or a provider for its default model.")
    ]
    base_url: BaseUrl | None = optional()
    key: Annotated[
        ShortText | None, Field(description="Test this key instead of the provider's own. It is not stored.")
    ] = optional()


class ModelTest(Wire):
    """The result of one small request to a model."""

    model: str
    ok: Annotated[bool, Field(description="Whether it answered.")]
    message: Annotated[str, Field(description="The result in words, with a fix if it failed.")]
    latency_ms: Annotated[float | None, Field(description="From the request to the end of the answer.")] = optional()
    tools: Annotated[bool | None, Field(description="Whether it called the tool it was asked to call.")] = optional()
    context_window: Annotated[int | None, Field(description="In tokens, if known.")] = optional()


class LocalModelInfo(Wire):
    name: Annotated[str, Field(description="`openai/name`.")]
    context_window: Annotated[int | None, Field(description="Context size the server reports, in tokens.")] = optional()
    tools: Annotated[bool | None, Field(description="Omitted if the server doesn't say.")] = optional()


class LocalServerInfo(Wire):
    kind: Annotated[str, Field(description="Guessed from the port: Ollama, LM Studio, llama.cpp or vLLM.")]
    base_url: str
    models: list[LocalModelInfo]


class LocalServerList(Wire):
    servers: list[LocalServerInfo]


class UseRequest(Wire):
    model: Annotated[
        ShortText,
        Field(
            min_length=1,
            description="`provider/name` (several with commas), `offline`, or `auto`: the providers you have keys for.",
        ),
    ]
    role: Annotated[Role | None, Field(description="Default: every role.")] = optional()
    base_url: Annotated[
        ShortText | None,
        Field(description="A server on this machine for `openai/…`, or empty for OpenAI itself."),
    ] = None
    force: Annotated[bool, Field(description="Choose the model even if it doesn't answer.")] = False


class UseAnswer(Wire):
    changed: Annotated[bool, Field(description="Whether the choice was saved; the next task uses it.")]
    message: str
    tests: list[ModelTest]
    roles: Annotated[list[RoleInfo], Field(description="The model roles now.")]
    back: Annotated[list[str], Field(description="Commands that undo the choice.")]
