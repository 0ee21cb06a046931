"""New projects from templates."""

from typing import Annotated

from pydantic import Field

from sidecar.wire.base import Wire, optional
from sidecar.wire.tasks import Options, ShortText


class Template(Wire):
    name: Annotated[str, Field(description="The name for `POST /api/brain/projects`, and in a sentence.")]
    description: str
    files: Annotated[list[str], Field(description="Their paths; `{{name}}` and `{{module}}` stand for the project's.")]
    own: Annotated[bool, Field(description="From `templates/` of your configuration directory.")] = False


class TemplateList(Wire):
    templates: list[Template]


class ProjectOrder(Wire):
    """A project to create from a template; the model `offline` does it, unless `options.models` names another."""

    template: ShortText
    name: Annotated[str, Field(min_length=1, max_length=100)]
    path: Annotated[
        ShortText | None,
        Field(description="The directory that gets the project's folder; default: the sidecar's workspace."),
    ] = optional()
    description: Annotated[str | None, Field(max_length=200, description="What the project is for.")] = optional()
    options: Options = Field(default_factory=Options)
