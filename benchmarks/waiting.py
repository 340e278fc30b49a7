"""The overhead of many conversations that wait for a model over HTTP, compared with the ideal."""

from __future__ import annotations

import asyncio
import importlib.util
import math
from typing import TYPE_CHECKING, Literal

from pytest_tau import load_domain
from pytest_tau.integrations.default_model import default_model

from .conversations import MODEL_CALLS, run_conversations
from .figures import Figure
from .measuring import in_unit, timing
from .server import model_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .figures import Options


def waiting(options: Options) -> Iterator[Figure]:
    """Measure conversations with the model server, which answers each call after a fixed time, with each client.

    The ideal is what the answers take: a conversation's calls one after the other, so many conversations at once. The
    server runs in a process of its own, which shares the machine; it is not part of the processor time of a call.
    litellm is imported before.
    """
    if not has_aiohttp():
        return
    yield from _client(options, "auto", "without litellm", 1.08, 3.0)
    if importlib.util.find_spec("litellm") is not None:
        yield from _client(options, "litellm", "litellm", None, None)


def _client(
    options: Options, client: Literal["auto", "litellm"], name: str, wall: float | None, busy: float | None
) -> Iterator[Figure]:
    number, at_once, latency = options.count(300, 6), options.count(100, 3), 0.1 if options.quick else 1.0
    chat = default_model(client, max_in_flight=at_once, timeout=60.0)
    domain = load_domain("airline", options.data)
    ideal = math.ceil(number / at_once) * MODEL_CALLS * latency
    with model_server(latency) as url:
        args = {"api_base": url, "api_key": "none"}
        asyncio.run(run_conversations(1, domain, chat, 1, args))
        runs = options.count(2, 1)
        found = [
            timing(lambda: asyncio.run(run_conversations(number, domain, chat, at_once, args))) for _ in range(runs)
        ]
    ratios = [one.wall / ideal for one in found]
    yield Figure(f"to the ideal ({ideal:g} s), {name}", "", ratios, target=wall)
    yield Figure(f"{number} conversations, {at_once} at once, {name}", "s", *in_unit(found, 1))
    milliseconds = [one.cpu / (number * MODEL_CALLS) * 1e3 for one in found]
    yield Figure(f"a model call, processor, {name}", "ms", milliseconds, target=busy)


def has_aiohttp() -> bool:
    """Return whether the model server can run."""
    return importlib.util.find_spec("aiohttp") is not None
