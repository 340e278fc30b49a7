"""A server of environments in a thread, for tests: a domain with a tool that blocks, and clients."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import TYPE_CHECKING, Any

import httpx

from pytest_tau import load_domain
from pytest_tau.capabilities.serving.server import EnvironmentServer
from pytest_tau.capabilities.serving.settings import ServingSettings

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def serving(domain: Any = "mock", **settings: Any) -> Iterator[httpx.Client]:
    """Serve a domain on a free port; gives a client whose base is the server."""
    domain = load_domain(domain) if isinstance(domain, str) else domain
    server = EnvironmentServer(ServingSettings(domain=domain, port=0, **settings))
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        port = asyncio.run_coroutine_threadsafe(server.start(), loop).result(10)
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=20, trust_env=False) as client:
                yield client
        finally:
            asyncio.run_coroutine_threadsafe(server.stop(), loop).result(20)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def make(client: httpx.Client, task: str | None = None) -> str:
    """Make an environment, and return its path."""
    answer = client.post("/environments", json={"task": task} if task else {})
    assert answer.status_code == 201, answer.text
    return f"/environments/{answer.json()['id']}"


def detail(answer: httpx.Response, status: int) -> Any:
    """Return what a refusal says."""
    assert answer.status_code == status, answer.text
    return answer.json()["detail"]
