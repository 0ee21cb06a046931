"""Test a model with one small request: does it answer, does it call a tool, how long does it take?"""

import asyncio
import time

from sidecar.models.errors import Failure
from sidecar.models.port import Model, Reply, Request, Stop, UserTurn
from sidecar.wire.models import ModelTest
from sidecar.wire.tools import ToolInfo

#: A local server may have to load the model first.
SECONDS = 60.0
_TOOL = ToolInfo(
    name="ready",
    description="Say that you are ready.",
    parameters={"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
    executor="local",
    timeout=1,
    retryable=False,
    parallel=True,
    effects="none",
)
_SYSTEM = "This is a test of the connection. Call the tool `ready` with the word `yes`. Say nothing else."


async def check_model(model: Model, seconds: float = SECONDS) -> ModelTest:
    """Send one request, without retries."""
    name, started = f"{model.provider}/{model.name}", time.monotonic()
    reply = await _send(model, seconds)
    took = time.monotonic() - started
    window = model.capabilities.context_tokens
    if reply.failure is not None and not (reply.stop is Stop.LENGTH and reply.text.strip()):
        return ModelTest(model=name, ok=False, message=f"{name}: {reply.failure.message}", context_window=window)
    calls = any(call.tool == _TOOL.name and call.problem is None for call in reply.calls)
    if not calls and not reply.text.strip():
        return ModelTest(model=name, ok=False, message=f"{name} gave an empty answer.", context_window=window)
    able = "calls tools." if calls else "did not call the requested tool; agents may not work well with it."
    message = f"{name} answered in {took:.1f} s and {able}"
    milliseconds = round(took * 1000, 1)
    return ModelTest(model=name, ok=True, message=message, latency_ms=milliseconds, tools=calls, context_window=window)


async def _send(model: Model, seconds: float) -> Reply:
    request = Request("trial", _SYSTEM, [UserTurn(text="Are you ready?")], [_TOOL])
    failure = Failure(code="stream_cut", message="The model's reply ended early.")
    text = ""
    try:
        async with asyncio.timeout(seconds):
            async for part in model.stream(request):
                if isinstance(part, Reply):
                    return part
                text += part.text
    except TimeoutError:
        if text.strip():
            # A slow small model that does not stop by itself still answers.
            return Reply(stop=Stop.END, text=text)
        message = f"The model did not answer within {seconds:g} seconds."
        failure = Failure(code="model_too_slow", message=message)
    return Reply(stop=Stop.FAILED, failure=failure)
