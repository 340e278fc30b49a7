"""Tasks whose user calls several times: the field ``sessions`` of a task, and ``--tau-fresh-sessions``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...capability import Capability, deferred, flag, option

if TYPE_CHECKING:
    import pytest

    from ...environment import Domain
    from ...models import Task


@dataclass(frozen=True)
class SessionSettings:
    """The settings.

    Attributes:
        fresh_sessions: Whether each session has a new agent.
        session_tasks: Whether the tasks of a domain that have sessions are run instead of its others.
    """

    fresh_sessions: bool = option(
        flag,
        "verdict",
        default=False,
        help="make a new agent for each session of a task, so that it remembers only what it has stored (default: one "
        "agent object for all sessions)",
    )
    session_tasks: bool = option(
        flag,
        "selection",
        default=False,
        selects=True,
        help="run the tasks of a domain whose user calls several times, which are in sessions.json next to its other "
        "tasks, and no others",
    )


class _TaskHook:
    """The hook of ``--tau-session-tasks``. Every run has it, as tasks are read before capabilities are switched on."""

    def pytest_tau_modify_tasks(self, config: pytest.Config, domain: Domain, tasks: list[Task]) -> None:
        """Replace the tasks of a domain by those with sessions.

        Raises:
            pytest.UsageError: The domain has none.
        """
        if config.getoption("tau_session_tasks") or config.getini("tau_session_tasks"):
            from .bundled import tasks_with_sessions

            tasks[:] = tasks_with_sessions(domain)


capability = Capability(
    name="sessions",
    settings=SessionSettings,
    on=lambda _settings: True,
    trial=deferred(f"{__name__}.stages:make_stages"),
    fixtures=_TaskHook,
    components=deferred(f"{__name__}.component:components"),
    page=deferred(f"{__name__}.stages:page"),
    facts=deferred(f"{__name__}.stages:SessionFacts"),
)
