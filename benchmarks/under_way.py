"""A process that runs many conversations at once: ``python -m benchmarks.under_way NUMBER [DATA]``."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_tau import load_domain

from .conversations import AGENT, ROUNDS, Scripted, run_conversations

if TYPE_CHECKING:
    from pytest_tau.chat import ChatRequest


async def together(number: int, data: Path | None) -> None:
    """Run conversations that all wait in the agent's last call until the last of them has come there."""
    everybody = asyncio.Event()
    waiting = 0

    async def wait(request: ChatRequest) -> None:
        nonlocal waiting
        results = sum(message["role"] == "tool" for message in request.messages)
        if request.model == AGENT and results == ROUNDS:
            waiting += 1
            if waiting == number:
                everybody.set()
            await everybody.wait()

    await run_conversations(number, load_domain("airline", data), Scripted(wait), number)


if __name__ == "__main__":
    asyncio.run(together(int(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None))
