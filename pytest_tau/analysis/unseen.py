"""Agents that made no model call or no tool call through this package, and may make them by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..text import listed, plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..models import Notes
    from ..runs.record import TrialRecord


class UnseenAgent(NamedTuple):
    """An agent that is not built in, of which no model call was seen.

    Attributes:
        name: Its name.
        clients: The clients of models that its module imports.
    """

    name: str
    clients: tuple[str, ...]

    def __str__(self) -> str:
        return f"agent {self.name} made no model call through pytest-tau"


def unseen_agents(records: Iterable[TrialRecord]) -> list[UnseenAgent]:
    """Return the agents that are not built in and of which no model call was seen in any trial."""
    agents: dict[str, UnseenAgent] = {}
    seen: set[str] = set()
    for record in records:
        agent = record.info.foreign_agent
        if agent is not None:
            seen |= {agent.name} if agent.calls_seen else set()
            agents.setdefault(agent.name, UnseenAgent(agent.name, tuple(agent.clients)))
    return [agent for name, agent in agents.items() if name not in seen]


def silent_line(records: Sequence[TrialRecord]) -> str:
    """Return a line about agents that are not built in and made no tool call in any trial; empty if no trial failed."""
    others = {record.agent_name for record in records if record.ran and not record.info.silent_agent}
    silent = [
        record for record in records if record.outcome == "failed" and record.info.silent_agent not in {None, *others}
    ]
    failed = {notes.silent_agent or "" for notes in (record.info for record in silent) if _tells(notes)}
    if not failed:
        return ""
    line = f"no tool call was made by agent {listed(sorted(failed), 3)}"
    if not any(record.info.outside_tools for record in silent):
        return line
    return (
        f"{line}: functions that an agent calls itself are not graded; give it the tools of the trial "
        "(pytest_tau.own_loop)"
    )


def _tells(notes: Notes) -> bool:
    """Return whether a failure without a call may be the agent's: a user that does not understand is another reason."""
    by_user = notes.blame is not None and notes.blame.party == "user"
    return not by_user or bool(notes.outside_tools)


def unseen_line(agents: Sequence[UnseenAgent], ignored_by: Sequence[str] = ()) -> str:
    """Return a line about agents of which no model call was seen.

    Args:
        agents: The agents, one at least.
        ignored_by: What does not apply to the calls, such as ``not recorded`` and ``not in the costs``.
    """
    names = "; ".join(map(str, agents[:3])) + (f"; and {plural(len(agents) - 3, 'other')}" if agents[3:] else "")
    clients = [client for agent in agents for client in agent.clients]
    ignored = f": model calls of its own are {', '.join(ignored_by)}" if ignored_by else ""
    return f"{names}{ignored}{cure(clients)}"


def cure(clients: Sequence[str]) -> str:
    """Return how the calls of an agent with a client of its own come to be seen, after a semicolon; else nothing."""
    if not clients:
        return ""
    return (
        f"; give its client ({', '.join(dict.fromkeys(clients))}) the base_url of the trial (pytest_tau.own_loop), or "
        "use the fixture tau_agent_client or the parameter model; calls in a thread without the trial's context "
        "(ThreadPoolExecutor) are not seen"
    )
