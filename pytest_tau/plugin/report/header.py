"""The lines of the header: what runs, and with which settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..context.run_state import get_context, run_state
from ..items import spec_of
from ..options import named_domains

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from ...participants import Side
    from ...runner import RunConfig
    from ..context.run_context import RunContext


_SIDES: tuple[Side, ...] = ("agent", "user")


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Show what runs: domain, data, participants and models, with the defaults of what is not given."""
    context = get_context(config)
    if context is None:
        return []
    run_state(config).header_shown = True
    return _settings_lines(config, context)


def pytest_report_collectionfinish(config: pytest.Config, items: Sequence[pytest.Item]) -> list[str]:
    """Show what runs, if only collection has found out that there are tasks; and what only the items know."""
    context = get_context(config)
    if context is None or config.get_verbosity() < 0:
        return []
    shown = [] if run_state(config).header_shown else _settings_lines(config, context)
    return shown + _user_lines(context.config, items)


def _user_lines(run: RunConfig, items: Sequence[pytest.Item]) -> list[str]:
    """Return a line if hooks and fixtures make agents, which get another user than the header has named."""
    own = {spec.config.user_spec for item in items if (spec := spec_of(item)) and spec.config.own_agent}
    others = sorted(str(user) for user in own - {run.user_spec})
    return [f"tau: agents of hooks and fixtures talk to the user {' or '.join(others)}"] if others else []


def _settings_lines(config: pytest.Config, context: RunContext) -> list[str]:
    run = context.config
    parts = [f"seed {run.seed}"]
    if named_domains(config):
        parts.insert(0, f"domain {', '.join(run.domains)}")
    parts.append(f"data {run.data_dir}" if run.data_dir else "bundled data")
    parts += [_participant(context, side) for side in _SIDES]
    parts += ["solo"] if run.simulation.solo else []
    parts += [f"policy {run.simulation.policy}"] if run.simulation.policy else []
    if context.judge is not None:
        uniform = context.judge.name in ("accept", "reject")
        parts.append(f"judge {context.judge.name}" + (" (every statement alike)" if uniform else ""))
    grading = run.simulation.evaluation.grading.name
    parts += [f"grading {grading}"] if grading != "official" else []
    lines = ["tau: " + ", ".join(parts)]
    lines += [f"tau: {line}" for line in _model_lines(run)]
    if run.agent is None and run.agent_spec == "gold":
        lines.append("tau: no agent named and no model configured: gold plays the reference actions (see --tau-agent)")
    elif run.user_spec == "gold" and run.agent_spec != "gold":
        lines.append("tau: user gold plays the reference actions whatever the agent says; --tau-user scripted listens")
    given = [_participant(context, side) for side in _SIDES if context.source(side, run).needs_reference({})]
    lines += [f"tau: given the reference actions: {', '.join(given)}"] if given else []
    replay = context.source("agent", run).replay
    if replay is not None:
        lines.append(f"tau: only tasks that {replay.path.name} has conversations of ({len(replay.task_ids)})")
    return lines


def _participant(context: RunContext, side: Side) -> str:
    name, choice = context.source(side, context.config).name, context.config.choice(side)
    return f"{side} {name} ({choice.name})" if choice else f"{side} {name}"


def _model_lines(run: RunConfig) -> list[str]:
    lines = []
    for side, prompting in run.simulation.prompting.items():
        called = run.choice(side)
        if called and prompting.name != "built in":
            lines.append(f"{side} prompt: {prompting.name}")
        if called and prompting.context_tokens:
            lines.append(f"{side} context: {prompting.context_tokens:,} tokens, older messages are left out")
        if called and prompting.text_tools:
            lines.append(f"{side} tool calls: in text")
    how = {"replay": "replayed", "missing": "recorded where there is no cassette, else replayed", "all": "recorded"}
    lines += [f"model calls: {how[run.models.tape]}"] if run.models.tape else []
    lines += [f"budget: ${run.models.budget:g}"] if run.models.budget is not None else []
    return lines
