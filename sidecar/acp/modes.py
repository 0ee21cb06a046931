"""What a session may be set to: its mode, the model, and how much it thinks."""

from typing import Any, NamedTuple

Json = dict[str, Any]

DEFAULT_MODE = "edit"
AUTOMATIC = "auto"


class Mode(NamedTuple):
    id: str
    name: str
    description: str
    #: The `approvals` option of a task.
    approvals: str
    #: Whether it plans first and asks before it goes ahead.
    plan: bool = False


MODES = (
    Mode("ask", "Ask", "Read and answer; change nothing", "readonly"),
    Mode("plan", "Plan", "Read and plan; change nothing before you say to go ahead", "ask", plan=True),
    Mode("edit", "Edit", "Edit files; ask before commands that aren't harmless", "ask"),
    Mode("careful", "Careful", "Ask before edits too", "edits"),
    Mode("auto", "Auto", "Never ask; what isn't allowed is denied", "auto"),
)
EFFORTS = ("low", "medium", "high")
BY_ID = {mode.id: mode for mode in MODES}


def mode_state(current: str) -> Json:
    available = [{"id": mode.id, "name": mode.name, "description": mode.description} for mode in MODES]
    return {"currentModeId": current, "availableModes": available}


def config_options(mode: str, model: str, effort: str, models: list[str]) -> list[Json]:
    """`models` are the names that can be chosen beside the automatic choice."""
    return [
        {
            "id": "mode",
            "name": "Mode",
            "category": "mode",
            "type": "select",
            "currentValue": mode,
            "options": [{"value": each.id, "name": each.name, "description": each.description} for each in MODES],
        },
        {
            "id": "model",
            "name": "Model",
            "category": "model",
            "type": "select",
            "currentValue": model,
            "options": [
                {"value": AUTOMATIC, "name": "Automatic", "description": "The model of each role in your settings"},
                *({"value": name, "name": name} for name in models),
            ],
        },
        {
            "id": "effort",
            "name": "Effort",
            "category": "thought_level",
            "type": "select",
            "currentValue": effort,
            "options": [
                {"value": AUTOMATIC, "name": "Automatic", "description": "As in your settings"},
                *({"value": name, "name": name.capitalize()} for name in EFFORTS),
            ],
        },
    ]
