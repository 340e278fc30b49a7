"""The rules of a domain's policy, checked in a trial that has just ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import is_interrupt
from ..policy import POLICY, PolicyReport, check_policy, load_rules

if TYPE_CHECKING:
    from ..environment import Domain, Environment
    from ..models import Simulation, Task

#: The agent that only makes the reference calls.
SILENT = "gold"


def note_policy(
    simulation: Simulation,
    task: Task,
    domain: Domain,
    environment: Environment | None = None,
    agent: str | None = None,
    *,
    solo: bool | None = None,
) -> PolicyReport | None:
    """Store what the rules of the domain find in a conversation with it; whatever happens, the trial is kept.

    Args:
        simulation: The conversation, which the entry is stored with.
        task: Its task.
        domain: Its domain.
        environment: The environment that it was run on, for the texts and tools of the agent; None for the default.
        agent: The name of the agent; None for the recorded one.
        solo: Whether the agent worked alone; None for what is recorded.

    Returns:
        What was found; None if the domain has no rules, or nothing was said.
    """
    if not simulation.messages:
        return None
    agent = agent if agent is not None else (simulation.conditions or {}).get("agent")
    solo = bool((simulation.info or {}).get("solo")) if solo is None else solo
    try:
        rules = load_rules(domain.spec)
        found = check_policy(
            simulation.messages,
            task,
            domain,
            solo=solo,
            dialog=agent != SILENT,
            policy=environment.policy if environment else None,
            tools=environment.tool_infos if environment else None,
            rules=rules,
        )
    except BaseException as error:
        if is_interrupt(error):
            raise
        # Tools and records are foreign code, and the trial has its verdict.
        found = PolicyReport(problems={POLICY: f"{type(error).__name__}: {error}"})
    if found is not None:
        simulation.info = (simulation.info or {}) | {POLICY: found.as_dict()}
    return found
