"""Routes of agents, models and keys."""

from collections.abc import Sequence

from sidecar.api.models import KeyRoutes, ModelRoutes
from sidecar.api.system import SystemRoutes
from sidecar.api.table.route import Route
from sidecar.wire import models, system

MODELS: Sequence[Route] = (
    Route("GET /api/brain/agents", "agents", SystemRoutes.agents, "List the agents", system.AgentList),
    Route("GET /api/brain/models", "models", ModelRoutes.list, "List models and model roles", system.ModelList),
    Route(
        "GET /api/brain/models/local",
        "local_models",
        ModelRoutes.local,
        "Find model servers on this machine",
        models.LocalServerList,
        doc="Tries the usual ports of Ollama, LM Studio, llama.cpp and vLLM; takes a few seconds at most.",
    ),
    Route(
        "POST /api/brain/models/test",
        "test_model",
        ModelRoutes.test,
        "Test a model with one small request",
        models.ModelTest,
        models.ModelTestRequest,
    ),
    Route(
        "PUT /api/brain/models/use",
        "use_model",
        ModelRoutes.use,
        "Choose the model of a role, in your own configuration",
        models.UseAnswer,
        models.UseRequest,
        refusals=(409,),
        doc="Tests the model first. The next task uses it; `back` lists the commands that undo the choice.",
    ),
    Route("GET /api/brain/keys", "keys", KeyRoutes.list, "List which providers have a key", system.KeyList),
    Route(
        "PUT /api/brain/keys",
        "set_key",
        KeyRoutes.set,
        "Store or remove a provider's key",
        system.KeyList,
        system.KeyRequest,
        refusals=(404, 503),
        doc="Keys go to the system's keyring, or to a private file. The next task uses them; no route returns them.",
    ),
)
