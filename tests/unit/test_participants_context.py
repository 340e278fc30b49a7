from __future__ import annotations

from typing import Any

import pytest

from pytest_tau.models import SystemMessage, ToolMessage
from pytest_tau.participants import ParticipantContext

from .tiny import agent, call, task, user


@pytest.mark.parametrize(
    ("history", "side"),
    [
        ([], "agent"),
        ([agent("Hi")], "user"),
        ([user("Hi")], "agent"),
        ([agent(call("look"))], "agent"),
        ([user(call("switch"))], "user"),
        ([agent(call("look")), ToolMessage(content="x")], "agent"),
        ([user(call("switch")), ToolMessage(content="x", requestor="user")], "user"),
        ([SystemMessage(content="x")], "agent"),
    ],
)
def test_who_starts_follows_from_the_history(history: list[Any], side: str) -> None:
    for mine in ("agent", "user"):
        context = ParticipantContext(mine, [], "", task(), history=history)  # type: ignore[arg-type]
        assert context.starts is (mine == side)
